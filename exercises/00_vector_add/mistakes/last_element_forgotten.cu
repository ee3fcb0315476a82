// The guard excludes the last element.
// expect: wrong_values
#include "warplings.cuh"
LAUNCH(256, 1, 1, 256, 1, 1);

__global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1) c[i] = a[i] + b[i];
}
