// 05, another way: no shared memory at all. A thread turns 4 x 4 elements in its registers, with float4 in and out.
#include "warplings.cuh"

#define SIDE 4
#define THREADS_X 8
#define THREADS_Y 32

LAUNCH(/*block*/ THREADS_X, THREADS_Y, 1, /*work per block*/ THREADS_X * SIDE, THREADS_Y * SIDE, 1);

__global__ void transpose(const float* in, float* out, int rows, int cols)
{
    int col = (blockIdx.x * THREADS_X + threadIdx.x) * SIDE;
    int row = (blockIdx.y * THREADS_Y + threadIdx.y) * SIDE;

    // A warp is 8 x 4 threads: it reads 16 rows, 128 bytes of each, and writes 32 rows, 64 bytes of each. Both are whole
    // sectors, as long as rows start at multiples of 16 bytes.
    if (rows % SIDE == 0 && cols % SIDE == 0) {
        if (row >= rows || col >= cols) return;
        float4 v[SIDE];
        for (int i = 0; i < SIDE; ++i) v[i] = *reinterpret_cast<const float4*>(&in[(row + i) * cols + col]);
        float4* to[SIDE];
        for (int i = 0; i < SIDE; ++i) to[i] = reinterpret_cast<float4*>(&out[(col + i) * rows + row]);
        *to[0] = make_float4(v[0].x, v[1].x, v[2].x, v[3].x);
        *to[1] = make_float4(v[0].y, v[1].y, v[2].y, v[3].y);
        *to[2] = make_float4(v[0].z, v[1].z, v[2].z, v[3].z);
        *to[3] = make_float4(v[0].w, v[1].w, v[2].w, v[3].w);
        return;
    }
    for (int i = 0; i < SIDE; ++i) {
        for (int j = 0; j < SIDE; ++j) {
            if (row + i < rows && col + j < cols) out[(col + j) * rows + row + i] = in[(row + i) * cols + col + j];
        }
    }
}
