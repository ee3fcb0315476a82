// One element per thread: columns from 256 on are left out.
// expect: wrong_values
#include "warplings.cuh"
#define THREADS 256
LAUNCH(THREADS, 1, 1, 1, 1, 1);

__global__ void row_sums(const float* x, float* sums, int rows, int cols)
{
    __shared__ float partial[THREADS];
    int t = threadIdx.x;
    partial[t] = (t < cols) ? x[(size_t)blockIdx.x * cols + t] : 0.0f;
    __syncthreads();
    for (int distance = THREADS / 2; distance > 0; distance /= 2) {
        if (t < distance) partial[t] += partial[t + distance];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = partial[0];
}
