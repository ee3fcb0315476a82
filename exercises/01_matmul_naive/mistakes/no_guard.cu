// The blocks at the edge read and write beyond the matrices.
// expect: out_of_bounds line 12
#include "warplings.cuh"
LAUNCH(16, 16, 1, 16, 16, 1);

__global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += A[row * K + k] * B[k * N + col];
    }
    C[row * N + col] = sum;
}
