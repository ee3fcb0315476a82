// 10  Convolution with its weights in constant memory and its inputs in a tile with a halo.
#include "warplings.cuh"

#define RADIUS 2
#define WIDTH (2 * RADIUS + 1)
#define TILE 32
#define BLOCK_ROWS 8
#define SIDE (TILE + 2 * RADIUS) // 36: the tile with its halo
#define THREADS (TILE * BLOCK_ROWS)
#define ROUNDS ((SIDE * SIDE + THREADS - 1) / THREADS) // 6

// All threads of a warp read the same weight at the same time: constant memory serves that in one go. On compute capability
// 8.0 the multiply-add takes the weight straight from there; on 9.0 it may pass through a register first.
__constant__ float FILTER[WIDTH][WIDTH] = {
    { 3 / 64.0f,  -8 / 64.0f,  14 / 64.0f, -11 / 64.0f,  5 / 64.0f},
    {-7 / 64.0f,  19 / 64.0f, -27 / 64.0f,  22 / 64.0f, -4 / 64.0f},
    {13 / 64.0f, -25 / 64.0f,  31 / 64.0f, -29 / 64.0f, 16 / 64.0f},
    {-6 / 64.0f,  21 / 64.0f, -24 / 64.0f,  18 / 64.0f, -9 / 64.0f},
    { 2 / 64.0f, -10 / 64.0f,  12 / 64.0f, -15 / 64.0f,  1 / 64.0f},
};

LAUNCH(/*block*/ TILE, BLOCK_ROWS, 1, /*work per block*/ TILE, TILE, 1);

__global__ void convolve(const float* in, float* out, int rows, int cols)
{
    __shared__ float tile[SIDE][SIDE];

    // The tile begins two rows above and two columns left of the block's outputs.
    int row0 = blockIdx.y * TILE - RADIUS;
    int col0 = blockIdx.x * TILE - RADIUS;

    // 36 x 36 inputs for 256 threads. Numbered from 0 to 1,295, they take six rounds, all but the last one full. (Row by
    // row, 36 columns for 32 threads would take two rounds per row, with 4 threads at work in the second.) The halo
    // costs 36 * 36 / (32 * 32) = 1.27 loads per output instead of 25.
    #pragma unroll
    for (int round = 0; round < ROUNDS; ++round) {
        int element = round * THREADS + threadIdx.y * TILE + threadIdx.x;
        if (element < SIDE * SIDE) {
            int y = element / SIDE, x = element % SIDE;
            int row = row0 + y;
            int col = col0 + x;
            bool inside = row >= 0 && row < rows && col >= 0 && col < cols;
            tile[y][x] = inside ? in[row * cols + col] : 0.0f; // ghost elements, as in exercise 03
        }
    }
    __syncthreads();

    // Zeros around the image are in the tile already, so the loops have no conditions and unroll entirely.
    int col = blockIdx.x * TILE + threadIdx.x;
    #pragma unroll
    for (int i0 = 0; i0 < TILE; i0 += BLOCK_ROWS) {
        int i = threadIdx.y + i0;
        int row = blockIdx.y * TILE + i;
        float sum = 0.0f;
        #pragma unroll
        for (int dy = 0; dy < WIDTH; ++dy) {
            #pragma unroll
            for (int dx = 0; dx < WIDTH; ++dx) {
                sum += FILTER[dy][dx] * tile[i + dy][threadIdx.x + dx];
            }
        }
        if (row < rows && col < cols) out[row * cols + col] = sum;
    }
}
