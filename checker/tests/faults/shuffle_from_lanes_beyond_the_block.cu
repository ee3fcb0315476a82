// The second warp has 16 threads.
// run: --grid 1 --block 48 --arg buf:i32:48:iota --arg buf:i32:2
extern "C" __global__ void sums(const int* x, int* out)
{
    int v = x[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = v;
}
