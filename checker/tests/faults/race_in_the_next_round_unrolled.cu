// The same with a loop that the compiler unrolls, rows and columns.
// run: --grid 1 --block 16,16 --arg buf:f32:1024:rand --arg buf:f32:256
extern "C" __global__ void sums(const float* x, float* out)
{
    __shared__ float tile[16][17];
    int c = threadIdx.x, r = threadIdx.y;
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
        tile[r][c] = x[256 * k + 16 * r + c];
        __syncthreads();
        sum += tile[c][r];
    }
    out[16 * r + c] = sum;
}
