// 02  Tiled matrix multiplication: read less often what was read already.
//
// This is the kernel of exercise 01. Each thread reads a row of A and a column of B: 8
// bytes from memory for one multiplication and one addition, 0.25 operations per byte.
// Yet all threads of a row need the same row of A, and all threads of a column the same
// column of B.
//
// So let a block share: in phases, it copies one TILE x TILE piece of A and one of B
// into shared memory, each thread one element of each, and all of its threads work from
// there. Then the next two tiles, along A's row and down B's column. One thread uses
// what others have loaded, and all reuse the same space in the next phase: both need a
// barrier.
//
// Here M, N and K are multiples of 64, so every tile is full. Any shape of tile will
// do; 64 x 64 threads will not.
//
// More: chapter 02 of the book, or `cargo run -p checker -- hint 02`.
#include "warplings.cuh"

#define TILE 32

LAUNCH(/*block*/ TILE, TILE, 1, /*work per block*/ TILE, TILE, 1);

__global__ void
matmul_tiled(const float* A, const float* B, float* C, int M, int N, int K)
{
    int col = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;

    // TODO: go through K in phases of TILE, with a tile of A and a tile of B in shared
    // memory.
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += A[row * K + k] * B[k * N + col];
    }
    C[row * N + col] = sum;
}
