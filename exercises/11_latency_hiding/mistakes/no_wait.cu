// Never waits for the copies: a barrier does not.
// expect: uninitialized_read
#include "warplings.cuh"

#define TILE 16
#define BATCH 8
#define SIDE (TILE * BATCH)

LAUNCH(/*block*/ TILE, TILE, 1, /*work per block*/ SIDE, SIDE, 1);

// Starts to copy one float from global to shared memory, or a 0 if it is not inside of the matrix.
__device__ void copy_async(float* to, const float* from, bool inside)
{
    unsigned address = (unsigned)__cvta_generic_to_shared(to);
    int bytes = inside ? 4 : 0; // the rest of the 4 bytes is filled with zeros
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(from), "r"(bytes));
}

// Closes the group of copies that this thread has started since the last commit.
__device__ void async_commit() { asm volatile("cp.async.commit_group;"); }

// Waits until all groups that this thread has committed are complete.
__device__ void async_wait() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }

// Starts to load the tiles of A and B that begin at column or row k0.
__device__ void load_tiles(float (*tile_a)[TILE], float (*tile_b)[SIDE], const float* A, const float* B, int row0, int col0,
                           int k0, int M, int N, int K)
{
    int thread = threadIdx.y * TILE + threadIdx.x;
    #pragma unroll
    for (int i = 0; i < BATCH; ++i) {
        int element = i * TILE * TILE + thread;
        int row = element / TILE, k = element % TILE;
        bool inside = row0 + row < M && k0 + k < K;
        copy_async(&tile_a[row][k], inside ? &A[(row0 + row) * K + k0 + k] : A, inside);
    }
    #pragma unroll
    for (int i = 0; i < BATCH; ++i) {
        int element = i * TILE * TILE + thread;
        int k = element / SIDE, col = element % SIDE;
        bool inside = k0 + k < K && col0 + col < N;
        copy_async(&tile_b[k][col], inside ? &B[(k0 + k) * N + col0 + col] : B, inside);
    }
}

__global__ void matmul_pipelined(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tile_a[2][SIDE][TILE];
    __shared__ float tile_b[2][TILE][SIDE];

    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int col0 = blockIdx.x * SIDE;
    int row0 = blockIdx.y * SIDE;
    int phases = (K + TILE - 1) / TILE;
    float sum[BATCH][BATCH] = {};

    load_tiles(tile_a[0], tile_b[0], A, B, row0, col0, 0, M, N, K);
    async_commit();

    for (int phase = 0; phase < phases; ++phase) {
        int now = phase % 2;

        __syncthreads();
        if (phase + 1 < phases) {
            load_tiles(tile_a[1 - now], tile_b[1 - now], A, B, row0, col0, (phase + 1) * TILE, M, N, K);
            async_commit();
        }

        #pragma unroll
        for (int k = 0; k < TILE; ++k) {
            float a[BATCH], b[BATCH];
            #pragma unroll
            for (int i = 0; i < BATCH; ++i) {
                a[i] = tile_a[now][ty + i * TILE][k];
                b[i] = tile_b[now][k][tx + i * TILE];
            }
            #pragma unroll
            for (int i = 0; i < BATCH; ++i) {
                #pragma unroll
                for (int j = 0; j < BATCH; ++j) sum[i][j] += a[i] * b[j];
            }
        }
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
