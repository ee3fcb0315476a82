// Drops the last 13 bits of every input, as half precision would.
// expect: wrong_values
#include "warplings.cuh"
LAUNCH(16, 16, 1, 16, 16, 1);

__device__ float coarse(float x) { return __int_as_float(__float_as_int(x) & ~0x1fff); }

__global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += coarse(A[row * K + k]) * coarse(B[k * N + col]);
    }
    C[row * N + col] = sum;
}
