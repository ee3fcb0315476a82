// Adds up in C itself, which nobody has set to 0.
// expect: uninitialized_read
#include "warplings.cuh"
LAUNCH(16, 16, 1, 16, 16, 1);

__global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || col >= N) return;
    for (int k = 0; k < K; ++k) {
        C[row * N + col] += A[row * K + k] * B[k * N + col];
    }
}
