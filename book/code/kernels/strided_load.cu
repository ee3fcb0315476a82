// One warp; lane i loads x[stride * i + offset].
__global__ void strided_load(const float* x, float* y, int stride, int offset)
{
    int i = threadIdx.x;
    y[i] = x[stride * i + offset];
}
