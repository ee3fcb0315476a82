// An ordinary store gives the lock back.
// run: --grid 2 --block 32 --arg buf:i32:1:zero --arg buf:i32:1:zero
extern "C" __global__ void count(int* lock, int* number)
{
    if (threadIdx.x != 0) return;
    while (atomicCAS(lock, 0, 1) != 0) { }
    __threadfence();
    *number += 1;
    __threadfence();
    *lock = 0;
}
