// No GPU launches a block of 2,048 threads.
// expect: compile_error line 4
#include "warplings.cuh"
LAUNCH(2048, 1, 1, 2048, 1, 1);

__global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
