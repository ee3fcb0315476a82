// cp.async, ldmatrix, mma, half2, and the warp instructions.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void tensor(const __half* A, float* C, const float* G) {
    __shared__ __align__(128) __half tile[16 * 16];
    __shared__ __align__(16) float buffer[256];
    unsigned s = (unsigned)__cvta_generic_to_shared(buffer + threadIdx.x * 4);
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" :: "r"(s), "l"(G + threadIdx.x * 4));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" :: "r"(s), "l"(G), "r"(0));
    asm volatile("cp.async.commit_group;"); asm volatile("cp.async.wait_group 0;");
    tile[threadIdx.x] = A[threadIdx.x];
    __syncthreads();
    unsigned a0, a1, a2, a3, b0 = 0, b1 = 1;
    unsigned t = (unsigned)__cvta_generic_to_shared(tile + (threadIdx.x & 15) * 16);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(a0), "=r"(a1), "=r"(a2), "=r"(a3) : "r"(t));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(b0), "=r"(b1) : "r"(t));
    float c0 = 0, c1 = 0, c2 = 0, c3 = 0;
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    __half2 h = __hfma2(__floats2half2_rn(c0, c1), __float2half2_rn(2.f), __half2half2(A[1]));
    __nv_bfloat162 z = __floats2bfloat162_rn(c2, c3); z = __hadd2(z, z);
    C[threadIdx.x] = __low2float(h) + c2 + c3 + buffer[threadIdx.x] + __low2float(z);
    unsigned m = __ballot_sync(~0u, c0 > 0); m += __match_any_sync(~0u, m); int pr; m += __match_all_sync(~0u, m, &pr);
    m += __reduce_add_sync(~0u, m) + __activemask() + pr + __shfl_xor_sync(~0u, m, 16) + __all_sync(~0u, m) + __syncthreads_count(m > 3);
    C[m & 31] += m; atomicMax((int*)C, (int)m); atomicCAS((unsigned long long*)C, 1ull, 2ull); atomicAdd((double*)C, 1.0); atomicAdd((__half2*)C, h); atomicAdd_block((int*)C, 2); atomicAdd_system((int*)C, 2);
    __nanosleep(20); C[1] = clock() + clock64(); __threadfence_system(); __syncwarp();
}
