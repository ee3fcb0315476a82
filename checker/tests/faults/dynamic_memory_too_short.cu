// 64 floats are needed, and half of that is asked for; then nothing at all.
// run: --grid 1 --block 64 --shared 128 --arg buf:f32:64:rand --arg buf:f32:64
// run: --grid 1 --block 64 --arg buf:f32:64:rand --arg buf:f32:64
extern "C" __global__ void reverse(const float* x, float* out)
{
    extern __shared__ float cells[];
    int t = threadIdx.x;
    cells[t] = x[t];
    __syncthreads();
    out[t] = cells[63 - t];
}
