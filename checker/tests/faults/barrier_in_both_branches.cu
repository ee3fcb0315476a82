// Whole warps take each way, and the two barriers pair up.
// run: --grid 1 --block 64 --arg buf:f32:64:rand --arg buf:f32:64
extern "C" __global__ void reverse(const float* x, float* out)
{
    __shared__ float cells[64];
    int t = threadIdx.x;
    if (t < 32) {
        cells[t] = x[t];
        __syncthreads();
    } else {
        cells[t] = -x[t];
        __syncthreads();
    }
    out[t] = cells[63 - t];
}
