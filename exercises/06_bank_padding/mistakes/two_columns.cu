// Two columns of padding: 34 % 32 = 2, so every other bank is met twice.
// expect: too_slow bank_conflicts
// on a gpu: passed: two turns instead of one take less time than global memory does
#include "warplings.cuh"
#define TILE 32
LAUNCH(TILE, 8, 1, TILE, TILE, 1);

__global__ void transpose(const float* in, float* out, int rows, int cols)
{
    __shared__ float tile[TILE][TILE + 2];
    int x = threadIdx.x, y = threadIdx.y;
    int col = blockIdx.x * TILE + x;
    int row = blockIdx.y * TILE + y;
    for (int i = 0; i < TILE; i += 8) {
        if (row + i < rows && col < cols) tile[y + i][x] = in[(row + i) * cols + col];
    }
    __syncthreads();
    int out_col = blockIdx.y * TILE + x;
    int out_row = blockIdx.x * TILE + y;
    for (int i = 0; i < TILE; i += 8) {
        if (out_row + i < cols && out_col < rows) out[(out_row + i) * rows + out_col] = tile[x][y + i];
    }
}
