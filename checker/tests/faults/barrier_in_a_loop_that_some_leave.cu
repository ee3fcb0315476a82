// 40 elements for 32 threads: in the second round 24 of them are not there.
// run: --grid 1 --block 32 --arg buf:i32:40:rand --arg buf:i32:1:zero --arg i32:40
extern "C" __global__ void odd(const int* x, int* out, int n)
{
    __shared__ int seen;
    if (threadIdx.x == 0) seen = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        __syncthreads();
        if (x[i] & 1) atomicAdd(&seen, 1);
        __syncthreads();
        if (threadIdx.x == 0) out[0] = seen;
    }
}
