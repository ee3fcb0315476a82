// 08  Vector loads and stores: four floats at a time.
//
// In this tiled kernel a thread makes four neighbouring elements of a row of C. All it
// loads and stores comes in fours as well, but one float at a time: four instructions,
// four addresses, four requests to the memory system where one would do.
//
// A float4 is four floats that are moved by one instruction. Read one with
//     float4 v = *reinterpret_cast<const float4*>(&B[k * N + col]);
// and use v.x, v.y, v.z, v.w. Its address must be a multiple of 16 bytes: cudaMalloc's
// are, and so is every fourth float from there on. But a row starts at row * N, so
// unless N is a multiple of 4, most rows start in between: those matrices need the old
// way.
//
// More: chapter 08 of the book, or `cargo run -p checker -- hint 08`.
#include "warplings.cuh"

#define TILE 32
#define WIDTH 4 // neighbouring elements per thread

// 8 x 32 threads make 32 x 32 elements.
LAUNCH(/*block*/ TILE / WIDTH, TILE, 1, /*work per block*/ TILE, TILE, 1);

// Copies element (row, col) and the three to its right from a matrix to `to`, with
// zeros from outside. TODO: with one float4 where the four exist and are aligned.
__device__ void
load4(float* to, const float* matrix, int row, int col, int rows, int cols)
{
    for (int i = 0; i < WIDTH; ++i) {
        to[i] = (row < rows && col + i < cols) ? matrix[row * cols + col + i] : 0.0f;
    }
}

// The other way: stores four neighbours, those that exist.
// TODO: with one float4 where the four exist and are aligned.
__device__ void
store4(const float* from, float* matrix, int row, int col, int rows, int cols)
{
    for (int i = 0; i < WIDTH; ++i) {
        if (row < rows && col + i < cols) matrix[row * cols + col + i] = from[i];
    }
}

__global__ void
matmul_vectorized(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ __align__(16) float tile_a[TILE][TILE];
    __shared__ __align__(16) float tile_b[TILE][TILE];

    int x = threadIdx.x * WIDTH; // this thread's first column in the tiles
    int y = threadIdx.y;
    int col = blockIdx.x * TILE + x;
    int row = blockIdx.y * TILE + y;

    float sum[WIDTH] = {};
    for (int k0 = 0; k0 < K; k0 += TILE) {
        load4(&tile_a[y][x], A, row, k0 + x, M, K);
        load4(&tile_b[y][x], B, k0 + y, col, K, N);
        __syncthreads();

        for (int k = 0; k < TILE; ++k) {
            for (int i = 0; i < WIDTH; ++i) {
                sum[i] += tile_a[y][k] * tile_b[k][x + i];
            }
        }
        __syncthreads();
    }
    store4(sum, C, row, col, M, N);
}
