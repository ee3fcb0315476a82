// Takes the nearest element inside instead of 0: nothing is out of bounds, but the last element counts several times.
// expect: wrong_values
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
        tile_a[ty][tx] = A[min(row, M - 1) * K + min(k0 + tx, K - 1)];
        tile_b[ty][tx] = B[min(k0 + ty, K - 1) * N + min(col, N - 1)];
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += tile_a[ty][k] * tile_b[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
