// Only the first warp comes to the barrier inside of the condition.
// run: --grid 1 --block 64 --arg buf:f32:64:rand --arg buf:f32:64
extern "C" __global__ void halves(const float* x, float* out)
{
    __shared__ float cells[64];
    int t = threadIdx.x;
    cells[t] = x[t];
    __syncthreads();
    float v = cells[63 - t];
    if (t < 32) {
        __syncthreads();
        v += 1.0f;
    }
    __syncthreads();
    out[t] = v;
}
