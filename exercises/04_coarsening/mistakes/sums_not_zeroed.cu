// Adds to sums that nobody has set to 0.
// expect: uninitialized_read
#include "warplings.cuh"
#define TILE 16
#define BATCH 4
LAUNCH(TILE, TILE, 1, TILE, TILE * BATCH, 1);

__global__ void matmul_coarse(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tile_a[TILE * BATCH][TILE], tile_b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int col = blockIdx.x * TILE + tx;
    int row0 = blockIdx.y * TILE * BATCH + ty;
    float sum[BATCH];
    for (int k0 = 0; k0 < K; k0 += TILE) {
        for (int i = 0; i < BATCH; ++i) {
            int row = row0 + i * TILE;
            tile_a[ty + i * TILE][tx] = (row < M && k0 + tx < K) ? A[row * K + k0 + tx] : 0.0f;
        }
        tile_b[ty][tx] = (k0 + ty < K && col < N) ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) {
            for (int i = 0; i < BATCH; ++i) sum[i] += tile_a[ty + i * TILE][k] * tile_b[k][tx];
        }
        __syncthreads();
    }
    for (int i = 0; i < BATCH; ++i) {
        int row = row0 + i * TILE;
        if (row < M && col < N) C[row * N + col] = sum[i];
    }
}
