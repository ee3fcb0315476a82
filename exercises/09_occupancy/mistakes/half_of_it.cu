// Halves the stretch: more blocks fit, but not enough.
// 8.0: 9 blocks, 18 of 64 warps, 28.125 %
// 9.0: 13 blocks, 26 of 64 warps, 40.625 %
// expect: too_slow occupancy
#include "warplings.cuh"
#define THREADS 64
#define STRETCH 4096
LAUNCH(THREADS, 1, 1, 1, 1, 1);

__global__ void row_sums(const float* x, float* sums, int rows, int cols)
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
