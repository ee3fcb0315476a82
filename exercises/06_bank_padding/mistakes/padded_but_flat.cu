// Pads the tile, then forgets the padding in the index of the write.
// expect: uninitialized_read line 20
#include "warplings.cuh"
#define TILE 32
LAUNCH(TILE, 8, 1, TILE, TILE, 1);

__global__ void transpose(const float* in, float* out, int rows, int cols)
{
    __shared__ float tile[TILE * (TILE + 1)];
    int x = threadIdx.x, y = threadIdx.y;
    int col = blockIdx.x * TILE + x;
    int row = blockIdx.y * TILE + y;
    for (int i = 0; i < TILE; i += 8) {
        if (row + i < rows && col < cols) tile[(y + i) * TILE + x] = in[(row + i) * cols + col];
    }
    __syncthreads();
    int out_col = blockIdx.y * TILE + x;
    int out_row = blockIdx.x * TILE + y;
    for (int i = 0; i < TILE; i += 8) {
        if (out_row + i < cols && out_col < rows) out[(out_row + i) * rows + out_col] = tile[x * (TILE + 1) + y + i];
    }
}
