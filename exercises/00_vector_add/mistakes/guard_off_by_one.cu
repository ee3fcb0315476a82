// One thread too many: element n does not exist.
// expect: out_of_bounds line 9
#include "warplings.cuh"
LAUNCH(256, 1, 1, 256, 1, 1);

__global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) c[i] = a[i] + b[i];
}
