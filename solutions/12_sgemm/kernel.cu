// 12  SGEMM: everything together.
//
// Three levels of tiles, each for one kind of memory:
//
//     a block makes 256 x 128 elements of C, from tiles in shared memory                    (02, 03)
//     a warp  makes  64 x 64 of these, so that its lanes share most of what they read
//     a thread makes 16 x  8 of these, by outer products in registers                       (04)
//
// and three ways to wait for none of them: float4 wherever four neighbours move together (08), loads that lie in different
// banks (06), and two buffers, the next tiles travelling in registers while the block multiplies (11).
#include "warplings.cuh"

#define BLOCK_M 256 // rows of C per block
#define BLOCK_N 128 // columns of C per block
#define BLOCK_K 8   // depth of the tiles
#define THREAD_M 16 // rows of C per thread
#define THREAD_N 8  // columns of C per thread
#define LANES_M 4   // a warp is 4 x 8 threads
#define LANES_N 8
#define WARP_M (LANES_M * THREAD_M) // 64
#define WARP_N (LANES_N * THREAD_N) // 64
#define THREADS (32 * (BLOCK_M / WARP_M) * (BLOCK_N / WARP_N)) // 8 warps
#define PAD 4 // keeps the transposed stores of A out of each other's banks, and rows at multiples of 16 bytes

// The numbers follow from the limits. 128 sums, 24 factors and 12 floats on their way take some 220 of 255 registers: one block
// of 256 threads fills the register file of an SM. Per k, a thread loads 24 floats, as 6 float4, for 128 multiply-adds. A
// block loads 384 floats per k for 32,768 multiply-adds: 43 operations per byte.
LAUNCH(/*block*/ THREADS, 1, 1, /*work per block*/ BLOCK_N, BLOCK_M, 1);

// Loads four neighbours of a row, with zeros from outside. `aligned`: rows start at multiples of 16 bytes.
__device__ float4 load4(const float* matrix, int row, int col, int rows, int cols, bool aligned)
{
    float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (aligned) {
        if (row < rows && col < cols) v = *reinterpret_cast<const float4*>(&matrix[(size_t)row * cols + col]);
    } else if (row < rows) {
        const float* from = &matrix[(size_t)row * cols + col];
        if (col + 0 < cols) v.x = from[0];
        if (col + 1 < cols) v.y = from[1];
        if (col + 2 < cols) v.z = from[2];
        if (col + 3 < cols) v.w = from[3];
    }
    return v;
}

// The way back.
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

// The block's tiles. A lies transposed, so that the rows a thread needs for one k are neighbours and come as float4 too.
struct Tiles {
    float a[BLOCK_K][BLOCK_M + PAD];
    float b[BLOCK_K][BLOCK_N];
};

#define A_LOADS (BLOCK_M * BLOCK_K / 4 / THREADS) // 2 float4 per thread
#define B_LOADS (BLOCK_N * BLOCK_K / 4 / THREADS) // 1

// A thread's share of the next tiles, on its way from global to shared memory. The loads are only started here; a register
// that is not there yet stops the thread where it is first used, which is in `put`, after the products.
struct Share {
    float4 a[A_LOADS];
    float4 b[B_LOADS];

    __device__ void fetch(const float* A, const float* B, int row0, int col0, int k0, int M, int N, int K)
    {
        #pragma unroll
        for (int i = 0; i < A_LOADS; ++i) {
            int e = threadIdx.x + i * THREADS; // two threads per row of A: 32 bytes, a whole sector
            a[i] = load4(A, row0 + e / (BLOCK_K / 4), k0 + e % (BLOCK_K / 4) * 4, M, K, K % 4 == 0);
        }
        #pragma unroll
        for (int i = 0; i < B_LOADS; ++i) {
            int e = threadIdx.x + i * THREADS; // a warp per row of B: 512 bytes
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

// One block per SM: the compiler may use all 255 registers.
__global__ void __launch_bounds__(THREADS, 1) sgemm(const float* __restrict__ A, const float* __restrict__ B,
                                                    float* __restrict__ C, int M, int N, int K)
{
    __shared__ __align__(16) Tiles tiles[2];

    int row0 = blockIdx.y * BLOCK_M;
    int col0 = blockIdx.x * BLOCK_N;
    int warp = threadIdx.x / 32;
    int lane = threadIdx.x % 32;

    // Which of the warp's 4 x 8 places is this lane's? Shared memory serves a float4 load in four quarters of eight lanes, and
    // two quarters at a time if every lane has the same address as its neighbour (lane ^ 1) or as the next but one (lane ^
    // 2). Taking the lowest bit of the lane for the row and the next three for the column gives the loads of b the first
    // property and those of a the second: each of them takes two turns instead of four.
    int lane_m = (lane & 1) | (lane >> 4) << 1;
    int lane_n = lane >> 1 & 7;

    // This thread's first row and column in the tiles. It has groups of 4 x 4 elements, LANES * 4 apart, so that the float4 of
    // neighbouring lanes are neighbours.
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

        // One barrier per phase. Before it, everybody is done with the current buffer and has filled the other one, which in
        // turn was read for the last time before the previous barrier.
        if (more) {
            share.put(tiles[now ^ 1]);
            __syncthreads();
        }
        now ^= 1;
    }

    #pragma unroll
    for (int i = 0; i < THREAD_M; ++i) {
        int row = row0 + m0 + i / 4 * 4 * LANES_M + i % 4;
        #pragma unroll
        for (int j = 0; j < THREAD_N; j += 4) {
            store4(&sum[i][j], C, row, col0 + n0 + j * LANES_N, M, N, N % 4 == 0);
        }
    }
}
