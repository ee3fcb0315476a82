// float4 in the tiles and registers only: memory is still asked for one float at a time.
// expect: too_slow bytes_per_request
#include "warplings.cuh"
#define TILE 32
LAUNCH(TILE / 4, TILE, 1, TILE, TILE, 1);

__device__ float at(const float* matrix, int row, int col, int rows, int cols)
{
    return (row < rows && col < cols) ? matrix[row * cols + col] : 0.0f;
}

__global__ void matmul_vectorized(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tile_a[TILE][TILE];
    __shared__ float4 tile_b[TILE][TILE / 4];
    int x = threadIdx.x, y = threadIdx.y;
    int col = blockIdx.x * TILE + 4 * x, row = blockIdx.y * TILE + y;
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int k0 = 0; k0 < K; k0 += TILE) {
        for (int i = 0; i < 4; ++i) tile_a[y][x + 8 * i] = at(A, row, k0 + x + 8 * i, M, K);
        tile_b[y][x] = make_float4(at(B, k0 + y, col, K, N), at(B, k0 + y, col + 1, K, N),
                                   at(B, k0 + y, col + 2, K, N), at(B, k0 + y, col + 3, K, N));
        __syncthreads();
        for (int k = 0; k < TILE; ++k) {
            float a = tile_a[y][k];
            float4 b = tile_b[k][x];
            sum.x += a * b.x;
            sum.y += a * b.y;
            sum.z += a * b.z;
            sum.w += a * b.w;
        }
        __syncthreads();
    }
    const float out[4] = {sum.x, sum.y, sum.z, sum.w};
    for (int i = 0; i < 4; ++i) {
        if (row < M && col + i < N) C[row * N + col + i] = out[i];
    }
}
