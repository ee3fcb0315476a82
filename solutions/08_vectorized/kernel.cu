// 08  Tiled matrix multiplication with float4 on every way: from memory, from the tile, and back.
#include "warplings.cuh"

#define TILE 32
#define WIDTH 4 // neighbouring elements per thread: the floats of a float4

LAUNCH(/*block*/ TILE / WIDTH, TILE, 1, /*work per block*/ TILE, TILE, 1);

// Four neighbours of a row, with zeros from outside.
__device__ float4 load4(const float* matrix, int row, int col, int rows, int cols)
{
    // `matrix` is aligned to 16 bytes and col is a multiple of 4, so the address is aligned if the row's start is. The
    // test is the same for all threads, so it costs no divergence. If cols is a multiple of 4, the four lie inside the
    // row if the first does.
    if (cols % 4 == 0) {
        if (row < rows && col < cols) return *reinterpret_cast<const float4*>(&matrix[row * cols + col]);
        return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
    // Rows that start in between: the old way. A float4 from an unaligned address is an error, not merely slow.
    float v[WIDTH];
    for (int i = 0; i < WIDTH; ++i) {
        v[i] = (row < rows && col + i < cols) ? matrix[row * cols + col + i] : 0.0f;
    }
    return make_float4(v[0], v[1], v[2], v[3]);
}

__device__ void store4(float4 v, float* matrix, int row, int col, int rows, int cols)
{
    if (cols % 4 == 0) {
        if (row < rows && col < cols) *reinterpret_cast<float4*>(&matrix[row * cols + col]) = v;
        return;
    }
    const float from[WIDTH] = {v.x, v.y, v.z, v.w};
    for (int i = 0; i < WIDTH; ++i) {
        if (row < rows && col + i < cols) matrix[row * cols + col + i] = from[i];
    }
}

__global__ void matmul_vectorized(const float* A, const float* B, float* C, int M, int N, int K)
{
    // Arrays of float4 are aligned to 16 bytes by their type. Column x of the tile is word x % 4 of element x / 4.
    __shared__ float tile_a[TILE][TILE];
    __shared__ float4 tile_b[TILE][TILE / WIDTH];

    int x = threadIdx.x;
    int y = threadIdx.y;
    int col = blockIdx.x * TILE + x * WIDTH;
    int row = blockIdx.y * TILE + y;

    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int k0 = 0; k0 < K; k0 += TILE) {
        // A quarter of the requests for the same bytes.
        *reinterpret_cast<float4*>(&tile_a[y][x * WIDTH]) = load4(A, row, k0 + x * WIDTH, M, K);
        tile_b[y][x] = load4(B, k0 + y, col, K, N);
        __syncthreads();

        #pragma unroll
        for (int k = 0; k < TILE; ++k) {
            // One value of A and one float4 of B make four multiply-adds: this is what speeds the kernel up most.
            float a = tile_a[y][k];
            float4 b = tile_b[k][x];
            sum.x += a * b.x;
            sum.y += a * b.y;
            sum.z += a * b.z;
            sum.w += a * b.w;
        }
        __syncthreads();
    }
    store4(sum, C, row, col, M, N);
}
