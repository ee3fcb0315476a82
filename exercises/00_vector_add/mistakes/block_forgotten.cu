// Every block computes the first 256 elements; the rest is never written.
// expect: wrong_values
#include "warplings.cuh"
LAUNCH(256, 1, 1, 256, 1, 1);

__global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    int i = threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
