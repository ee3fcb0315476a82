// Loads the next tiles over those that are in use.
// expect: copy_not_awaited
#include "warplings.cuh"

#define TILE 16              // threads in x and in y, and the depth of the tiles
#define ROWS 16              // elements of C per thread, downwards
#define COLS 8               // and to the right
#define SIDE_M (TILE * ROWS) // 256: rows of C per block
#define SIDE_N (TILE * COLS) // 128: columns of C per block

LAUNCH(/*block*/ TILE, TILE, 1, /*work per block*/ SIDE_N, SIDE_M, 1);

// Which of the block's columns is number j of the 8 that belong to thread t? Four side by side, then four more: see exercise 04.
// (Its rows are TILE apart: cp.async copies rows as they are, so A's tile is not transposed here.)
#define COLUMN(t, j) ((j) / 4 * (4 * TILE) + (t) * 4 + (j) % 4)

// Starts to copy one float from global to shared memory, or a 0 if it is not inside of the matrix.
__device__ void copy_async(float* to, const float* from, bool inside)
{
    unsigned address = (unsigned)__cvta_generic_to_shared(to);
    int bytes = inside ? 4 : 0; // the rest of the 4 bytes is filled with zeros
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(from), "r"(bytes));
}

// The same for four neighbours of a row at an address that is a multiple of 16.
__device__ void copy4_async(float* to, const float* from, bool inside)
{
    unsigned address = (unsigned)__cvta_generic_to_shared(to);
    int bytes = inside ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(bytes));
}

// Closes the group of copies that this thread has started since the last commit.
__device__ void async_commit() { asm volatile("cp.async.commit_group;"); }

// Waits until all groups that this thread has committed are complete.
__device__ void async_wait() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }

// Starts to load `rows` x `cols` elements from (row0, col0) on of a matrix of `height` x `width` into a tile.
template <int rows, int cols>
__device__ void load_tile(float (*tile)[cols], const float* matrix, int row0, int col0, int height, int width)
{
    const int threads = TILE * TILE;
    int thread = threadIdx.y * TILE + threadIdx.x;
    if (width % 4 == 0) {
        // Every row starts at a multiple of 16 bytes: a quarter of the copies for the same bytes (exercise 08).
        #pragma unroll
        for (int i = 0; i < rows * cols / 4 / threads; ++i) {
            int element = (i * threads + thread) * 4;
            int row = element / cols, col = element % cols;
            bool inside = row0 + row < height && col0 + col < width;
            copy4_async(&tile[row][col], inside ? &matrix[(row0 + row) * width + col0 + col] : matrix, inside);
        }
    } else {
        #pragma unroll 1 // the rare case: no registers for it
        for (int i = 0; i < rows * cols / threads; ++i) {
            int element = i * threads + thread;
            int row = element / cols, col = element % cols;
            bool inside = row0 + row < height && col0 + col < width;
            copy_async(&tile[row][col], inside ? &matrix[(row0 + row) * width + col0 + col] : matrix, inside);
        }
    }
}

// 128 sums per thread: an SM has registers for one such block, and no other one to work on while it waits.
__global__ void __launch_bounds__(TILE * TILE, 1)
matmul_pipelined(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ __align__(16) float tile_a[2][SIDE_M][TILE];
    __shared__ __align__(16) float tile_b[2][TILE][SIDE_N];

    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int col0 = blockIdx.x * SIDE_N;
    int row0 = blockIdx.y * SIDE_M;
    int phases = (K + TILE - 1) / TILE;
    float sum[ROWS][COLS] = {};

    load_tile<SIDE_M, TILE>(tile_a[0], A, row0, 0, M, K);
    load_tile<TILE, SIDE_N>(tile_b[0], B, 0, col0, K, N);
    async_commit();

    for (int phase = 0; phase < phases; ++phase) {
        int now = 0;

        async_wait();
        __syncthreads();
        if (phase + 1 < phases) {
            load_tile<SIDE_M, TILE>(tile_a[0], A, row0, (phase + 1) * TILE, M, K);
            load_tile<TILE, SIDE_N>(tile_b[0], B, (phase + 1) * TILE, col0, K, N);
            async_commit();
        }

        #pragma unroll
        for (int k = 0; k < TILE; ++k) {
            float a[ROWS], b[COLS];
            #pragma unroll
            for (int i = 0; i < ROWS; ++i) a[i] = tile_a[now][ty + i * TILE][k];
            #pragma unroll
            for (int j = 0; j < COLS; ++j) b[j] = tile_b[now][k][COLUMN(tx, j)];
            #pragma unroll
            for (int i = 0; i < ROWS; ++i) {
                #pragma unroll
                for (int n = 0; n < COLS; ++n) {
                    int j = i % 2 == 0 ? n : COLS - 1 - n;
                    sum[i][j] += a[i] * b[j];
                }
            }
        }
    }

    #pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        #pragma unroll
        for (int j = 0; j < COLS; ++j) {
            int row = row0 + ty + i * TILE;
            int col = col0 + COLUMN(tx, j);
            if (row < M && col < N) C[row * N + col] = sum[i][j];
        }
    }
}
