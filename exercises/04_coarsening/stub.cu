// 04  Coarsening: more than one element of C per thread.
//
// This is the kernel of exercise 03. It no longer waits for global memory; it waits for
// shared memory: two loads for every multiply-add, each used once. The fastest memory
// of all are registers, and a local variable lives in one. To use what is in a register
// twice, a thread must make more than one element of C.
//
// Let a thread make BATCH x BATCH elements. For each k it loads BATCH values of A's
// column and BATCH of B's row into registers and adds their outer product, BATCH x
// BATCH products, to its sums: 2 BATCH loads for BATCH^2 multiply-adds.
//
// A block then makes (BATCH * TILE) x (BATCH * TILE) elements with TILE x TILE threads:
// say so in LAUNCH, make the tiles as large, and let each thread load several elements
// of them. Begin with any BATCH from 2 on. On a GPU, where time decides, it takes 8,
// with at most 128 registers per thread. For the arrays to live in registers, all loops
// over them must have constant bounds.
//
// More: chapter 04 of the book, or `cargo run -p checker -- hint 04`.
#include "warplings.cuh"

#define TILE 16

LAUNCH(/*block*/ TILE, TILE, 1, /*work per block*/ TILE, TILE, 1);

__global__ void
matmul_coarse(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];

    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int col = blockIdx.x * TILE + tx;
    int row = blockIdx.y * TILE + ty;

    // TODO: BATCH x BATCH sums per thread, in registers.
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        tile_a[ty][tx] = (row < M && k0 + tx < K) ? A[row * K + k0 + tx] : 0.0f;
        tile_b[ty][tx] = (k0 + ty < K && col < N) ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();

        for (int k = 0; k < TILE; ++k) {
            sum += tile_a[ty][k] * tile_b[k][tx];
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
