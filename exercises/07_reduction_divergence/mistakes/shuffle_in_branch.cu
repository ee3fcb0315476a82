// Names all 32 lanes in the mask, but only half of them get there.
// expect: barrier_divergence line 14
#include "warplings.cuh"
LAUNCH(32, 1, 1, 1, 1, 1);

__global__ void row_sums(const float* x, float* sums, int rows, int cols)
{
    int lane = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * cols;
    float sum = 0.0f;
    for (int i = lane; i < cols; i += 32) sum += row[i];
    for (int distance = 16; distance > 0; distance /= 2) {
        if (lane < distance) {
            sum += __shfl_down_sync(0xffffffff, sum, distance);
        }
    }
    if (lane == 0) sums[blockIdx.x] = sum;
}
