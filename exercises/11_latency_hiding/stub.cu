// 11  Latency hiding: load the next tiles while multiplying with these.
//
// In exercise 04 the block loads its tiles, waits for them, multiplies, and loads
// again: memory rests while the block computes, and the block rests while memory
// answers. With two buffers, both can be at work at a time: the tiles of phase p + 1
// are in flight into one buffer while the block multiplies with those of phase p
// from the other.
//
// cp.async (compute capability 8.0) copies from global to shared memory on its own: the
// thread only starts it and goes on. load_tile, async_commit and async_wait below wrap
// it. A copy may be used once the thread that started it has waited for it, and, by
// other threads, after a barrier that follows.
//
// The kernel is complete but for its main loop, which so far loads the first tiles
// only. Its threads make 16 x 8 elements each, so that only one block fits an SM:
// nobody else is there to work while it waits.
//
// More: chapter 11 of the book, or `cargo run -p checker -- hint 11`.
#include "warplings.cuh"

#define TILE 16              // threads in x and in y, and the depth of the tiles
#define ROWS 16              // elements of C per thread, downwards
#define COLS 8               // and to the right
#define SIDE_M (TILE * ROWS) // 256: rows of C per block
#define SIDE_N (TILE * COLS) // 128: columns of C per block

LAUNCH(/*block*/ TILE, TILE, 1, /*work per block*/ SIDE_N, SIDE_M, 1);

// Which of the block's columns is number j of the 8 that belong to thread t? Four side
// by side, then four more: see exercise 04. (Its rows are TILE apart: cp.async copies
// rows as they are, so A's tile is not transposed here.)
#define COLUMN(t, j) ((j) / 4 * (4 * TILE) + (t) * 4 + (j) % 4)

// Starts to copy one float from global to shared memory, or a 0 if it is not inside of
// the matrix.
__device__ void copy_async(float* to, const float* from, bool inside)
{
    unsigned address = (unsigned)__cvta_generic_to_shared(to);
    int bytes = inside ? 4 : 0; // the rest of the 4 bytes is filled with zeros
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                 :: "r"(address), "l"(from), "r"(bytes));
}

// The same for four neighbours of a row at an address that is a multiple of 16.
__device__ void copy4_async(float* to, const float* from, bool inside)
{
    unsigned address = (unsigned)__cvta_generic_to_shared(to);
    int bytes = inside ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"(address), "l"(from), "r"(bytes));
}

// Closes the group of copies that this thread has started since the last commit.
__device__ void async_commit() { asm volatile("cp.async.commit_group;"); }

// Waits until all groups that this thread has committed are complete.
__device__ void async_wait() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }

// Starts to load `rows` x `cols` elements from (row0, col0) on of a matrix of `height`
// x `width` into a tile.
template <int rows, int cols>
__device__ void
load_tile(float (*tile)[cols], const float* matrix, int row0, int col0, int height,
          int width)
{
    const int threads = TILE * TILE;
    int thread = threadIdx.y * TILE + threadIdx.x;
    if (width % 4 == 0) {
        // Every row starts at a multiple of 16 bytes: a quarter of the copies for the
        // same bytes (exercise 08).
        #pragma unroll
        for (int i = 0; i < rows * cols / 4 / threads; ++i) {
            int element = (i * threads + thread) * 4;
            int row = element / cols, col = element % cols;
            bool inside = row0 + row < height && col0 + col < width;
            int from = inside ? (row0 + row) * width + col0 + col : 0;
            copy4_async(&tile[row][col], &matrix[from], inside);
        }
    } else {
        #pragma unroll 1 // the rare case: no registers for it
        for (int i = 0; i < rows * cols / threads; ++i) {
            int element = i * threads + thread;
            int row = element / cols, col = element % cols;
            bool inside = row0 + row < height && col0 + col < width;
            int from = inside ? (row0 + row) * width + col0 + col : 0;
            copy_async(&tile[row][col], &matrix[from], inside);
        }
    }
}

// 128 sums per thread: an SM has registers for one such block, and no other one to work
// on while it waits.
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
        int now = phase % 2;

        // TODO: wait for the tiles of this phase; start to load the next ones (if there
        // are any) into the other buffer, which the block may have been reading until a
        // moment ago; then multiply.
        async_wait();
        __syncthreads();

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
