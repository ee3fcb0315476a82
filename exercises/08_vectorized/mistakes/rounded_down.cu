// Rounds the address down to a multiple of 16 bytes: other elements, and the last float4 reaches beyond the end.
// expect: out_of_bounds line 16
#include "warplings.cuh"
#define TILE 32
LAUNCH(TILE / 4, TILE, 1, TILE, TILE, 1);

__global__ void matmul_vectorized(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float4 tile_a[TILE][TILE / 4], tile_b[TILE][TILE / 4];
    int x = threadIdx.x, y = threadIdx.y;
    int col = blockIdx.x * TILE + 4 * x, row = blockIdx.y * TILE + y;
    const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float4 sum = zero;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        int a_col = k0 + 4 * x, b_row = k0 + y;
        tile_a[y][x] = (row < M && a_col < K ? *reinterpret_cast<const float4*>(&A[(row * K + a_col) / 4 * 4]) : zero);
        tile_b[y][x] = (b_row < K && col < N ? *reinterpret_cast<const float4*>(&B[(b_row * N + col) / 4 * 4]) : zero);
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
    for (int i = 0; i < 4; ++i) if (row < M && col + i < N) C[row * N + col + i] = out[i];
}
