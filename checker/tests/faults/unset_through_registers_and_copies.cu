// What was never written goes through a copy, a shuffle, a local array and shared memory before it is stored.
// run: --grid 1 --block 32 --arg buf:f32:32 --arg buf:f32:32 --arg i32:3
#include <cuda_pipeline.h>

extern "C" __global__ void far(const float* x, float* out, int k)
{
    __shared__ float cells[32];
    int lane = threadIdx.x;
    __pipeline_memcpy_async(&cells[lane], &x[lane], sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
    float v = __shfl_xor_sync(0xffffffffu, cells[31 - lane], 1);
    float own[4];
    for (int i = 0; i < 4; ++i) own[(i + lane) % 4] = v + i;
    __syncwarp();
    cells[lane] = own[k];
    __syncwarp();
    out[lane] = cells[lane ^ 4];
}
