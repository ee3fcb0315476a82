// A thread per row: no divergence, no shared memory, and 32 lanes in 32 different rows.
// expect: too_slow load_sectors
#include "warplings.cuh"
LAUNCH(256, 1, 1, 256, 1, 1);

__global__ void row_sums(const float* x, float* sums, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int i = 0; i < cols; ++i) sum += x[(size_t)row * cols + i];
    sums[row] = sum;
}
