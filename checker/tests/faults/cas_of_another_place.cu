// What the ordinary load gives is confirmed by nobody: atomicCAS is on another element.
// run: --grid 2 --block 32 --arg buf:i32:2:zero
extern "C" __global__ void count(int* x)
{
    int old = x[0];
    atomicCAS(&x[1], old, old + 1);
    atomicAdd(&x[0], 1);
}
