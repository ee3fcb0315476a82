// Baseline of 09: 32 KB of shared memory for 64 threads leave room for few warps on an SM.
#include "warplings.cuh"

#define THREADS 64
#define STRETCH 8192

LAUNCH(/*block*/ THREADS, 1, 1, /*work per block*/ 1, 1, 1);

__global__ void row_sums_starved(const float* x, float* sums, int rows, int cols)
{
    __shared__ float stretch[STRETCH];
    __shared__ float partial[THREADS];

    int t = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * cols;
    float sum = 0.0f;
    for (int start = 0; start < cols; start += STRETCH) {
        int end = min(start + STRETCH, cols);
        for (int i = start + t; i < end; i += THREADS) stretch[i - start] = row[i];
        __syncthreads();
        for (int i = start + t; i < end; i += THREADS) sum += stretch[i - start];
        __syncthreads();
    }
    partial[t] = sum;
    __syncthreads();
    for (int distance = THREADS / 2; distance > 0; distance /= 2) {
        if (t < distance) partial[t] += partial[t + distance];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = partial[0];
}
