// Loads and stores of every width, and what goes wrong with them.

extern "C" __global__ void narrow(const signed char *c, const unsigned char *u, const short *s, const unsigned short *w, long long *out) {
    int i = threadIdx.x;
    out[i] = c[i] + 1000ll * u[i] + 1000000ll * s[i] + 1000000000000ll * w[i];
}
extern "C" __global__ void narrow_stores(signed char *c, short *s, int x) {
    c[threadIdx.x] = threadIdx.x * x; s[threadIdx.x] = threadIdx.x * x * 77;
}
template <class T> __device__ void copy(const char *in, char *out, int shift) {
    ((T *)(out + shift))[threadIdx.x] = ((const T *)(in + shift))[threadIdx.x];
}
extern "C" __global__ void copy2(const char *in, char *out, int shift) { copy<float2>(in, out, shift); }
extern "C" __global__ void copy4(const char *in, char *out, int shift) { copy<float4>(in, out, shift); }
extern "C" __global__ void copy_double2(const char *in, char *out, int shift) { copy<double2>(in, out, shift); }
extern "C" __global__ void copy_uchar4(const char *in, char *out, int shift) { copy<uchar4>(in, out, shift); }
extern "C" __global__ void copy_short2(const char *in, char *out, int shift) { copy<short2>(in, out, shift); }

extern "C" __global__ void through_null(const char *p, char *out) { out[threadIdx.x] = p[threadIdx.x]; }

extern "C" __global__ void say(int n) {
    if (threadIdx.x < n)
        printf("%d|%5.2f|%s|%c|%#x|%lld|%-4d|%%|%e\n", (int)threadIdx.x, threadIdx.x * 0.5f, "text", 'a' + threadIdx.x,
               255u, 1ll << 40, (int)threadIdx.x, 12345.678);
}
extern "C" __global__ void claim(const int *in) {
    int v = in[threadIdx.x];
    if (v < 0) __assertfail("v >= 0", "kernel.cu", 30, "claim", 1);
}
extern "C" __global__ void trapped(const int *in) { if (in[threadIdx.x] == 3) __trap(); }

extern "C" __global__ void async_tail(const float *in, float *out, int n) {
    __shared__ __align__(16) float4 tile[32];
    int i = threadIdx.x, left = n - 4 * i;
    int bytes = left >= 4 ? 16 : left > 0 ? 4 * left : 0;
    unsigned to = (unsigned)__cvta_generic_to_shared(&tile[i]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(in + 4 * i), "r"(bytes));
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 0;");
    __syncthreads();
    ((float4 *)out)[i] = tile[i];
}
