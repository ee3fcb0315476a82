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

// Counts the bytes in which two buffers differ.
extern "C" __global__ void warplings_compare(const unsigned char* a, const unsigned char* b, unsigned long long bytes,
                                             unsigned long long* differing) {
    unsigned found = 0;
    const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < bytes; i += stride) {
        found += a[i] != b[i];
    }
    if (found != 0) atomicAdd(differing, (unsigned long long)found);
}
