// Rows of both tiles are whole multiples of 16 floats apart: the lanes of a fragment meet in few banks.
// expect: too_slow bank_conflicts
#include "warplings.cuh"

#define BLOCK_M 128 // rows of C per block
#define BLOCK_N 128 // columns of C per block
#define BLOCK_K 16  // depth of the tiles
#define WARP 64     // rows and columns of C per warp
#define THREADS (32 * (BLOCK_M / WARP) * (BLOCK_N / WARP))
#define PAD_A 0
#define PAD_B 0

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

// Starts to copy `size` bytes from an element of a matrix to one of a tile, or to fill them with zeros where there is none.
template <int size>
__device__ void copy_async(float* to, const float* matrix, int row, int col, int height, int width)
{
    unsigned address = (unsigned)__cvta_generic_to_shared(to);
    bool inside = row < height && col < width;
    const float* from = inside ? &matrix[(size_t)row * width + col] : matrix;
    int given = inside ? size : 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(from), "n"(size), "r"(given));
}

// Starts to copy a tile, from (row0, col0) of a matrix on, with zeros from outside.
template <int cols, int rows, int padded>
__device__ void load_tile(float (&tile)[rows][padded], const float* matrix, int row0, int col0, int height, int width)
{
    if (width % 4 == 0) {
        #pragma unroll
        for (int i = 0; i < rows * cols / 4 / THREADS; ++i) {
            int element = (i * THREADS + threadIdx.x) * 4;
            int row = element / cols, col = element % cols;
            copy_async<16>(&tile[row][col], matrix, row0 + row, col0 + col, height, width);
        }
    } else {
        #pragma unroll 1
        for (int i = 0; i < rows * cols / THREADS; ++i) {
            int element = i * THREADS + threadIdx.x;
            int row = element / cols, col = element % cols;
            copy_async<4>(&tile[row][col], matrix, row0 + row, col0 + col, height, width);
        }
    }
}

__global__ void __launch_bounds__(THREADS) matmul_tensor(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ __align__(16) float tile_a[2][BLOCK_M][BLOCK_K + PAD_A];
    __shared__ __align__(16) float tile_b[2][BLOCK_K][BLOCK_N + PAD_B];

    int row0 = blockIdx.y * BLOCK_M;
    int col0 = blockIdx.x * BLOCK_N;
    int warp = threadIdx.x / 32;
    int m0 = warp / (BLOCK_N / WARP) * WARP; // this warp's first row and column in the tiles
    int n0 = warp % (BLOCK_N / WARP) * WARP;
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    float sum[WARP / 16][WARP / 8][4] = {};

    load_tile<BLOCK_K>(tile_a[0], A, row0, 0, M, K);
    load_tile<BLOCK_N>(tile_b[0], B, 0, col0, K, N);
    for (int k0 = 0; k0 < K; k0 += BLOCK_K) {
        int now = k0 / BLOCK_K % 2;
        asm volatile("cp.async.wait_all;" ::: "memory");
        __syncthreads();
        if (k0 + BLOCK_K < K) {
            load_tile<BLOCK_K>(tile_a[1 - now], A, row0, k0 + BLOCK_K, M, K);
            load_tile<BLOCK_N>(tile_b[1 - now], B, k0 + BLOCK_K, col0, K, N);
        }
        #pragma unroll
        for (int k = 0; k < BLOCK_K; k += 8) {
            unsigned a[WARP / 16][4], b[WARP / 8][2];
            #pragma unroll
            for (int i = 0; i < WARP / 16; ++i) {
                #pragma unroll
                for (int r = 0; r < 4; ++r) a[i][r] = to_tf32(tile_a[now][m0 + i * 16 + g + r % 2 * 8][k + t + r / 2 * 4]);
            }
            #pragma unroll
            for (int j = 0; j < WARP / 8; ++j) {
                #pragma unroll
                for (int r = 0; r < 2; ++r) b[j][r] = to_tf32(tile_b[now][k + t + r * 4][n0 + j * 8 + g]);
            }
            #pragma unroll
            for (int i = 0; i < WARP / 16; ++i) {
                #pragma unroll
                for (int j = 0; j < WARP / 8; ++j) mma(sum[i][j], a[i], b[j]);
            }
        }
    }

    #pragma unroll
    for (int i = 0; i < WARP / 16; ++i) {
        #pragma unroll
        for (int j = 0; j < WARP / 8; ++j) {
            #pragma unroll
            for (int r = 0; r < 4; r += 2) { // columns 2t and 2t + 1 of row g, then of row g + 8
                int row = row0 + m0 + i * 16 + g + r / 2 * 8;
                int col = col0 + n0 + j * 8 + 2 * t;
                float* to = &C[(size_t)row * N + col];
                if (row < M && N % 2 == 0 && col < N) {
                    *reinterpret_cast<float2*>(to) = make_float2(sum[i][j][r], sum[i][j][r + 1]);
                } else if (row < M) {
                    if (col < N) to[0] = sum[i][j][r];
                    if (col + 1 < N) to[1] = sum[i][j][r + 1];
                }
            }
        }
    }
}
