// Says that a block makes 512 elements, but makes 256: half of the vector is never written.
// expect: wrong_values
#include "warplings.cuh"
LAUNCH(256, 1, 1, 512, 1, 1);

__global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    int i = blockIdx.x * 512 + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
