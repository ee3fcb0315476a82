// A smaller stretch, but no loop over stretches any more: the rest of the row is left out.
// expect: wrong_values
#include "warplings.cuh"
#define THREADS 256
#define STRETCH 1024
LAUNCH(THREADS, 1, 1, 1, 1, 1);

__global__ void row_sums(const float* x, float* sums, int rows, int cols)
{
    __shared__ float stretch[STRETCH];
    __shared__ float partial[THREADS];
    int t = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * cols;
    for (int i = t; i < STRETCH; i += THREADS) stretch[i] = (i < cols) ? row[i] : 0.0f;
    __syncthreads();
    float sum = 0.0f;
    for (int i = t; i < STRETCH; i += THREADS) sum += stretch[i];
    partial[t] = sum;
    __syncthreads();
    for (int distance = THREADS / 2; distance > 0; distance /= 2) {
        if (t < distance) partial[t] += partial[t + distance];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = partial[0];
}
