// Control flow: every kernel writes one number per thread that a test computes in Rust.

extern "C" __global__ void nested(int *out) {
    int i = threadIdx.x, r = 0;
    if (i & 1) {
        if (i & 2) { r = i * 3; if (i & 4) r += 100; else r -= 7; }
        else r = i + 1000;
        r ^= 5;
    } else if (i % 3 == 0) {
        r = -i;
    } else {
        for (int k = 0; k < i; k++) { if (k % 5 == 4) continue; r += k; if (r > 60) break; }
    }
    out[blockIdx.x * blockDim.x + i] = r + 1;
}

extern "C" __global__ void early_return(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int steps = 0;
    unsigned v = in[i];
    while (true) {
        if (v == 1) { out[i] = steps; return; }
        v = v & 1 ? 3 * v + 1 : v / 2;
        if (++steps > 200) { out[i] = -1; return; }
    }
}

extern "C" __global__ void switched(int *out) {
    int i = threadIdx.x, r;
    switch (i % 9) {
    case 0: r = 1; break;
    case 1: r = i; // falls through
    case 2: r = i + 5; break;
    case 3: r = i * i; break;
    case 4: r = out[i]; break;
    case 5: r = ~i; break;
    case 7: r = i << 3; break;
    default: r = -i;
    }
    out[i] = r;
}

extern "C" __global__ void empty() {}

extern "C" __global__ void coordinates(unsigned *out) {
    unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned size = blockDim.x * blockDim.y * blockDim.z;
    unsigned lane; asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    unsigned warp; asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    out[block * size + thread] = lane | warp << 8 | threadIdx.z << 16 | blockIdx.y << 24;
}

extern "C" __global__ void grid_stride(const float *x, float *y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = 2.0f * x[i] + 1.0f;
}
