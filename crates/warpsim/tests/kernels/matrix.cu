// Tensor cores through `wmma`. Compiled with the header mma.h of CUDA 12.9.
#include <mma.h>
using namespace nvcuda::wmma;

// c = 2 (a b) + c, element-wise operations on fragments included. Strides are in elements.
template <class T, class Sum, int M, int N, int K, class LayoutA, class LayoutB>
__device__ void multiply(const T* a, const T* b, Sum* c, int lda, int ldb, int ldc, layout_t layout) {
    fragment<matrix_a, M, N, K, T, LayoutA> fa;
    fragment<matrix_b, M, N, K, T, LayoutB> fb;
    fragment<accumulator, M, N, K, Sum> sum, old;
    load_matrix_sync(fa, a, lda);
    load_matrix_sync(fb, b, ldb);
    load_matrix_sync(old, c, ldc, layout);
    fill_fragment(sum, Sum(0));
    mma_sync(sum, fa, fb, sum);
    for (int i = 0; i < sum.num_elements; i++) sum.x[i] = Sum(2) * sum.x[i] + old.x[i];
    store_matrix_sync(c, sum, ldc, layout);
}

#define KERNEL(name, T, Sum, M, N, K, LayoutA, LayoutB, layout)                                                      \
    extern "C" __global__ void name(const T* a, const T* b, Sum* c, int lda, int ldb, int ldc) {                     \
        multiply<T, Sum, M, N, K, LayoutA, LayoutB>(a, b, c, lda, ldb, ldc, layout);                                 \
    }
KERNEL(half_row_col, half, float, 16, 16, 16, row_major, col_major, mem_row_major)
KERNEL(half_col_row, half, float, 16, 16, 16, col_major, row_major, mem_col_major)
KERNEL(half_tall, half, float, 32, 8, 16, row_major, row_major, mem_row_major)
KERNEL(half_wide, half, float, 8, 32, 16, col_major, col_major, mem_row_major)
KERNEL(half_in_half, half, half, 16, 16, 16, row_major, row_major, mem_row_major)
KERNEL(half_in_half_tall, half, half, 32, 8, 16, col_major, row_major, mem_col_major)
KERNEL(bfloat, __nv_bfloat16, float, 16, 16, 16, row_major, col_major, mem_col_major)
KERNEL(bfloat_wide, __nv_bfloat16, float, 8, 32, 16, row_major, row_major, mem_row_major)
KERNEL(bytes, signed char, int, 16, 16, 16, row_major, col_major, mem_row_major)
KERNEL(bytes_tall, signed char, int, 32, 8, 16, col_major, row_major, mem_row_major)
KERNEL(doubles, double, double, 8, 8, 4, row_major, col_major, mem_row_major)
KERNEL(doubles_across, double, double, 8, 8, 4, col_major, row_major, mem_col_major)

extern "C" __global__ void tf32(const float* a, const float* b, float* c, int lda, int ldb, int ldc) {
    fragment<matrix_a, 16, 16, 8, precision::tf32, row_major> fa;
    fragment<matrix_b, 16, 16, 8, precision::tf32, col_major> fb;
    fragment<accumulator, 16, 16, 8, float> sum;
    load_matrix_sync(fa, a, lda);
    load_matrix_sync(fb, b, ldb);
    load_matrix_sync(sum, c, ldc, mem_row_major);
    for (int i = 0; i < fa.num_elements; i++) fa.x[i] = 2 * __float_to_tf32(fa.x[i]);
    mma_sync(sum, fa, fb, sum);
    store_matrix_sync(c, sum, ldc, mem_row_major);
}

// Through shared memory, by two warps, the accumulator staged there too.
extern "C" __global__ void staged(const half* a, const half* b, float* c) {
    __shared__ half tile[2][16][24];
    __shared__ float out[2][16][16];
    int warp = threadIdx.x / 32;
    for (int i = threadIdx.x; i < 256; i += 64) {
        tile[0][i / 16][i % 16] = a[i];
        tile[1][i / 16][i % 16] = b[i];
    }
    __syncthreads();
    fragment<matrix_a, 16, 16, 16, half, row_major> fa;
    fragment<matrix_b, 16, 16, 16, half, row_major> fb;
    fragment<accumulator, 16, 16, 16, float> sum;
    load_matrix_sync(fa, &tile[0][0][0], 24);
    load_matrix_sync(fb, &tile[1][0][0], 24);
    fill_fragment(sum, float(warp));
    mma_sync(sum, fa, fb, sum);
    store_matrix_sync(&out[warp][0][0], sum, 16, mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += 64) c[i] = out[0][i / 16][i % 16] + out[1][i / 16][i % 16];
}
