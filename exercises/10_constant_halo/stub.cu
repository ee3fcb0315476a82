// 10  Convolution: constant memory and halo cells.
//
// out[row][col] = sum over the 5 x 5 neighbours of in[row][col], each times its weight;
// outside of the image is 0. (The filter is not turned round: strictly, this is a
// correlation.)
//
// For 50 operations, a thread reads 25 weights and 25 elements from global memory: 0.25
// operations per byte, as naive as in exercise 01. Both halves can be had for less.
//
// - The weights are the same for all threads at the same time. That is what constant
//   memory is for: 64 KB with a cache that serves a whole warp at once, as long as all
//   its threads read the same address.
// - Neighbouring outputs share most of their inputs. A tile in shared memory lets a
//   block read each of them once. But the outputs at the tile's edge need inputs from
//   beyond it: a halo, two cells wide on each side. A block that makes 32 x 32 outputs
//   loads 36 x 36 inputs.
//
// More: chapter 10 of the book, or `cargo run -p checker -- hint 10`.
#include "warplings.cuh"

#define RADIUS 2
#define WIDTH (2 * RADIUS + 1)
#define TILE 32
#define BLOCK_ROWS 8

// TODO: move the weights to constant memory.
__device__ float FILTER[WIDTH][WIDTH] = {
    { 3 / 64.0f,  -8 / 64.0f,  14 / 64.0f, -11 / 64.0f,  5 / 64.0f},
    {-7 / 64.0f,  19 / 64.0f, -27 / 64.0f,  22 / 64.0f, -4 / 64.0f},
    {13 / 64.0f, -25 / 64.0f,  31 / 64.0f, -29 / 64.0f, 16 / 64.0f},
    {-6 / 64.0f,  21 / 64.0f, -24 / 64.0f,  18 / 64.0f, -9 / 64.0f},
    { 2 / 64.0f, -10 / 64.0f,  12 / 64.0f, -15 / 64.0f,  1 / 64.0f},
};

// 32 x 8 threads make 32 x 32 outputs, four each.
LAUNCH(/*block*/ TILE, BLOCK_ROWS, 1, /*work per block*/ TILE, TILE, 1);

__global__ void convolve(const float* in, float* out, int rows, int cols)
{
    // TODO: load a tile with its halo into shared memory first, zeros from outside, and
    // read from there.
    int col = blockIdx.x * TILE + threadIdx.x;
    for (int i = threadIdx.y; i < TILE; i += BLOCK_ROWS) {
        int row = blockIdx.y * TILE + i;
        if (row >= rows || col >= cols) continue;

        float sum = 0.0f;
        for (int dy = 0; dy < WIDTH; ++dy) {
            for (int dx = 0; dx < WIDTH; ++dx) {
                int y = row + dy - RADIUS;
                int x = col + dx - RADIUS;
                if (y >= 0 && y < rows && x >= 0 && x < cols) {
                    sum += FILTER[dy][dx] * in[y * cols + x];
                }
            }
        }
        out[row * cols + col] = sum;
    }
}
