// Kernels whose memory traffic Nsight Compute measured on an H200; the simulator's counters are held against it.
// All take (in, out, n); 4 blocks of 128 threads, or of 32 x 4 for those with tiles.

extern "C" __global__ void copy(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i];
}
extern "C" __global__ void offset_by_one(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 1 < n) out[i + 1] = in[i + 1];
}
extern "C" __global__ void stride_three(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[3 * i];
}
extern "C" __global__ void store_down_a_column(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i % 32 * 64 + i / 32] = in[i];
}
extern "C" __global__ void pairs(const float2* in, float2* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}
extern "C" __global__ void quads(const float4* in, float4* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}
extern "C" __global__ void quads_strided(const float4* in, float4* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i * 2 + 1];
}
extern "C" __global__ void odd_lanes(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x & 1) out[i] = in[i];
}
extern "C" __global__ void bytes(const unsigned char* in, unsigned char* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i * 5] = in[i * 7];
}
extern "C" __global__ void doubles(const double* in, double* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * 2.0;
}
extern "C" __global__ void gathered(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[(i * 769 + 13) % 2048];
}
extern "C" __global__ void add_atomically(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&out[i / 8], in[i]);
}
extern "C" __global__ void tile_unpadded(const float* in, float* out, int n) {
    __shared__ float tile[32][32];
    int x = threadIdx.x, y = threadIdx.y, b = blockIdx.x * 32;
    for (int r = y; r < 32; r += 4) tile[r][x] = in[r * 128 + b + x];
    __syncthreads();
    for (int r = y; r < 32; r += 4) out[(b + r) * 32 + x] = tile[x][r];
}
extern "C" __global__ void tile_padded(const float* in, float* out, int n) {
    __shared__ float tile[32][33];
    int x = threadIdx.x, y = threadIdx.y, b = blockIdx.x * 32;
    for (int r = y; r < 32; r += 4) tile[r][x] = in[r * 128 + b + x];
    __syncthreads();
    for (int r = y; r < 32; r += 4) out[(b + r) * 32 + x] = tile[x][r];
}
extern "C" __global__ void shared_pairs(const float* in, float* out, int n) {
    __shared__ float2 pair[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    pair[t * 2 % 255] = make_float2(in[i], in[i + 1]);
    __syncthreads();
    out[i] = pair[(t + 7) * 2 % 255].y;
}
extern "C" __global__ void shared_quads(const float* in, float* out, int n) {
    __shared__ float4 quad[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    quad[t] = make_float4(in[i], in[i + 1], in[i + 2], in[i + 3]);
    __syncthreads();
    float4 q = quad[t * 3 % 128];
    out[i] = q.x + q.w;
}
