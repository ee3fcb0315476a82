// Trusts the last 32 threads to run in step: nothing orders one step's reads after the last one's writes.
// expect: race line 22
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
    for (int distance = THREADS / 2; distance > 32; distance /= 2) {
        if (t < distance) partial[t] += partial[t + distance];
        __syncthreads();
    }
    if (t < 32) {
        for (int distance = 32; distance > 0; distance /= 2) {
            partial[t] += partial[t + distance];
        }
    }
    if (t == 0) sums[blockIdx.x] = partial[0];
}
