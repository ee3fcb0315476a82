// A shuffle is no barrier.
// run: --grid 1 --block 32 --arg buf:i32:32:rand --arg buf:i32:32
extern "C" __global__ void pick(const int* x, int* out)
{
    __shared__ int keep[32];
    int lane = threadIdx.x;
    unsigned votes = __ballot_sync(0xffffffffu, x[lane] > 0);
    keep[31 - lane] = votes >> lane & 1;
    int first = __shfl_sync(0xffffffffu, lane, 0);
    out[lane] = keep[lane] + first;
}
