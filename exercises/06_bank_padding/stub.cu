// 06  Bank conflicts: why a column of the tile costs 32 times a row.
//
// This is the kernel of exercise 05. Both of its sides are coalesced, but the shared
// memory in between is slow: it has 32 banks, and word w lies in bank w % 32. Each bank
// serves one word at a time. A warp that reads a row of the tile meets 32 banks; one
// that reads a column of a tile of 32 columns meets the same bank 32 times, and waits
// for 32 turns.
//
// Change where the tile's elements lie, so that a row and a column both meet 32
// different banks. There is more than one way, and each changes a line or two. Work out
// the bank of element (y, x) first, as it is now and as you would have it.
//
// More: chapter 06 of the book, or `cargo run -p checker -- hint 06`.
#include "warplings.cuh"

#define TILE 32
#define BLOCK_ROWS 8

LAUNCH(/*block*/ TILE, BLOCK_ROWS, 1, /*work per block*/ TILE, TILE, 1);

__global__ void transpose(const float* in, float* out, int rows, int cols)
{
    // TODO: lay the tile out so that neither rows nor columns meet in one bank.
    __shared__ float tile[TILE][TILE];

    int col = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += BLOCK_ROWS) {
        if (row + i < rows && col < cols) {
            tile[threadIdx.y + i][threadIdx.x] = in[(row + i) * cols + col];
        }
    }
    __syncthreads();

    int out_col = blockIdx.y * TILE + threadIdx.x;
    int out_row = blockIdx.x * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += BLOCK_ROWS) {
        if (out_row + i < cols && out_col < rows) {
            out[(out_row + i) * rows + out_col] = tile[threadIdx.x][threadIdx.y + i];
        }
    }
}
