// Shared memory is no longer the limit; now 128 values that each thread keeps in registers are.
// 8.0: 1 block, 8 of 64 warps, 12.5 %
// expect: too_slow occupancy
#include "warplings.cuh"
#define THREADS 256
#define KEPT 128
LAUNCH(THREADS, 1, 1, 1, 1, 1);

__global__ void row_sums(const float* x, float* sums, int rows, int cols)
{
    __shared__ float partial[THREADS];
    int t = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * cols;
    float kept[KEPT];
    #pragma unroll
    for (int i = 0; i < KEPT; ++i) kept[i] = 0.0f;
    for (int start = 0; start < cols; start += THREADS * KEPT) {
        #pragma unroll
        for (int i = 0; i < KEPT; ++i) {
            int col = start + i * THREADS + t;
            if (col < cols) kept[i] += row[col];
        }
    }
    float sum = 0.0f;
    #pragma unroll
    for (int i = 0; i < KEPT; ++i) sum += kept[i];
    partial[t] = sum;
    __syncthreads();
    for (int distance = THREADS / 2; distance > 0; distance /= 2) {
        if (t < distance) partial[t] += partial[t + distance];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = partial[0];
}
