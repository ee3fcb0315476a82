// 07, another way: a block per row; shuffles within its warps, then among the warps' sums.
// on a gpu: too_slow: a row of 512 elements is too little work for a block with barriers
#include "warplings.cuh"

#define THREADS 256
#define WARPS (THREADS / 32)

LAUNCH(/*block*/ THREADS, 1, 1, /*work per block*/ 1, 1, 1);

__device__ float warp_sum(float sum)
{
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffff, sum, distance);
    return sum;
}

__global__ void row_sums(const float* x, float* sums, int rows, int cols)
{
    __shared__ float partial[WARPS];

    int t = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * cols;
    float sum = 0.0f;
    for (int i = t; i < cols; i += THREADS) sum += row[i];

    sum = warp_sum(sum);
    if (t % 32 == 0) partial[t / 32] = sum;
    __syncthreads();
    if (t / 32 == 0) {
        sum = warp_sum(t < WARPS ? partial[t] : 0.0f);
        if (t == 0) sums[blockIdx.x] = sum;
    }
}
