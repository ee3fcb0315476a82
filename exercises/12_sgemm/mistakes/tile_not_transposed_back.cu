// Stores the groups of four rows side by side instead of LANES_M * 4 apart: neighbouring lanes store over each other.
// expect: race
#include "warplings.cuh"

#define BLOCK_M 256
#define BLOCK_N 128
#define BLOCK_K 8  
#define THREAD_M 16
#define THREAD_N 8 
#define LANES_M 4  
#define LANES_N 8
#define WARP_M (LANES_M * THREAD_M)
#define WARP_N (LANES_N * THREAD_N)
#define THREADS (32 * (BLOCK_M / WARP_M) * (BLOCK_N / WARP_N))
#define PAD 4
LAUNCH(/*block*/ THREADS, 1, 1, /*work per block*/ BLOCK_N, BLOCK_M, 1);
__device__ float4 load4(const float* matrix, int row, int col, int rows, int cols, bool aligned)
{
    float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (row >= rows) return v;
    const float* from = &matrix[(size_t)row * cols + col];
    if (aligned) {
        if (col < cols) v = *reinterpret_cast<const float4*>(from);
    } else {
        if (col + 0 < cols) v.x = from[0];
        if (col + 1 < cols) v.y = from[1];
        if (col + 2 < cols) v.z = from[2];
        if (col + 3 < cols) v.w = from[3];
    }
    return v;
}
__device__ void store4(const float* v, float* matrix, int row, int col, int rows, int cols, bool aligned)
{
    if (row >= rows) return;
    float* to = &matrix[(size_t)row * cols + col];
    if (aligned) {
        if (col < cols) *reinterpret_cast<float4*>(to) = make_float4(v[0], v[1], v[2], v[3]);
    } else {
        #pragma unroll
        for (int i = 0; i < 4; ++i) {
            if (col + i < cols) to[i] = v[i];
        }
    }
}
struct Tiles {
    float a[BLOCK_K][BLOCK_M + PAD];
    float b[BLOCK_K][BLOCK_N];
};

#define A_LOADS (BLOCK_M * BLOCK_K / 4 / THREADS)
#define B_LOADS (BLOCK_N * BLOCK_K / 4 / THREADS)
struct Share {
    float4 a[A_LOADS];
    float4 b[B_LOADS];

    __device__ void fetch(const float* A, const float* B, int row0, int col0, int k0, int M, int N, int K)
    {
        #pragma unroll
        for (int i = 0; i < A_LOADS; ++i) {
            int e = threadIdx.x + i * THREADS;
            a[i] = load4(A, row0 + e / (BLOCK_K / 4), k0 + e % (BLOCK_K / 4) * 4, M, K, K % 4 == 0);
        }
        #pragma unroll
        for (int i = 0; i < B_LOADS; ++i) {
            int e = threadIdx.x + i * THREADS;
            b[i] = load4(B, k0 + e / (BLOCK_N / 4), col0 + e % (BLOCK_N / 4) * 4, K, N, N % 4 == 0);
        }
    }

    __device__ void put(Tiles& tiles) const
    {
        #pragma unroll
        for (int i = 0; i < A_LOADS; ++i) {
            int e = threadIdx.x + i * THREADS;
            int row = e / (BLOCK_K / 4), k = e % (BLOCK_K / 4) * 4;
            tiles.a[k + 0][row] = a[i].x;
            tiles.a[k + 1][row] = a[i].y;
            tiles.a[k + 2][row] = a[i].z;
            tiles.a[k + 3][row] = a[i].w;
        }
        #pragma unroll
        for (int i = 0; i < B_LOADS; ++i) {
            int e = threadIdx.x + i * THREADS;
            *reinterpret_cast<float4*>(&tiles.b[e / (BLOCK_N / 4)][e % (BLOCK_N / 4) * 4]) = b[i];
        }
    }
};
__global__ void __launch_bounds__(THREADS, 1) sgemm(const float* __restrict__ A, const float* __restrict__ B,
                                                    float* __restrict__ C, int M, int N, int K)
{
    __shared__ __align__(16) Tiles tiles[2];

    int row0 = blockIdx.y * BLOCK_M;
    int col0 = blockIdx.x * BLOCK_N;
    int warp = threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    int lane_m = (lane & 1) | (lane >> 4) << 1;
    int lane_n = lane >> 1 & 7;
    int m0 = warp / (BLOCK_N / WARP_N) * WARP_M + lane_m * 4;
    int n0 = warp % (BLOCK_N / WARP_N) * WARP_N + lane_n * 4;

    float sum[THREAD_M][THREAD_N] = {};

    Share share;
    share.fetch(A, B, row0, col0, 0, M, N, K);
    share.put(tiles[0]);
    __syncthreads();

    int now = 0;
    for (int k0 = 0; k0 < K; k0 += BLOCK_K) {
        bool more = k0 + BLOCK_K < K;
        if (more) share.fetch(A, B, row0, col0, k0 + BLOCK_K, M, N, K);

        const Tiles& tile = tiles[now];
        #pragma unroll
        for (int k = 0; k < BLOCK_K; ++k) {
            float a[THREAD_M], b[THREAD_N];
            #pragma unroll
            for (int i = 0; i < THREAD_M; i += 4) {
                *reinterpret_cast<float4*>(&a[i]) = *reinterpret_cast<const float4*>(&tile.a[k][m0 + i * LANES_M]);
            }
            #pragma unroll
            for (int j = 0; j < THREAD_N; j += 4) {
                *reinterpret_cast<float4*>(&b[j]) = *reinterpret_cast<const float4*>(&tile.b[k][n0 + j * LANES_N]);
            }
            #pragma unroll
            for (int i = 0; i < THREAD_M; ++i) {
                #pragma unroll
                for (int j = 0; j < THREAD_N; ++j) sum[i][j] += a[i] * b[j];
            }
        }
        if (more) {
            now = 1 - now;
            share.put(tiles[now]);
            __syncthreads();
        }
    }

    #pragma unroll
    for (int i = 0; i < THREAD_M; ++i) {
        int row = row0 + m0 + i;
        #pragma unroll
        for (int j = 0; j < THREAD_N; j += 4) {
            store4(&sum[i][j], C, row, col0 + n0 + j * LANES_N, M, N, N % 4 == 0);
        }
    }
}
