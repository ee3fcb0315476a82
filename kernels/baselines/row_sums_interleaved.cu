// Baseline of 07: a tree with interleaved addressing, in which every warp diverges at every step.
#include "warplings.cuh"

#define THREADS 256

LAUNCH(/*block*/ THREADS, 1, 1, /*work per block*/ 1, 1, 1);

__global__ void row_sums_interleaved(const float* x, float* sums, int rows, int cols)
{
    __shared__ float partial[THREADS];

    int t = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * cols;
    float sum = 0.0f;
    for (int i = t; i < cols; i += THREADS) sum += row[i];
    partial[t] = sum;
    __syncthreads();

    for (int distance = 1; distance < THREADS; distance *= 2) {
        if (t % (2 * distance) == 0) {
            partial[t] += partial[t + distance];
        }
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = partial[0];
}
