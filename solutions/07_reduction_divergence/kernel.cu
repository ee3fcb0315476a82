// 07  Row sums without divergence: one warp per row, and shuffles instead of a tree in shared memory.
#include "warplings.cuh"

#define WARP 32
#define ROWS 8 // rows, and warps, per block

LAUNCH(/*block*/ WARP, ROWS, 1, /*work per block*/ ROWS, 1, 1);

__global__ void row_sums(const float* x, float* sums, int rows, int cols)
{
    int lane = threadIdx.x;
    // The same for all 32 lanes, so every branch on it is taken by the whole warp or not at all.
    int row = blockIdx.x * ROWS + threadIdx.y;
    if (row >= rows) return;

    // Neighbouring lanes read neighbouring elements. Unrolling puts eight loads in flight at once.
    const float* elements = x + (size_t)row * cols;
    float sum = 0.0f;
    #pragma unroll 8
    for (int i = lane; i < cols; i += WARP) sum += elements[i];

    // Each step halves the number of sums that matter: lane i takes lane i + distance's. All 32 lanes execute it, the
    // upper ones for nothing, which costs nothing. No shared memory, no barrier: the lanes of a warp only need to be
    // together, which the mask of all lanes sees to.
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    }
    // (In shared memory, the tree that does not diverge adds the upper half to the lower one: `if (t < distance)
    // partial[t] += partial[t + distance]`, from distance = THREADS / 2 down. Then the threads at work are always the
    // first ones, and warps fall idle as a whole.)

    if (lane == 0) sums[row] = sum;
}
