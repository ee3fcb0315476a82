// 00  Vector addition: c[i] = a[i] + b[i] for every i below n.
//
// The same function runs once per thread. A thread finds out which one it is from
// threadIdx.x (its place in the block, 0 to blockDim.x - 1) and blockIdx.x (which
// block). One thread computes one element.
//
// More: chapter 00 of the book, or `cargo run -p checker -- hint 00`.
#include "warplings.cuh"

// Blocks of 256 threads, each of which takes care of 256 elements; the checker launches
// as many blocks as that takes.
LAUNCH(/*block*/ 256, 1, 1, /*work per block*/ 256, 1, 1);

__global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    // TODO: which element is this thread's? Compute it, but only if it exists: unless n
    // is a multiple of 256, the last block has threads to spare.
}
