// 09  Row sums with a full SM: 256 threads, 1 KB of shared memory, at most 32 registers per thread.
// 8.0: 8 blocks, 64 of 64 warps, 100 %
#include "warplings.cuh"

#define THREADS 256

LAUNCH(/*block*/ THREADS, 1, 1, /*work per block*/ 1, 1, 1);

// 64 warps per SM are 8 blocks of 8 warps. 8 blocks of 256 threads leave 65,536 / 2,048 = 32 registers for a thread:
// __launch_bounds__ makes the compiler keep to that, or spill. It would stay below here without being told; a kernel at
// 33 registers would lose a quarter of its warps for one register. (A thread gets registers in units of 8.)
__global__ void __launch_bounds__(THREADS, 8) row_sums(const float* x, float* sums, int rows, int cols)
{
    // The stretch is gone. An element that is used once gains nothing from a detour through shared memory, and its 32 KB
    // kept other blocks out. (Where a stretch is needed: 256 threads share one as well as 64 do, and 4 blocks of them
    // are 32 warps.)
    __shared__ float partial[THREADS];

    int t = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * cols;

    float sum = 0.0f;
    #pragma unroll 8
    for (int i = t; i < cols; i += THREADS) sum += row[i];

    partial[t] = sum;
    __syncthreads();
    for (int distance = THREADS / 2; distance > 0; distance /= 2) {
        if (t < distance) partial[t] += partial[t + distance];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = partial[0];
}
