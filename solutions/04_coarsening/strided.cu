// 04, another way: a thread's 8 x 8 elements evenly spread, 16 apart. Every word comes from shared memory by itself.
// predicted: too_slow: the model places loads of single words from shared memory later than the assembler does
#include "warplings.cuh"

#define TILE 16                       // threads in x and in y, and the depth of the tiles
#define BATCH 8                       // elements of C per thread in each direction
#define SIDE (TILE * BATCH)           // 128: rows and columns of C per block
#define THREADS (TILE * TILE)         // 256
#define LOADS (SIDE * TILE / THREADS) // 8: elements of each tile that a thread loads

LAUNCH(/*block*/ TILE, TILE, 1, /*work per block*/ SIDE, SIDE, 1);

// Two blocks per SM: 512 threads leave 128 registers for each. More would let fewer warps wait for memory (exercise 09).
__global__ void __launch_bounds__(THREADS, 2)
matmul_coarse(const float* A, const float* B, float* C, int M, int N, int K)
{
    // Coarsening lengthens the tiles in one direction only: along M for A, along N for B. 8 KB each.
    __shared__ float tile_a[SIDE][TILE];
    __shared__ float tile_b[TILE][SIDE];

    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int col0 = blockIdx.x * SIDE;
    int row0 = blockIdx.y * SIDE;
    int thread = ty * TILE + tx;

    // 64 sums. They stay in registers because every index into them is known when compiling, once loops are unrolled.
    float sum[BATCH][BATCH] = {};

    for (int k0 = 0; k0 < K; k0 += TILE) {
        // 256 threads load 2,048 elements of each tile, 8 each. Who loads which has nothing to do with who will use
        // them: consecutive threads take consecutive elements of a row, so that both loads are coalesced. The number of
        // turns is known when compiling, so the loops unroll and all 16 loads of a thread are in flight at once.
        #pragma unroll
        for (int i = 0; i < LOADS; ++i) {
            int element = i * THREADS + thread;
            int row = element / TILE, k = element % TILE;
            tile_a[row][k] = (row0 + row < M && k0 + k < K) ? A[(row0 + row) * K + k0 + k] : 0.0f;
        }
        #pragma unroll
        for (int i = 0; i < LOADS; ++i) {
            int element = i * THREADS + thread;
            int k = element / SIDE, col = element % SIDE;
            tile_b[k][col] = (k0 + k < K && col0 + col < N) ? B[(k0 + k) * N + col0 + col] : 0.0f;
        }
        __syncthreads();

        #pragma unroll 8 // with all 16, loads that start early crowd the sums out of the registers
        for (int k = 0; k < TILE; ++k) {
            // One thread's elements are TILE apart, not side by side: then the 16 neighbours in x read 16 neighbouring
            // words, without bank conflicts, and store 16 neighbouring floats below.
            float a[BATCH], b[BATCH];
            #pragma unroll
            for (int i = 0; i < BATCH; ++i) {
                a[i] = tile_a[ty + i * TILE][k];
                b[i] = tile_b[k][tx + i * TILE];
            }
            // 16 loads above, 64 multiply-adds here: shared memory keeps up with the arithmetic.
            #pragma unroll
            for (int i = 0; i < BATCH; ++i) {
                #pragma unroll
                for (int j = 0; j < BATCH; ++j) {
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
            int row = row0 + ty + i * TILE;
            int col = col0 + tx + j * TILE;
            if (row < M && col < N) C[row * N + col] = sum[i][j];
        }
    }
}
