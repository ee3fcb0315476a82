// The lock is taken and given back by atomics, but nothing keeps what it guards inside.
// run: --grid 2 --block 32 --arg buf:i32:1:zero --arg buf:i32:1:zero
extern "C" __global__ void count(int* lock, int* number)
{
    if (threadIdx.x != 0) return;
    while (atomicCAS(lock, 0, 1) != 0) { }
    *number += 1;
    atomicExch(lock, 0);
}
