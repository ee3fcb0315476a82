// Takes the row from x: right, but the lanes of a warp are a whole row apart.
// expect: too_slow store_sectors
#include "warplings.cuh"
LAUNCH_YX(16, 16, 1, 16, 16, 1);

__global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += A[row * K + k] * B[k * N + col];
    }
    C[row * N + col] = sum;
}
