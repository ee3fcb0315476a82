// 03  Tiled matrix multiplication for any M, N and K: ghost elements are 0.
#include "warplings.cuh"

#define TILE 32

LAUNCH(/*block*/ TILE, TILE, 1, /*work per block*/ TILE, TILE, 1);

__global__ void matmul_any_size(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];

    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int col = blockIdx.x * TILE + tx;
    int row = blockIdx.y * TILE + ty;

    float sum = 0.0f;
    // The last phase may be partial: the loop runs ceil(K / TILE) times.
    for (int k0 = 0; k0 < K; k0 += TILE) {
        int a_col = k0 + tx;
        int b_row = k0 + ty;

        // Each load has its own guard, for it has its own row and column: A ends at M and K, B at K and N. Outside, the
        // tile gets a 0, which must really be written: shared memory still holds the last phase's numbers.
        tile_a[ty][tx] = (row < M && a_col < K) ? A[row * K + a_col] : 0.0f;
        tile_b[ty][tx] = (b_row < K && col < N) ? B[b_row * N + col] : 0.0f;

        // No thread has left: one without an element of C may hold an element of a tile that others need, and a barrier
        // waits for all threads of the block.
        __syncthreads();

        for (int k = 0; k < TILE; ++k) {
            sum += tile_a[ty][k] * tile_b[k][tx];
        }
        __syncthreads();
    }

    // Row and column separately. Checking row * N + col < M * N would let a column beyond N write into the next row.
    if (row < M && col < N) C[row * N + col] = sum;
}
