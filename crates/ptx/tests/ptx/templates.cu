// Templates, launch bounds, library functions with slow paths, wide arithmetic.
template <typename T, int N> __device__ T poly(T x) {
    T r = 0;
    for (int i = 0; i < N; i++) r = r * x + T(i) / 3;
    return r;
}
template <typename T, int N> __global__ void evaluate(T* out, T x) {
    out[threadIdx.x] = exp(x) + sqrt(x) / x + poly<T, N>(x) + rsqrt(x);
}
template __global__ void evaluate<float, 4>(float*, float);
template __global__ void evaluate<double, 7>(double*, double);
extern "C" __global__ void __launch_bounds__(128, 4)
bounded(long long* p, unsigned long long q, short s, char c, bool b) {
    p[0] = q / 7 + q % (unsigned long long)p[1] + s + c + b + __mul64hi(p[2], p[3]) + __mulhi(s, c) + min(s, c)
         + __double2ll_rz(p[5] * 1.5) + __float_as_int(1.0f * p[6]) + __fdividef(p[8], 3.0f) + __dp4a(s, c, 9);
    p[1] = __int128(q) * 3 >> 64;
}
