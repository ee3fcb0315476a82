// Guards the flat index of the store: a column beyond N is then the next row's first one, and two threads store there.
// The loads go beyond the end of B as well.
// expect: out_of_bounds line 13
#include "warplings.cuh"
LAUNCH(16, 16, 1, 16, 16, 1);

__global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int k = 0; k < K && row < M; ++k) {
        sum += A[row * K + k] * B[k * N + col];
    }
    if (row * N + col < M * N) C[row * N + col] = sum;
}
