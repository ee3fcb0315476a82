// 03  Ghost elements: tiles that reach over the edge.
//
// This is the tiled kernel of exercise 02. It takes for granted that M, N and K are
// multiples of TILE. If they are not, the last tiles in each direction reach beyond the
// matrices, and so do the loads and the stores.
//
// What lies outside must count as 0: a product with 0 adds nothing. These zeros are
// called ghost elements. Every thread still takes part in loading and in the barriers,
// even one whose own element of C does not exist.
//
// More: chapter 03 of the book, or `cargo run -p checker -- hint 03`.
#include "warplings.cuh"

#define TILE 32

LAUNCH(/*block*/ TILE, TILE, 1, /*work per block*/ TILE, TILE, 1);

__global__ void
matmul_any_size(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];

    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int col = blockIdx.x * TILE + tx;
    int row = blockIdx.y * TILE + ty;

    // TODO: make it right for any M, N and K: zeros from outside, and no store there.
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        tile_a[ty][tx] = A[row * K + k0 + tx];
        tile_b[ty][tx] = B[(k0 + ty) * N + col];
        __syncthreads();

        for (int k = 0; k < TILE; ++k) {
            sum += tile_a[ty][k] * tile_b[k][tx];
        }
        __syncthreads();
    }
    C[row * N + col] = sum;
}
