// Stops one step before the end.
// expect: wrong_values
#include "warplings.cuh"
#define THREADS 256
LAUNCH(THREADS, 1, 1, 1, 1, 1);

__global__ void row_sums(const float* x, float* sums, int rows, int cols)
{
    __shared__ float partial[THREADS];
    int t = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * cols;
    float sum = 0.0f;
    for (int i = t; i < cols; i += THREADS) sum += row[i];
    partial[t] = sum;
    __syncthreads();
    for (int distance = THREADS / 2; distance > 1; distance /= 2) {
        if (t < distance) partial[t] += partial[t + distance];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = partial[0];
}
