// A tile without a halo: neighbours in other tiles count as 0.
// expect: wrong_values
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
    __shared__ float tile[TILE][TILE];
    int col = blockIdx.x * TILE + threadIdx.x;
    for (int i = threadIdx.y; i < TILE; i += ROWS) {
        int row = blockIdx.y * TILE + i;
        tile[i][threadIdx.x] = (row < rows && col < cols) ? in[row * cols + col] : 0.0f;
    }
    __syncthreads();
    for (int i = threadIdx.y; i < TILE; i += ROWS) {
        int row = blockIdx.y * TILE + i;
        float sum = 0.0f;
        for (int dy = 0; dy < 5; ++dy) {
            for (int dx = 0; dx < 5; ++dx) {
                int y = i + dy - 2, x = (int)threadIdx.x + dx - 2;
                if (y >= 0 && y < TILE && x >= 0 && x < TILE) sum += FILTER[dy][dx] * tile[y][x];
            }
        }
        if (row < rows && col < cols) out[row * cols + col] = sum;
    }
}
