// 07, another way: a tree in shared memory in which the first threads do the additions.
// on a gpu: too_slow: on an H200 the barriers of a tree cost more than its divergence did
#include "warplings.cuh"

#define THREADS 256

LAUNCH(/*block*/ THREADS, 1, 1, /*work per block*/ 1, 1, 1);

__global__ void row_sums(const float* x, float* sums, int rows, int cols)
{
    __shared__ float partial[THREADS];

    int t = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * cols;
    float sum = 0.0f;
    for (int i = t; i < cols; i += THREADS) sum += row[i];
    partial[t] = sum;
    __syncthreads();

    // Down to a distance of 32, whole warps are at work or done. The last five steps concern one warp only.
    for (int distance = THREADS / 2; distance > 0; distance /= 2) {
        if (t < distance) partial[t] += partial[t + distance];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = partial[0];
}
