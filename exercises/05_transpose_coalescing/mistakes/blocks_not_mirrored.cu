// Turns each tile, but leaves it where it was.
// expect: wrong_values
#include "warplings.cuh"
#define TILE 32
LAUNCH(TILE, 8, 1, TILE, TILE, 1);

__global__ void transpose(const float* in, float* out, int rows, int cols)
{
    __shared__ float tile[TILE][TILE];
    int col = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += 8) {
        tile[threadIdx.y + i][threadIdx.x] = 0.0f;
        if (row + i < rows && col < cols) {
            tile[threadIdx.y + i][threadIdx.x] = in[(row + i) * cols + col];
        }
    }
    __syncthreads();
    for (int i = 0; i < TILE; i += 8) {
        if (row + i < cols && col < rows) {
            out[(row + i) * rows + col] = tile[threadIdx.x][threadIdx.y + i];
        }
    }
}
