// One warp; lane i works on word stride * i of shared memory.
__global__ void strided_shared(const float* x, float* y, int stride)
{
    extern __shared__ float words[];
    int i = threadIdx.x;
    words[stride * i] = x[i];
    __syncthreads();
    y[i] = words[stride * i];
}
