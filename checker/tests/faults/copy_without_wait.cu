// A barrier does not wait for copies.
// run: --grid 2 --block 64 --arg buf:f32:128:rand --arg buf:f32:128
#include <cuda_pipeline.h>

extern "C" __global__ void reverse(const float* in, float* out)
{
    __shared__ float tile[64];
    int t = threadIdx.x, first = blockIdx.x * 64;
    __pipeline_memcpy_async(&tile[t], &in[first + t], sizeof(float));
    __pipeline_commit();
    __syncthreads();
    out[first + t] = tile[63 - t];
}
