// No shared memory, no bank conflicts, and stores down the columns.
// expect: too_slow store_sectors
#include "warplings.cuh"
LAUNCH(32, 8, 1, 32, 8, 1);

__global__ void transpose(const float* in, float* out, int rows, int cols)
{
    int col = blockIdx.x * 32 + threadIdx.x;
    int row = blockIdx.y * 8 + threadIdx.y;
    if (row < rows && col < cols) out[col * rows + row] = in[row * cols + col];
}
