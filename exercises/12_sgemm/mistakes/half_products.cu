// Rounds the factors to half precision, which tensor cores would do: fast, and not what was asked for.
// expect: wrong_values
#include "warplings.cuh"
#define TILE 32
LAUNCH(TILE, TILE, 1, TILE, TILE, 1);

__device__ float coarse(float x) { return __int_as_float(__float_as_int(x) & ~0x1fff); }

__global__ void sgemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    int col = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += coarse(A[row * K + k]) * coarse(B[k * N + col]);
    C[row * N + col] = sum;
}
