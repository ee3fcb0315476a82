// Fills the tiles with x as the row: the reuse is there, but each load opens a sector per lane.
// expect: too_slow load_sectors
#include "warplings.cuh"
#define TILE 16
LAUNCH(TILE, TILE, 1, TILE, TILE, 1);

__global__ void matmul_tiled(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int col0 = blockIdx.x * TILE;
    int row0 = blockIdx.y * TILE;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        tile_a[tx][ty] = A[(row0 + tx) * K + k0 + ty];
        tile_b[tx][ty] = B[(k0 + tx) * N + col0 + ty];
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += tile_a[ty][k] * tile_b[k][tx];
        __syncthreads();
    }
    C[(row0 + ty) * N + col0 + tx] = sum;
}
