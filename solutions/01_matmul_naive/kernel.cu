// 01  Matrix multiplication, one thread per element, with neighbouring threads on neighbouring columns.
#include "warplings.cuh"

LAUNCH(/*block*/ 16, 16, 1, /*work per block*/ 16, 16, 1);

__global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K)
{
    // A warp is 32 threads that are consecutive in x first. With x as the column, they read one row of B side by side
    // (a few 32-byte sectors for all of them), share one element of A, and store side by side into one row of C. With x
    // as the row, they would lie in 16 rows, two side by side in each: a sector of 32 bytes for 8 bytes of the store.
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;

    // M and N need not be multiples of 16: the last blocks reach over the edge in both directions.
    if (row >= M || col >= N) return;

    // A local variable lives in a register: K additions, and memory sees only the one store below.
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += A[row * K + k] * B[k * N + col];
    }
    C[row * N + col] = sum;
}
