// 09  Occupancy: enough warps to wait with.
//
// Row sums: sums[row] = x[row][0] + x[row][1] + ... Each block first collects a stretch
// of its row in shared memory, then adds it up. The result is right, and most of the
// time nothing happens: a warp that has asked memory for something waits for hundreds
// of cycles, and an SM fills that time with other warps, if it has any. What a block
// takes decides how many it can hold:
//
//     an SM (compute capability 8.0) has     this block takes
//     2,048 threads (64 warps)               64 threads (2 warps)
//     32 blocks                              1
//     65,536 registers                       64 x registers per thread
//     164 KB of shared memory                32 KB, and 1 KB for the system
//
// The scarcest one decides. Here it is shared memory, and the occupancy is
//
//     8.0: 4 blocks, 8 of 64 warps, 12.5 %
//
// More: chapter 09 of the book, or `cargo run -p checker -- hint 09`.
#include "warplings.cuh"

#define THREADS 64
#define STRETCH 8192 // elements of the row in shared memory at a time

// One block per row: x counts the rows.
LAUNCH(/*block*/ THREADS, 1, 1, /*work per block*/ 1, 1, 1);

__global__ void row_sums(const float* x, float* sums, int rows, int cols)
{
    // TODO: change what a block takes so that an SM can hold at least 32 warps (50 %).
    // There is more than one way.
    __shared__ float stretch[STRETCH];
    __shared__ float partial[THREADS];

    int t = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * cols;

    float sum = 0.0f;
    for (int start = 0; start < cols; start += STRETCH) {
        int end = min(start + STRETCH, cols);
        for (int i = start + t; i < end; i += THREADS) stretch[i - start] = row[i];
        __syncthreads();
        for (int i = start + t; i < end; i += THREADS) sum += stretch[i - start];
        __syncthreads();
    }

    partial[t] = sum;
    __syncthreads();
    for (int distance = THREADS / 2; distance > 0; distance /= 2) {
        if (t < distance) partial[t] += partial[t + distance];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = partial[0];
}
