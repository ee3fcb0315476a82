// Treats the number of columns as if it were rounded down to a multiple of 4: the last ones are left out.
// expect: wrong_values
#include "warplings.cuh"
#define TILE 32
LAUNCH(TILE / 4, TILE, 1, TILE, TILE, 1);

__device__ float4 load4(const float* matrix, int row, int col, int rows, int cols)
{
    if (row >= rows || col + 3 >= cols) return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    const float* p = &matrix[row * cols + col];
    if (cols % 4 == 0) return *reinterpret_cast<const float4*>(p);
    return make_float4(p[0], p[1], p[2], p[3]);
}

__global__ void matmul_vectorized(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float4 tile_a[TILE][TILE / 4], tile_b[TILE][TILE / 4];
    int x = threadIdx.x, y = threadIdx.y;
    int col = blockIdx.x * TILE + 4 * x, row = blockIdx.y * TILE + y;
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int k0 = 0; k0 < K; k0 += TILE) {
        tile_a[y][x] = load4(A, row, k0 + 4 * x, M, K);
        tile_b[y][x] = load4(B, k0 + y, col, K, N);
        __syncthreads();
        for (int k = 0; k < TILE; ++k) {
            float a = reinterpret_cast<const float*>(tile_a[y])[k];
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
