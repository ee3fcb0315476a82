// 06  Transpose without bank conflicts: one column of padding.
#include "warplings.cuh"

// Twice the side that the exercise starts with: 8 elements per thread keep more loads in flight at once, which makes the
// last tenth of the speed. The padding works for any number of columns that is a multiple of 32.
#define TILE 64
#define WARP 32
#define BLOCK_ROWS 16

// Consecutive blocks (those with consecutive blockIdx.x) go down the rows of `in`, and so along the rows of `out`: blocks that
// run at the same time then store side by side, which memory likes better than stores that are far apart.
LAUNCH_YX(/*block*/ WARP, BLOCK_ROWS, 1, /*work per block*/ TILE, TILE, 1);

// `guarded` is known when compiling: a tile that lies inside entirely, as most do, goes without the comparisons.
template <bool guarded>
__device__ void transpose_tile(float (*tile)[TILE + 1], const float* in, float* out, int rows, int cols)
{
    int x = threadIdx.x;
    int y = threadIdx.y;
    int col0 = blockIdx.y * TILE;
    int row0 = blockIdx.x * TILE;

    #pragma unroll
    for (int i = 0; i < TILE; i += BLOCK_ROWS) {
        #pragma unroll
        for (int j = 0; j < TILE; j += WARP) {
            int row = row0 + y + i, col = col0 + x + j;
            if (!guarded || (row < rows && col < cols)) tile[y + i][x + j] = in[row * cols + col];
        }
    }
    __syncthreads();

    #pragma unroll
    for (int i = 0; i < TILE; i += BLOCK_ROWS) {
        #pragma unroll
        for (int j = 0; j < TILE; j += WARP) {
            int row = col0 + y + i, col = row0 + x + j; // of `out`
            if (!guarded || (row < cols && col < rows)) out[row * rows + col] = tile[x + j][y + i];
        }
    }
}

__global__ void transpose(const float* in, float* out, int rows, int cols)
{
    // Rows are 65 words apart. A row still meets 32 consecutive banks; going down a column, the bank moves on by 65 % 32 = 1
    // per step, so that a column meets 32 different banks as well. The last column is never used: 256 bytes well spent.
    // (Without the extra space: tile[y][x ^ (y % 32)], a swizzle. XOR with a number below 32 only permutes the columns
    // within each group of 32.)
    __shared__ float tile[TILE][TILE + 1];

    bool inside = (blockIdx.y + 1) * TILE <= cols && (blockIdx.x + 1) * TILE <= rows;
    if (inside) transpose_tile<false>(tile, in, out, rows, cols);
    else transpose_tile<true>(tile, in, out, rows, cols);
}
