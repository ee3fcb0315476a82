// Four stages in four buffers: two groups may be in flight while the third is read.
// run: --grid 1 --block 64 --arg buf:f32:640:rand --arg buf:f32:64 --arg i32:10
#include <cuda_pipeline.h>
#define STAGES 4

extern "C" __global__ void sum_of_neighbours(const float* in, float* out, int rounds)
{
    __shared__ float stage[4][64];
    int t = threadIdx.x;
    for (int k = 0; k < STAGES - 1; ++k) {
        if (k < rounds) __pipeline_memcpy_async(&stage[k % 4][t], &in[64 * k + t], sizeof(float));
        __pipeline_commit();
    }
    float sum = 0.0f;
    for (int k = 0; k < rounds; ++k) {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();
        int next = k + STAGES - 1;
        if (next < rounds)
            __pipeline_memcpy_async(&stage[next % 4][t], &in[64 * next + t], sizeof(float));
        __pipeline_commit();
        sum += stage[k % 4][63 - t];
    }
    out[t] = sum;
}
