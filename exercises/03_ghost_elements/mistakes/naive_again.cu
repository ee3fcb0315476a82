// Avoids the problem by giving up the tiles.
// expect: too_slow reuse
#include "warplings.cuh"
LAUNCH(32, 32, 1, 32, 32, 1);

__global__ void matmul_any_size(const float* A, const float* B, float* C, int M, int N, int K)
{
    int col = blockIdx.x * 32 + threadIdx.x;
    int row = blockIdx.y * 32 + threadIdx.y;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
