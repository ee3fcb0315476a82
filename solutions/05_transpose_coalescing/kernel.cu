// 05  Transpose through a tile in shared memory: whole rows in, whole rows out.
#include "warplings.cuh"

#define TILE 32
#define BLOCK_ROWS 8

LAUNCH(/*block*/ TILE, BLOCK_ROWS, 1, /*work per block*/ TILE, TILE, 1);

__global__ void transpose(const float* in, float* out, int rows, int cols)
{
    __shared__ float tile[TILE][TILE];

    // In: the 32 threads of a warp read 32 neighbours of one row, that is, four whole sectors.
    int col = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += BLOCK_ROWS) {
        if (row + i < rows && col < cols) {
            tile[threadIdx.y + i][threadIdx.x] = in[(row + i) * cols + col];
        }
    }

    // From here on threads read what others have written. Outside of every condition: all threads must arrive.
    __syncthreads();

    // Out: the tile's place is mirrored, so blockIdx.x and .y change roles. threadIdx.x does not: it still runs along a
    // row, now one of `out`, so that the stores are four whole sectors too.
    int out_col = blockIdx.y * TILE + threadIdx.x;
    int out_row = blockIdx.x * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += BLOCK_ROWS) {
        if (out_row + i < cols && out_col < rows) {
            // The turn: what was written row by row is read column by column. All 32 words of a column lie in the same
            // bank of shared memory, so this read takes 32 turns; exercise 06 repairs that.
            out[(out_row + i) * rows + out_col] = tile[threadIdx.x][threadIdx.y + i];
        }
    }
}
