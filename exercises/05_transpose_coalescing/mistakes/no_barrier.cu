// Reads the tile before the other warps have filled it.
// expect: race line 21
#include "warplings.cuh"
#define TILE 32
LAUNCH(TILE, 8, 1, TILE, TILE, 1);

__global__ void transpose(const float* in, float* out, int rows, int cols)
{
    __shared__ float tile[TILE][TILE];
    int col = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += 8) {
        if (row + i < rows && col < cols) {
            tile[threadIdx.y + i][threadIdx.x] = in[(row + i) * cols + col];
        }
    }
    int out_col = blockIdx.y * TILE + threadIdx.x;
    int out_row = blockIdx.x * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += 8) {
        if (out_row + i < cols && out_col < rows) {
            out[(out_row + i) * rows + out_col] = tile[threadIdx.x][threadIdx.y + i];
        }
    }
}
