// Pointers that change between arrays, parts of one array, a struct, and a swizzle: each stays inside of what it points to.
// run: --grid 1 --block 64 --shared 1024 --arg buf:f32:64:rand --arg buf:f32:64
struct Parts { float low[32]; float high[32]; };

extern "C" __global__ void shuffle(const float* x, float* out)
{
    __shared__ float even[64];
    __shared__ float odd[64];
    __shared__ Parts parts;
    extern __shared__ float pool[];
    float* rest = pool + 64;
    int t = threadIdx.x;
    (t % 2 ? odd : even)[t] = x[t];
    ((float*)&parts)[t] = x[t];
    pool[t ^ (t >> 3 & 7)] = x[t];
    rest[t] = x[t];
    __syncthreads();
    float* from = even;
    float* to = odd;
    float sum = 0.0f;
    for (int k = 0; k < 4; ++k) {
        sum += from[2 * (t / 2) + (from == odd)];
        float* swap = from; from = to; to = swap;
    }
    int mirrored = 63 - t;
    out[t] = sum + (&parts.low[0])[mirrored] + pool[mirrored ^ (mirrored >> 3 & 7)] + rest[mirrored];
}
