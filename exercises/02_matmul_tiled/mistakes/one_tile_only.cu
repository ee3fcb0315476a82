// Shares B and still reads A from memory for every product: half of the traffic stays.
// expect: too_slow reuse
#include "warplings.cuh"
#define TILE 32
LAUNCH(TILE, TILE, 1, TILE, TILE, 1);

__global__ void matmul_tiled(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tile_b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int col = blockIdx.x * TILE + tx;
    int row = blockIdx.y * TILE + ty;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        tile_b[ty][tx] = B[(k0 + ty) * N + col];
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += A[row * K + k0 + k] * tile_b[k][tx];
        __syncthreads();
    }
    C[row * N + col] = sum;
}
