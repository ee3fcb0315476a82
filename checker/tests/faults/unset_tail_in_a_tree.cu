// The tail of the last block's cells is never written. The sum takes it in on line 12; what is stored on line 15 was
// written, but not from anything.
// run: --grid 2 --block 128 --arg buf:f32:200:rand --arg buf:f32:2 --arg i32:200
extern "C" __global__ void sums(const float* x, float* out, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    if (i < n) s[t] = x[i];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
