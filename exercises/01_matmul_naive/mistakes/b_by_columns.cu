// Reads B as if it were stored column by column.
// expect: wrong_values
#include "warplings.cuh"
LAUNCH(16, 16, 1, 16, 16, 1);

__global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += A[row * K + k] * B[col * K + k];
    }
    C[row * N + col] = sum;
}
