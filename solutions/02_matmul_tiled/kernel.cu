// 02  Tiled matrix multiplication: a block loads each element of its tiles once and uses it TILE times.
#include "warplings.cuh"

// Per phase a block loads 2 x TILE x TILE floats and does 2 x TILE^3 operations: TILE / 4 operations per byte, 8 for 32.
// One thread per element of C, so that TILE x TILE is the block: 32 x 32 = 1,024 threads is the most there can be.
#define TILE 32

LAUNCH(/*block*/ TILE, TILE, 1, /*work per block*/ TILE, TILE, 1);

__global__ void matmul_tiled(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];

    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int col = blockIdx.x * TILE + tx;
    int row = blockIdx.y * TILE + ty;

    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        // One element of each tile per thread. tx is the column in both, so that both loads are coalesced.
        tile_a[ty][tx] = A[row * K + k0 + tx];
        tile_b[ty][tx] = B[(k0 + ty) * N + col];

        // Nobody may read the tiles before everybody has written: each thread is about to use what 62 others loaded.
        __syncthreads();

        for (int k = 0; k < TILE; ++k) {
            sum += tile_a[ty][k] * tile_b[k][tx];
        }

        // Nobody may overwrite the tiles before everybody has read: warps do not run in step.
        __syncthreads();
    }
    C[row * N + col] = sum;
}
