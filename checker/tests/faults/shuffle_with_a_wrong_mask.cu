// The mask names lanes that are elsewhere: that explains the values from nowhere, too.
// run: --grid 1 --block 32 --arg buf:i32:32:iota --arg buf:i32:32
extern "C" __global__ void part(const int* x, int* out)
{
    int lane = threadIdx.x, v = x[lane];
    if (lane < 16) v += __shfl_down_sync(0xffffffffu, v, 16);
    else v += 1;
    __syncwarp();
    out[lane] = v;
}
