// Weights in constant memory, but every input is still read 25 times.
// expect: too_slow reuse
#include "warplings.cuh"
#define TILE 32
#define ROWS 8
LAUNCH(TILE, ROWS, 1, TILE, TILE, 1);
__constant__ float FILTER[5][5] = {
    { 3 / 64.0f,  -8 / 64.0f,  14 / 64.0f, -11 / 64.0f,  5 / 64.0f},
    {-7 / 64.0f,  19 / 64.0f, -27 / 64.0f,  22 / 64.0f, -4 / 64.0f},
    {13 / 64.0f, -25 / 64.0f,  31 / 64.0f, -29 / 64.0f, 16 / 64.0f},
    {-6 / 64.0f,  21 / 64.0f, -24 / 64.0f,  18 / 64.0f, -9 / 64.0f},
    { 2 / 64.0f, -10 / 64.0f,  12 / 64.0f, -15 / 64.0f,  1 / 64.0f},
};

__global__ void convolve(const float* in, float* out, int rows, int cols)
{
    int col = blockIdx.x * TILE + threadIdx.x;
    for (int i = threadIdx.y; i < TILE; i += ROWS) {
        int row = blockIdx.y * TILE + i;
        if (row >= rows || col >= cols) continue;
        float sum = 0.0f;
        for (int dy = 0; dy < 5; ++dy) {
            for (int dx = 0; dx < 5; ++dx) {
                int y = row + dy - 2, x = col + dx - 2;
                if (y >= 0 && y < rows && x >= 0 && x < cols) sum += FILTER[dy][dx] * in[y * cols + x];
            }
        }
        out[row * cols + col] = sum;
    }
}
