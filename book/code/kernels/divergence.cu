// The same work, divided between f and g by lane or by warp.
__device__ float f(float x, int steps)
{
    for (int s = 0; s < steps; ++s) x = x * 0.5f + 1.0f;
    return x;
}

__device__ float g(float x, int steps)
{
    for (int s = 0; s < steps; ++s) x = (x + 3.0f) * x;
    return x;
}

__global__ void by_lane(float* x, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = threadIdx.x % 2 == 0 ? f(x[i], steps) : g(x[i], steps);
}

__global__ void by_warp(float* x, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = (threadIdx.x / 32) % 2 == 0 ? f(x[i], steps) : g(x[i], steps);
}
