// A tree of sums without the barrier between its levels.
// run: --grid 1 --block 128 --arg buf:f32:128:rand --arg buf:f32:1
extern "C" __global__ void sum(const float* x, float* out)
{
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2)
        if (t < half) s[t] += s[t + half];
    if (t == 0) *out = s[0];
}
