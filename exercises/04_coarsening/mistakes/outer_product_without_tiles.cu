// Registers without shared memory: neighbours load the same rows and columns from global memory again.
// expect: too_slow reuse
#include "warplings.cuh"
LAUNCH(16, 16, 1, 64, 64, 1);

__global__ void matmul_coarse(const float* A, const float* B, float* C, int M, int N, int K)
{
    int col0 = blockIdx.x * 64 + threadIdx.x;
    int row0 = blockIdx.y * 64 + threadIdx.y;
    float sum[4][4] = {};
    for (int k = 0; k < K; ++k) {
        float a[4], b[4];
        for (int i = 0; i < 4; ++i) {
            a[i] = (row0 + 16 * i < M) ? A[(row0 + 16 * i) * K + k] : 0.0f;
            b[i] = (col0 + 16 * i < N) ? B[k * N + col0 + 16 * i] : 0.0f;
        }
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j) sum[i][j] += a[i] * b[j];
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            if (row0 + 16 * i < M && col0 + 16 * j < N) C[(row0 + 16 * i) * N + col0 + 16 * j] = sum[i][j];
}
