// 06, another way: no padding; each row of the tile is permuted by an XOR with its number.
#include "warplings.cuh"

#define TILE 32
#define BLOCK_ROWS 8

LAUNCH(/*block*/ TILE, BLOCK_ROWS, 1, /*work per block*/ TILE, TILE, 1);

__global__ void transpose(const float* in, float* out, int rows, int cols)
{
    __shared__ float tile[TILE][TILE];

    int x = threadIdx.x;
    int col = blockIdx.x * TILE + x;
    int out_col = blockIdx.y * TILE + x;
    for (int y = threadIdx.y; y < TILE; y += BLOCK_ROWS) {
        int row = blockIdx.y * TILE + y;
        if (row < rows && col < cols) tile[y][x ^ y] = in[row * cols + col];
    }
    __syncthreads();
    for (int y = threadIdx.y; y < TILE; y += BLOCK_ROWS) {
        int out_row = blockIdx.x * TILE + y;
        // Column y of row x lies at y ^ x: 32 different banks for the 32 values of x.
        if (out_row < cols && out_col < rows) out[out_row * rows + out_col] = tile[x][y ^ x];
    }
}
