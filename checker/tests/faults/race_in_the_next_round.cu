// The tile is loaded anew while others still read it: the second barrier is missing.
// run: --grid 1 --block 64 --arg buf:f32:256:rand --arg buf:f32:64 --arg i32:4
extern "C" __global__ void sums(const float* x, float* out, int rounds)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < rounds; ++k) {
        tile[t] = x[64 * k + t];
        __syncthreads();
        for (int i = 0; i < 64; ++i) sum += tile[i] * i;
    }
    out[t] = sum;
}
