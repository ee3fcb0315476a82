// Each block reads the first element of the next one.
// run: --grid 2 --block 64 --arg buf:f32:129:rand
extern "C" __global__ void shift(float* x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float next = x[i + 1];
    __syncthreads();
    x[i] = next;
}
