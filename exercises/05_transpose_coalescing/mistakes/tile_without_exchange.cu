// The thread that reads an element also writes it: the tile changes nothing.
// expect: too_slow store_sectors
#include "warplings.cuh"
#define TILE 32
LAUNCH(TILE, TILE, 1, TILE, TILE, 1);

__global__ void transpose(const float* in, float* out, int rows, int cols)
{
    __shared__ float tile[TILE][TILE + 1];
    int col = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    if (row < rows && col < cols) tile[threadIdx.y][threadIdx.x] = in[row * cols + col];
    __syncthreads();
    if (row < rows && col < cols) out[col * rows + row] = tile[threadIdx.y][threadIdx.x];
}
