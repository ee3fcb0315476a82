// 12  SGEMM: as fast as the vendor's library.
//
// No new idea in this one: it takes everything from before, put together and tuned. On
// an H200, with M = N = K = 2048, the solution of 01 makes 5.5 TFLOP/s, that of 02
// 9.4 TFLOP/s, of 04 38.5 TFLOP/s, of 11 43.9 TFLOP/s, and of this one 51.5 TFLOP/s.
// cuBLAS, without tensor cores, makes 50.2 TFLOP/s.
//
// Steps that lead there, with the exercise that each is from (begin with your kernel
// of 04 or 11):
//
// 1. float4 for all global loads and for the stores of C, where N and K are
//    multiples of 4 (08)
// 2. A transposed in shared memory: then both factors of a thread's outer product are
//    loaded as float4 from rows
// 3. a thread's elements in groups of 4 x 4, the groups of neighbouring lanes side by
//    side (06)
// 4. two buffers, so that the next tiles are in flight while the block multiplies (11)
// 5. larger tiles per thread, 8 x 8 or 16 x 8, as far as registers go: nothing may
//    spill (09)
// 6. no comparisons and no address arithmetic inside the loop, for blocks that lie
//    inside entirely
// 7. the factors of step k + 1 in flight while step k multiplies; loads a whole phase
//    ahead (11)
//
// Any M, N and K must work; multiples of 4 must be fast.
//
// More: chapter 12 of the book, or `cargo run -p checker -- hint 12`.
#include "warplings.cuh"

#define BLOCK_M 128 // rows of C per block
#define BLOCK_N 128 // columns of C per block
#define THREADS 256

LAUNCH(/*block*/ THREADS, 1, 1, /*work per block*/ BLOCK_N, BLOCK_M, 1);

__global__ void __launch_bounds__(THREADS)
sgemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    // TODO: C = A B, at full speed.
}
