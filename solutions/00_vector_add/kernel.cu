// 00  Vector addition: one thread per element, and a guard for the last block.
#include "warplings.cuh"

LAUNCH(/*block*/ 256, 1, 1, /*work per block*/ 256, 1, 1);

__global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    // Blocks have numbers, and so have the threads of a block: together they number all threads. Consecutive
    // threads get consecutive elements, so that a warp's 32 loads lie side by side in memory (exercise 01 is about that).
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    // The grid has ceil(n / 256) blocks. Where n is no multiple of 256, the last block reaches beyond the vectors, and a
    // GPU does not check: it would read and write whatever lies after them.
    if (i < n) c[i] = a[i] + b[i];
}
