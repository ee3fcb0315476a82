// Moves the problem to the other side: stores are whole rows now, loads go down a column.
// expect: too_slow load_sectors
// on a gpu: passed: the caches of an H200 keep what the strided loads fetch until it is asked for
#include "warplings.cuh"
#define TILE 32
LAUNCH_YX(TILE, 8, 1, TILE, TILE, 1);

__global__ void transpose(const float* in, float* out, int rows, int cols)
{
    int row = blockIdx.x * TILE + threadIdx.x;
    int col = blockIdx.y * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += 8) {
        if (row < rows && col + i < cols) out[(col + i) * rows + row] = in[row * cols + col + i];
    }
}
