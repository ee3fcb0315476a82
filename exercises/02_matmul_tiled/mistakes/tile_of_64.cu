// One thread per element of a 64 x 64 tile is 4,096 threads.
// expect: compile_error line 5
#include "warplings.cuh"
#define TILE 64
LAUNCH(TILE, TILE, 1, TILE, TILE, 1);

__global__ void matmul_tiled(const float* A, const float* B, float* C, int M, int N, int K)
{
    int col = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
