// The last block's surplus threads read and write beyond the vectors.
// expect: out_of_bounds line 9
#include "warplings.cuh"
LAUNCH(256, 1, 1, 256, 1, 1);

__global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}
