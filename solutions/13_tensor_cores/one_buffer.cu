// 13  Tensor cores in the stub's frame: small tiles, loaded by ordinary stores, in one buffer. All of it is right, and every counter
// is as it should be; but the warps wait for memory most of the time.
// on a gpu: too_slow: nothing is in flight while the block multiplies
#include "warplings.cuh"

#define BLOCK_M 64
#define BLOCK_N 64
#define BLOCK_K 16
#define WARP 32
#define THREADS (32 * (BLOCK_M / WARP) * (BLOCK_N / WARP))
LAUNCH(/*block*/ THREADS, 1, 1, /*work per block*/ BLOCK_N, BLOCK_M, 1);

__device__ unsigned to_tf32(float x)
{
    unsigned rounded;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(x));
    return rounded;
}

__device__ void mma(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__global__ void matmul_tensor(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tile_a[BLOCK_M][BLOCK_K + 4];
    __shared__ float tile_b[BLOCK_K][BLOCK_N + 8];

    int row0 = blockIdx.y * BLOCK_M;
    int col0 = blockIdx.x * BLOCK_N;
    int warp = threadIdx.x / 32;
    int m0 = warp / (BLOCK_N / WARP) * WARP;
    int n0 = warp % (BLOCK_N / WARP) * WARP;
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    float sum[WARP / 16][WARP / 8][4] = {};

    for (int k0 = 0; k0 < K; k0 += BLOCK_K) {
        #pragma unroll
        for (int i = 0; i < BLOCK_M * BLOCK_K / THREADS; ++i) {
            int e = i * THREADS + threadIdx.x, row = e / BLOCK_K, k = e % BLOCK_K;
            tile_a[row][k] = row0 + row < M && k0 + k < K ? A[(row0 + row) * K + k0 + k] : 0.0f;
        }
        #pragma unroll
        for (int i = 0; i < BLOCK_K * BLOCK_N / THREADS; ++i) {
            int e = i * THREADS + threadIdx.x, k = e / BLOCK_N, col = e % BLOCK_N;
            tile_b[k][col] = k0 + k < K && col0 + col < N ? B[(k0 + k) * N + col0 + col] : 0.0f;
        }
        __syncthreads();

        #pragma unroll
        for (int k = 0; k < BLOCK_K; k += 8) {
            unsigned a[WARP / 16][4], b[WARP / 8][2];
            #pragma unroll
            for (int i = 0; i < WARP / 16; ++i) {
                #pragma unroll
                for (int r = 0; r < 4; ++r) a[i][r] = to_tf32(tile_a[m0 + i * 16 + g + r % 2 * 8][k + t + r / 2 * 4]);
            }
            #pragma unroll
            for (int j = 0; j < WARP / 8; ++j) {
                #pragma unroll
                for (int r = 0; r < 2; ++r) b[j][r] = to_tf32(tile_b[k + t + r * 4][n0 + j * 8 + g]);
            }
            #pragma unroll
            for (int i = 0; i < WARP / 16; ++i) {
                #pragma unroll
                for (int j = 0; j < WARP / 8; ++j) mma(sum[i][j], a[i], b[j]);
            }
        }
        __syncthreads();
    }

    #pragma unroll
    for (int i = 0; i < WARP / 16; ++i) {
        #pragma unroll
        for (int j = 0; j < WARP / 8; ++j) {
            #pragma unroll
            for (int r = 0; r < 4; ++r) {
                int row = row0 + m0 + i * 16 + g + r / 2 * 8;
                int col = col0 + n0 + j * 8 + 2 * t + r % 2;
                if (row < M && col < N) C[row * N + col] = sum[i][j][r];
            }
        }
    }
}
