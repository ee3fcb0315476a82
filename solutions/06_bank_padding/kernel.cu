// 06  Transpose without bank conflicts: one column of padding.
#include "warplings.cuh"

#define TILE 32
#define BLOCK_ROWS 8

LAUNCH(/*block*/ TILE, BLOCK_ROWS, 1, /*work per block*/ TILE, TILE, 1);

__global__ void transpose(const float* in, float* out, int rows, int cols)
{
    // Rows are 33 words apart. A row still meets 32 consecutive banks; going down a column, the bank moves on by 33 % 32 = 1
    // per step, so that a column meets 32 different banks as well. The 33rd column is never used: 128 bytes well spent.
    // (Without the extra space: tile[y][x ^ y], a swizzle. XOR with y only permutes the columns of row y.)
    __shared__ float tile[TILE][TILE + 1];

    int col = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    #pragma unroll
    for (int i = 0; i < TILE; i += BLOCK_ROWS) {
        if (row + i < rows && col < cols) {
            tile[threadIdx.y + i][threadIdx.x] = in[(row + i) * cols + col];
        }
    }
    __syncthreads();

    int out_col = blockIdx.y * TILE + threadIdx.x;
    int out_row = blockIdx.x * TILE + threadIdx.y;
    #pragma unroll
    for (int i = 0; i < TILE; i += BLOCK_ROWS) {
        if (out_row + i < cols && out_col < rows) {
            out[(out_row + i) * rows + out_col] = tile[threadIdx.x][threadIdx.y + i];
        }
    }
}
