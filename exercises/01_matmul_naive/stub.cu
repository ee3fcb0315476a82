// 01  Matrix multiplication: C = A B, one thread per element of C.
//
// A is M x K, B is K x N, C is M x N. All are row-major: element (row, col) of A lies
// at A[row * K + col].
//     C[row][col] = A[row][0] * B[0][col] + A[row][1] * B[1][col] + ...
//                   + A[row][K-1] * B[K-1][col]
//
// A block is 16 x 16 threads, numbered by threadIdx.x and threadIdx.y; blockIdx.x and
// blockIdx.y count the blocks to the right and downwards. Threads that are neighbours
// in x run side by side in one warp. Whether x becomes the row or the column decides
// how far apart their loads and stores lie, and makes a factor of 5 in time.
//
// More: chapter 01 of the book, or `cargo run -p checker -- hint 01`.
#include "warplings.cuh"

// One block makes 16 x 16 elements of C. x counts columns, y counts rows.
LAUNCH(/*block*/ 16, 16, 1, /*work per block*/ 16, 16, 1);

__global__ void
matmul_naive(const float* A, const float* B, float* C, int M, int N, int K)
{
    // TODO: find this thread's row and column of C, leave if it is outside, sum up the
    // K products, store the sum.
}
