// A fast warp loads the next tiles while a slow one still reads the old ones.
// expect: race line 16
#include "warplings.cuh"
#define TILE 16
LAUNCH(TILE, TILE, 1, TILE, TILE, 1);

__global__ void matmul_tiled(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int col = blockIdx.x * TILE + tx;
    int row = blockIdx.y * TILE + ty;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        tile_a[ty][tx] = A[row * K + k0 + tx];
        tile_b[ty][tx] = B[(k0 + ty) * N + col];
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += tile_a[ty][k] * tile_b[k][tx];
    }
    C[row * N + col] = sum;
}
