// Every lane of the first warp adds an entry of an array of 8: behind it lies another array, whose values get into the sum.
// run: --grid 1 --block 256 --arg buf:f32:256:rand --arg buf:f32:1
extern "C" __global__ void sum(const float* x, float* out)
{
    __shared__ float part[8];
    __shared__ float stage[256];
    int t = threadIdx.x;
    stage[t] = x[t];
    __syncthreads();
    float v = stage[255 - t];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    if (t % 32 == 0) part[t / 32] = v;
    __syncthreads();
    if (t < 32) {
        v = part[t];
        for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
        if (t == 0) *out = v;
    }
}
