// Baseline of 08: four neighbouring elements per thread, moved one float at a time.
#include "warplings.cuh"

#define TILE 32
#define WIDTH 4

LAUNCH(/*block*/ TILE / WIDTH, TILE, 1, /*work per block*/ TILE, TILE, 1);

__device__ void load4(float* to, const float* matrix, int row, int col, int rows, int cols)
{
    for (int i = 0; i < WIDTH; ++i) {
        to[i] = (row < rows && col + i < cols) ? matrix[row * cols + col + i] : 0.0f;
    }
}

__global__ void matmul_scalar(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];

    int x = threadIdx.x * WIDTH;
    int y = threadIdx.y;
    int col = blockIdx.x * TILE + x;
    int row = blockIdx.y * TILE + y;

    float sum[WIDTH] = {};
    for (int k0 = 0; k0 < K; k0 += TILE) {
        load4(&tile_a[y][x], A, row, k0 + x, M, K);
        load4(&tile_b[y][x], B, k0 + y, col, K, N);
        __syncthreads();

        for (int k = 0; k < TILE; ++k) {
            for (int i = 0; i < WIDTH; ++i) sum[i] += tile_a[y][k] * tile_b[k][x + i];
        }
        __syncthreads();
    }
    for (int i = 0; i < WIDTH; ++i) {
        if (row < M && col + i < N) C[row * N + col + i] = sum[i];
    }
}
