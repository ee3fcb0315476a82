// Skips the loads outside, but writes no zeros: the tiles keep what was there before, or nothing.
// expect: uninitialized_read
#include "warplings.cuh"
#define TILE 16
LAUNCH(TILE, TILE, 1, TILE, TILE, 1);

__global__ void matmul_any_size(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int col = blockIdx.x * TILE + tx;
    int row = blockIdx.y * TILE + ty;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        if (row < M && k0 + tx < K) tile_a[ty][tx] = A[row * K + k0 + tx];
        if (k0 + ty < K && col < N) tile_b[ty][tx] = B[(k0 + ty) * N + col];
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += tile_a[ty][k] * tile_b[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
