// Baseline of 05: rows in, columns out, without a tile.
#include "warplings.cuh"

#define TILE 32
#define BLOCK_ROWS 8

LAUNCH(/*block*/ TILE, BLOCK_ROWS, 1, /*work per block*/ TILE, TILE, 1);

__global__ void transpose_naive(const float* in, float* out, int rows, int cols)
{
    int col = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += BLOCK_ROWS) {
        if (row + i < rows && col < cols) {
            out[col * rows + row + i] = in[(row + i) * cols + col];
        }
    }
}
