// K / TILE rounds down: the last, partial phase is missing.
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
    for (int phase = 0; phase < K / TILE; ++phase) {
        int k0 = phase * TILE;
        tile_a[ty][tx] = (row < M) ? A[row * K + k0 + tx] : 0.0f;
        tile_b[ty][tx] = (col < N) ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += tile_a[ty][k] * tile_b[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
