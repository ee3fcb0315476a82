// The device half's own kernels. `helper.ptx` is what NVRTC makes of this file; a test keeps the two together.

// What a launch costs when there is nothing to do.
extern "C" __global__ void warplings_empty() {}

// Reads `count` 16-byte words, so that the cache holds them and nothing else. The sum is used in a way that the
// compiler cannot see through and that never happens.
extern "C" __global__ void warplings_read(const uint4* words, unsigned long long count, unsigned* never) {
    unsigned sum = 0;
    const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        const uint4 word = words[i];
        sum |= word.x | word.y | word.z | word.w;
    }
    if (sum != 0) *never = sum;
}

// Counts the 16-byte words in which two buffers differ, and the bytes after the last word. Allocations are aligned.
extern "C" __global__ void warplings_compare(const unsigned char* a, const unsigned char* b, unsigned long long bytes,
                                             unsigned long long* differing) {
    unsigned found = 0;
    const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
    const unsigned long long thread = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned long long i = thread; i < bytes / 16; i += stride) {
        const uint4 x = ((const uint4*)a)[i], y = ((const uint4*)b)[i];
        found += ((x.x ^ y.x) | (x.y ^ y.y) | (x.z ^ y.z) | (x.w ^ y.w)) != 0;
    }
    const unsigned long long rest = bytes / 16 * 16 + thread;
    if (rest < bytes) found += a[rest] != b[rest];
    if (found != 0) atomicAdd(differing, (unsigned long long)found);
}

// Fused multiply-adds and nothing else: 16 independent chains per thread, 16 steps of each in a turn. They converge
// on 1, so no result is denormal, infinite or the number that would be stored.
extern "C" __global__ void warplings_fma(float* never, unsigned turns) {
    float x[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) x[i] = threadIdx.x * 0.001f + i;
    const float factor = 0.5f, offset = 0.5f;
    for (unsigned turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int step = 0; step < 16; ++step) {
#pragma unroll
            for (int i = 0; i < 16; ++i) x[i] = fmaf(x[i], factor, offset);
        }
    }
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < 16; ++i) sum += x[i];
    if (sum == -1.0f) *never = sum;
}
