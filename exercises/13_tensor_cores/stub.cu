// 13  Tensor cores: one instruction for 1,024 multiply-adds.
//
// The kernel of exercise 12 gives the ordinary cores all they can do: 32 multiply-adds
// per instruction of a warp. A tensor core takes a whole small product instead: `mma`
// below adds the product of a 16 x 8 piece of A and an 8 x 8 piece of B to a 16 x 8
// piece of C. No lane sees a whole piece: each of the 32 holds 4 elements of A's, 2 of
// B's and 4 of C's in registers. Which lane holds which is laid down by the hardware;
// chapter 13 has a picture of it, and so has NVIDIA's manual (PTX ISA, "Matrix
// Fragments for mma.m16n8k8").
//
// The price is precision: factors are in TF32, floats of which only 10 bits of mantissa
// are looked at. Sums are FP32. The elements of A and B are positive and of very
// different size; C must be as exact as rounded factors make it.
//
// This kernel is right at any size. It has the tiles in shared memory and a piece of
// 32 x 32 for each warp, but multiplies with the ordinary cores, and waits for its
// tiles.
// On a GPU the goal lies at twice the speed of 12's reference solution.
//
// More: chapter 13 of the book, or `cargo run -p checker -- hint 13`.
#include "warplings.cuh"

#define BLOCK_M 64 // rows of C per block
#define BLOCK_N 64 // columns of C per block
#define BLOCK_K 16 // depth of the tiles
#define WARP 32    // rows and columns of C per warp
#define THREADS (32 * (BLOCK_M / WARP) * (BLOCK_N / WARP))

LAUNCH(/*block*/ THREADS, 1, 1, /*work per block*/ BLOCK_N, BLOCK_M, 1);

// Rounds to TF32, to nearest.
__device__ unsigned to_tf32(float x)
{
    unsigned rounded;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(x));
    return rounded;
}

// d += a b, by the whole warp: 16 x 8 += 16 x 8 times 8 x 8, all of them spread over
// the lanes. a and b hold what to_tf32 gives.
__device__ void mma(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__global__ void
matmul_tensor(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tile_a[BLOCK_M][BLOCK_K];
    __shared__ float tile_b[BLOCK_K][BLOCK_N];

    int row0 = blockIdx.y * BLOCK_M;
    int col0 = blockIdx.x * BLOCK_N;
    int warp = threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    // This warp's first row and column in the tiles.
    int m0 = warp / (BLOCK_N / WARP) * WARP;
    int n0 = warp % (BLOCK_N / WARP) * WARP;
    float sum[WARP] = {}; // this lane's column

    for (int k0 = 0; k0 < K; k0 += BLOCK_K) {
        #pragma unroll
        for (int i = 0; i < BLOCK_M * BLOCK_K / THREADS; ++i) {
            int e = i * THREADS + threadIdx.x, row = e / BLOCK_K, k = e % BLOCK_K;
            bool inside = row0 + row < M && k0 + k < K;
            tile_a[row][k] = inside ? A[(row0 + row) * K + k0 + k] : 0.0f;
        }
        #pragma unroll
        for (int i = 0; i < BLOCK_K * BLOCK_N / THREADS; ++i) {
            int e = i * THREADS + threadIdx.x, k = e / BLOCK_N, col = e % BLOCK_N;
            bool inside = k0 + k < K && col0 + col < N;
            tile_b[k][col] = inside ? B[(k0 + k) * N + col0 + col] : 0.0f;
        }
        __syncthreads();

        // TODO: let the tensor cores do this. The warp's piece is 2 x 4 pieces of
        // 16 x 8.
        for (int k = 0; k < BLOCK_K; ++k) {
            float b = tile_b[k][n0 + lane];
            #pragma unroll
            for (int i = 0; i < WARP; ++i) sum[i] += tile_a[m0 + i][k] * b;
        }
        __syncthreads();
    }

    int col = col0 + n0 + lane;
    #pragma unroll
    for (int i = 0; i < WARP; ++i) {
        int row = row0 + m0 + i;
        if (row < M && col < N) C[row * N + col] = sum[i];
    }
}
