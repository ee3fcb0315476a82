// Baseline of 10: weights and inputs from global memory.
#include "warplings.cuh"

#define RADIUS 2
#define WIDTH (2 * RADIUS + 1)
#define TILE 32
#define BLOCK_ROWS 8

__device__ float FILTER[WIDTH][WIDTH] = {
    { 3 / 64.0f,  -8 / 64.0f,  14 / 64.0f, -11 / 64.0f,  5 / 64.0f},
    {-7 / 64.0f,  19 / 64.0f, -27 / 64.0f,  22 / 64.0f, -4 / 64.0f},
    {13 / 64.0f, -25 / 64.0f,  31 / 64.0f, -29 / 64.0f, 16 / 64.0f},
    {-6 / 64.0f,  21 / 64.0f, -24 / 64.0f,  18 / 64.0f, -9 / 64.0f},
    { 2 / 64.0f, -10 / 64.0f,  12 / 64.0f, -15 / 64.0f,  1 / 64.0f},
};

LAUNCH(/*block*/ TILE, BLOCK_ROWS, 1, /*work per block*/ TILE, TILE, 1);

__global__ void convolve_naive(const float* in, float* out, int rows, int cols)
{
    int col = blockIdx.x * TILE + threadIdx.x;
    for (int i = threadIdx.y; i < TILE; i += BLOCK_ROWS) {
        int row = blockIdx.y * TILE + i;
        if (row >= rows || col >= cols) continue;

        float sum = 0.0f;
        for (int dy = 0; dy < WIDTH; ++dy) {
            for (int dx = 0; dx < WIDTH; ++dx) {
                int y = row + dy - RADIUS;
                int x = col + dx - RADIUS;
                if (y >= 0 && y < rows && x >= 0 && x < cols) {
                    sum += FILTER[dy][dx] * in[y * cols + x];
                }
            }
        }
        out[row * cols + col] = sum;
    }
}
