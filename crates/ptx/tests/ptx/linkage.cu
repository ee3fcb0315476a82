// Separate compilation, external variables, clusters, register limits, functions that never return, textures.
extern "C" __device__ void other(int*);
extern __shared__ int dyn[];
extern __shared__ float4 dyn4[];
extern __device__ int elsewhere;
extern __constant__ int elsewhere_const[4];
__device__ __noinline__ void mine(int* p, float4 v, const int (&arr)[4]) { *p += v.x + arr[2]; other(p); }
extern "C" __global__ void __launch_bounds__(256) separate(int* __restrict__ p, const float4* __restrict__ q, const __grid_constant__ float4 par) {
    int arr[4] = {1, 2, 3, elsewhere + elsewhere_const[p[1]]}; mine(p, q[threadIdx.x], arr); other(p + 1); dyn[0] = 2; dyn4[1] = par;
}
#if __CUDA_ARCH__ >= 900
__global__ __cluster_dims__(2,1,1) void clustered(int* p) { *p = 1; }
#endif
__global__ void __maxnreg__(40) limited(int *p) { *p = 1; }
[[noreturn]] __device__ __noinline__ void die() { __trap(); while (1); }
__global__ void tests(int* p) { if (*p) die(); if (p[1] == 4) __builtin_unreachable(); asm("exit;"); }
__global__ void textures(float* out, unsigned long long tex, unsigned long long surf) {
  float x, y, z, w; asm volatile("tex.2d.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5, %6}];" : "=f"(x), "=f"(y), "=f"(z), "=f"(w) : "l"(tex), "f"(1.0f), "f"(2.0f));
  int a; asm volatile("suld.b.2d.b32.trap %0, [%1, {%2, %3}];" : "=r"(a) : "l"(surf), "r"(1), "r"(2));
  asm volatile("tex.1d.v4.f32.s32 {%0,%1,%2,%3}, [%4, {%5}];" : "=f"(x), "=f"(y), "=f"(z), "=f"(w) : "l"(tex), "r"(1));
  out[0] = x + y + z + w + a;
}
