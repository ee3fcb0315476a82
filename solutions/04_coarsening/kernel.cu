// 04  Coarsening: each thread makes 8 x 8 elements of C by outer products in registers.
#include "warplings.cuh"

#define TILE 16                       // threads in x and in y, and the depth of the tiles
#define BATCH 8                       // elements of C per thread in each direction
#define SIDE (TILE * BATCH)           // 128: rows and columns of C per block
#define THREADS (TILE * TILE)         // 256
#define LOADS (SIDE * TILE / THREADS) // 8: elements of each tile that a thread loads
#define PAD 4                         // keeps rows at multiples of 16 bytes, and most stores down a column in different banks

LAUNCH(/*block*/ TILE, TILE, 1, /*work per block*/ SIDE, SIDE, 1);

// Which of the block's rows (or columns) is number i of the 8 that belong to thread t? Four side by side, and four more half a
// block further on. Side by side, so that they come from shared memory as one load of 16 bytes; only four, so that
// neighbouring threads read neighbouring groups, without bank conflicts.
#define PLACE(t, i) ((i) / 4 * (4 * TILE) + (t) * 4 + (i) % 4)

// Two blocks per SM: 512 threads leave 128 registers for each. More would let fewer warps wait for memory (exercise 09).
__global__ void __launch_bounds__(THREADS, 2)
matmul_coarse(const float* A, const float* B, float* C, int M, int N, int K)
{
    // Coarsening lengthens the tiles in one direction only: along M for A, along N for B. 8 KB each. A's lies transposed, so
    // that for one k both factors of the outer product are rows.
    __shared__ __align__(16) float tile_a[TILE][SIDE + PAD];
    __shared__ __align__(16) float tile_b[TILE][SIDE];

    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int col0 = blockIdx.x * SIDE;
    int row0 = blockIdx.y * SIDE;
    int thread = ty * TILE + tx;

    // 64 sums. They stay in registers because every index into them is known when compiling, once loops are unrolled.
    float sum[BATCH][BATCH] = {};

    for (int k0 = 0; k0 < K; k0 += TILE) {
        // Most tiles lie inside entirely, and one question then answers 32.
        bool inside = row0 + SIDE <= M && col0 + SIDE <= N && k0 + TILE <= K;

        // 256 threads load 2,048 elements of each tile, 8 each. Who loads which has nothing to do with who will use
        // them: consecutive threads take consecutive elements of a row, so that both loads are coalesced. The number of
        // turns is known when compiling, so the loops unroll and all 16 loads of a thread are in flight at once.
        #pragma unroll
        for (int i = 0; i < LOADS; ++i) {
            int element = i * THREADS + thread;
            int row = element / TILE, k = element % TILE;
            tile_a[k][row] = inside || (row0 + row < M && k0 + k < K) ? A[(row0 + row) * K + k0 + k] : 0.0f;
        }
        #pragma unroll
        for (int i = 0; i < LOADS; ++i) {
            int element = i * THREADS + thread;
            int k = element / SIDE, col = element % SIDE;
            tile_b[k][col] = inside || (k0 + k < K && col0 + col < N) ? B[(k0 + k) * N + col0 + col] : 0.0f;
        }
        __syncthreads();

        #pragma unroll
        for (int k = 0; k < TILE; ++k) {
            // Four loads of 16 bytes: the compiler sees that four neighbours start at a multiple of 16 bytes. Exercise 08
            // asks for such loads by hand.
            float a[BATCH], b[BATCH];
            #pragma unroll
            for (int i = 0; i < BATCH; ++i) {
                a[i] = tile_a[k][PLACE(ty, i)];
                b[i] = tile_b[k][PLACE(tx, i)];
            }
            // 4 loads above, 64 multiply-adds here: shared memory keeps up with the arithmetic. Forth along one row and back
            // along the next, so that each multiply-add shares a factor with the one before, which is still at hand.
            #pragma unroll
            for (int i = 0; i < BATCH; ++i) {
                #pragma unroll
                for (int n = 0; n < BATCH; ++n) {
                    int j = i % 2 == 0 ? n : BATCH - 1 - n;
                    sum[i][j] += a[i] * b[j];
                }
            }
        }
        __syncthreads();
    }

    #pragma unroll
    for (int i = 0; i < BATCH; ++i) {
        #pragma unroll
        for (int j = 0; j < BATCH; ++j) {
            int row = row0 + PLACE(ty, i);
            int col = col0 + PLACE(tx, j);
            if (row < M && col < N) C[row * N + col] = sum[i][j];
        }
    }
}
