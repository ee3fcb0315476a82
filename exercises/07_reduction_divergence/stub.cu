// 07  Row sums: sums[row] = x[row][0] + x[row][1] + ... A block adds up one row.
//
// The 32 threads of a warp share one instruction stream. Where an `if` sends some of
// them one way and some the other, the warp goes both ways, one after the other, and
// the threads that are not concerned wait: divergence.
//
// This tree adds neighbours first, then neighbours' neighbours. In the first five of
// its eight steps, all eight warps have some threads that add and some that don't: all
// of them go through the `if`, with fewer and fewer threads at work. Give the additions
// to other threads, so that whole warps either work or have nothing to do: which
// elements a thread adds is up to you. Or let the threads of a warp hand their sums to
// each other without shared memory: __shfl_down_sync(0xffffffff, value, distance).
//
// On a GPU, where time decides, the barriers have to go as well: one warp per row.
//
// More: chapter 07 of the book, or `cargo run -p checker -- hint 07`.
#include "warplings.cuh"

#define THREADS 256

// One block of 256 threads per row: x counts the rows.
LAUNCH(/*block*/ THREADS, 1, 1, /*work per block*/ 1, 1, 1);

__global__ void row_sums(const float* x, float* sums, int rows, int cols)
{
    __shared__ float partial[THREADS];

    int t = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * cols;

    // Each thread adds up every 256th element. This part is fine.
    float sum = 0.0f;
    for (int i = t; i < cols; i += THREADS) sum += row[i];
    partial[t] = sum;
    __syncthreads();

    // TODO: the same tree with whole warps at work.
    for (int distance = 1; distance < THREADS; distance *= 2) {
        if (t % (2 * distance) == 0) {
            partial[t] += partial[t + distance];
        }
        __syncthreads();
    }

    if (t == 0) sums[blockIdx.x] = partial[0];
}
