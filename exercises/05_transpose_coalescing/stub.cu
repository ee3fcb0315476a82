// 05  Transpose: out[col][row] = in[row][col]. `in` is rows x cols, `out` is
// cols x rows, both row-major.
//
// This kernel is right, and slow: a warp reads 32 neighbours of a row, but writes them
// down a column. Memory moves in sectors of 32 bytes, so each of its 4-byte stores
// costs a whole sector.
//
// The way out: a block first collects a 32 x 32 tile in shared memory, reading rows of
// `in`, and then writes rows of `out`. The turn from rows to columns happens inside the
// tile, on the chip. A thread will then write another element than the one it has read,
// so the block has to wait in between.
//
// More: chapter 05 of the book, or `cargo run -p checker -- hint 05`.
#include "warplings.cuh"

#define TILE 32
#define BLOCK_ROWS 8

// 32 x 8 threads take care of 32 x 32 elements of `in`, four each. x counts columns of
// `in`, y its rows.
LAUNCH(/*block*/ TILE, BLOCK_ROWS, 1, /*work per block*/ TILE, TILE, 1);

__global__ void transpose(const float* in, float* out, int rows, int cols)
{
    // TODO: go through a tile in shared memory, so that neighbouring threads store
    // neighbouring elements.
    int col = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += BLOCK_ROWS) {
        if (row + i < rows && col < cols) {
            out[col * rows + row + i] = in[(row + i) * cols + col];
        }
    }
}
