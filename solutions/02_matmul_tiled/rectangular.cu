// 02, another way: tiles that are not square, in dynamic shared memory, and two elements of C per thread.
#include "warplings.cuh"

#define ROWS 8    // rows of C per block
#define COLS 64   // columns of C per block
#define DEPTH 16  // columns of A and rows of B per phase
#define THREADS_X 32

LAUNCH(/*block*/ THREADS_X, ROWS, 1, /*work per block*/ COLS, ROWS, 1);
SHARED((ROWS * DEPTH + DEPTH * COLS) * sizeof(float));

__global__ void matmul_tiled(const float* A, const float* B, float* C, int M, int N, int K)
{
    // There is one dynamic array per kernel; the second tile is a part of it.
    extern __shared__ float tile_a[];
    float* tile_b = tile_a + ROWS * DEPTH;

    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int thread = ty * THREADS_X + tx;
    int row0 = blockIdx.y * ROWS;
    int col0 = blockIdx.x * COLS;

    float left = 0.0f, right = 0.0f;
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        for (int i = thread; i < ROWS * DEPTH; i += THREADS_X * ROWS) {
            tile_a[i] = A[(row0 + i / DEPTH) * K + k0 + i % DEPTH];
        }
        for (int i = thread; i < DEPTH * COLS; i += THREADS_X * ROWS) {
            tile_b[i] = B[(k0 + i / COLS) * N + col0 + i % COLS];
        }
        __syncthreads();
        for (int k = 0; k < DEPTH; ++k) {
            left += tile_a[ty * DEPTH + k] * tile_b[k * COLS + tx];
            right += tile_a[ty * DEPTH + k] * tile_b[k * COLS + tx + THREADS_X];
        }
        __syncthreads();
    }
    C[(row0 + ty) * N + col0 + tx] = left;
    C[(row0 + ty) * N + col0 + tx + THREADS_X] = right;
}
