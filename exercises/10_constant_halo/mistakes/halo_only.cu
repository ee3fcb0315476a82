// Inputs in a tile, but every thread reads 25 weights from global memory for every output.
// expect: too_slow reuse
#include "warplings.cuh"
#define TILE 32
#define ROWS 8
LAUNCH(TILE, ROWS, 1, TILE, TILE, 1);
__device__ float FILTER[5][5] = {
    { 3 / 64.0f,  -8 / 64.0f,  14 / 64.0f, -11 / 64.0f,  5 / 64.0f},
    {-7 / 64.0f,  19 / 64.0f, -27 / 64.0f,  22 / 64.0f, -4 / 64.0f},
    {13 / 64.0f, -25 / 64.0f,  31 / 64.0f, -29 / 64.0f, 16 / 64.0f},
    {-6 / 64.0f,  21 / 64.0f, -24 / 64.0f,  18 / 64.0f, -9 / 64.0f},
    { 2 / 64.0f, -10 / 64.0f,  12 / 64.0f, -15 / 64.0f,  1 / 64.0f},
};

__global__ void convolve(const float* in, float* out, int rows, int cols)
{
    __shared__ float tile[TILE + 4][TILE + 4];
    int row0 = blockIdx.y * TILE - 2, col0 = blockIdx.x * TILE - 2;
    for (int y = threadIdx.y; y < TILE + 4; y += ROWS) {
        for (int x = threadIdx.x; x < TILE + 4; x += TILE) {
            int row = row0 + y, col = col0 + x;
            bool inside = row >= 0 && row < rows && col >= 0 && col < cols;
            tile[y][x] = inside ? in[row * cols + col] : 0.0f;
        }
    }
    __syncthreads();
    int col = blockIdx.x * TILE + threadIdx.x;
    for (int i = threadIdx.y; i < TILE; i += ROWS) {
        int row = blockIdx.y * TILE + i;
        float sum = 0.0f;
        for (int dy = 0; dy < 5; ++dy)
            for (int dx = 0; dx < 5; ++dx) sum += FILTER[dy][dx] * tile[i + dy][threadIdx.x + dx];
        if (row < rows && col < cols) out[row * cols + col] = sum;
    }
}
