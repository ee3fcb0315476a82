// 04, another way: four elements of one row per thread.
// on a gpu: too_slow: it reads 1.25 elements of shared memory for each product, the reference 0.25
#include "warplings.cuh"

#define TILE 16
#define ROWS 1 // elements of C per thread, downwards
#define COLS 4 // and to the right

LAUNCH(/*block*/ TILE, TILE, 1, /*work per block*/ TILE * COLS, TILE * ROWS, 1);

__global__ void matmul_coarse(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tile_a[TILE * ROWS][TILE];
    __shared__ float tile_b[TILE][TILE * COLS];

    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row0 = blockIdx.y * TILE * ROWS;
    int col0 = blockIdx.x * TILE * COLS;
    float sum[ROWS][COLS] = {};

    for (int k0 = 0; k0 < K; k0 += TILE) {
        for (int i = 0; i < ROWS; ++i) {
            int row = ty + i * TILE;
            tile_a[row][tx] = (row0 + row < M && k0 + tx < K) ? A[(row0 + row) * K + k0 + tx] : 0.0f;
        }
        for (int j = 0; j < COLS; ++j) {
            int col = tx + j * TILE;
            tile_b[ty][col] = (k0 + ty < K && col0 + col < N) ? B[(k0 + ty) * N + col0 + col] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < TILE; ++k) {
            float a[ROWS], b[COLS];
            for (int i = 0; i < ROWS; ++i) a[i] = tile_a[ty + i * TILE][k];
            for (int j = 0; j < COLS; ++j) b[j] = tile_b[k][tx + j * TILE];
            for (int i = 0; i < ROWS; ++i) {
                for (int j = 0; j < COLS; ++j) sum[i][j] += a[i] * b[j];
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < ROWS; ++i) {
        for (int j = 0; j < COLS; ++j) {
            int row = row0 + ty + i * TILE;
            int col = col0 + tx + j * TILE;
            if (row < M && col < N) C[row * N + col] = sum[i][j];
        }
    }
}
