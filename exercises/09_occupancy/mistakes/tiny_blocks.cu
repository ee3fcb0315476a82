// No shared memory at all, but blocks of 8 threads: an SM holds 32 blocks at most, and 8 threads still take a warp each,
// of which 24 lanes are never there.
// expect: too_slow active_lanes
#include "warplings.cuh"
LAUNCH(8, 1, 1, 1, 1, 1);

__global__ void row_sums(const float* x, float* sums, int rows, int cols)
{
    int t = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * cols;
    float sum = 0.0f;
    for (int i = t; i < cols; i += 8) sum += row[i];
    for (int distance = 4; distance > 0; distance /= 2) sum += __shfl_down_sync(0xff, sum, distance);
    if (t == 0) sums[blockIdx.x] = sum;
}
