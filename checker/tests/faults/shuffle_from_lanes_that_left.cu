// Half of the warp has left; the others ask it.
// run: --grid 1 --block 32 --arg buf:i32:32:iota --arg buf:i32:32
extern "C" __global__ void halves(const int* x, int* out)
{
    int lane = threadIdx.x;
    if (lane >= 16) return;
    out[lane] = __shfl_down_sync(0xffffffffu, x[lane], 16);
}
