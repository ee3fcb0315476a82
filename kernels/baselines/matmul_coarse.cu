// Baseline of 11 and 12: coarsened, 8 x 8 elements per thread. Every phase waits for its tiles, and loads them one
// element after the other.
#include "warplings.cuh"

#define TILE 16
#define BATCH 8
#define SIDE (TILE * BATCH)

LAUNCH(/*block*/ TILE, TILE, 1, /*work per block*/ SIDE, SIDE, 1);

__global__ void matmul_coarse(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tile_a[SIDE][TILE];
    __shared__ float tile_b[TILE][SIDE];

    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int col0 = blockIdx.x * SIDE;
    int row0 = blockIdx.y * SIDE;
    int thread = ty * TILE + tx;
    float sum[BATCH][BATCH] = {};

    for (int k0 = 0; k0 < K; k0 += TILE) {
        for (int i = thread; i < SIDE * TILE; i += TILE * TILE) {
            int row = i / TILE, k = i % TILE;
            tile_a[row][k] = (row0 + row < M && k0 + k < K) ? A[(row0 + row) * K + k0 + k] : 0.0f;
        }
        for (int i = thread; i < TILE * SIDE; i += TILE * TILE) {
            int k = i / SIDE, col = i % SIDE;
            tile_b[k][col] = (k0 + k < K && col0 + col < N) ? B[(k0 + k) * N + col0 + col] : 0.0f;
        }
        __syncthreads();

        #pragma unroll
        for (int k = 0; k < TILE; ++k) {
            float a[BATCH], b[BATCH];
            #pragma unroll
            for (int i = 0; i < BATCH; ++i) {
                a[i] = tile_a[ty + i * TILE][k];
                b[i] = tile_b[k][tx + i * TILE];
            }
            #pragma unroll
            for (int i = 0; i < BATCH; ++i) {
                #pragma unroll
                for (int j = 0; j < BATCH; ++j) sum[i][j] += a[i] * b[j];
            }
        }
        __syncthreads();
    }

    #pragma unroll
    for (int i = 0; i < BATCH; ++i) {
        #pragma unroll
        for (int j = 0; j < BATCH; ++j) {
            int row = row0 + ty + i * TILE;
            int col = col0 + tx + j * TILE;
            if (row < M && col < N) C[row * N + col] = sum[i][j];
        }
    }
}
