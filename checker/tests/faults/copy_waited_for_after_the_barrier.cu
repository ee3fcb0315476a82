// Each thread waits for its own copies, but only after the barrier: those of the others may still be on their way.
// run: --grid 1 --block 64 --arg buf:f32:64:rand --arg buf:f32:64
// run: --grid 1 --block 32 --arg buf:f32:32:rand --arg buf:f32:32
#include <cuda_pipeline.h>

extern "C" __global__ void reverse(const float* in, float* out)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], sizeof(float));
    __pipeline_commit();
    __syncthreads();
    __pipeline_wait_prior(0);
    out[t] = tile[blockDim.x - 1 - t];
}
