// Not every element of the array is set.
// run: --grid 1 --block 32 --arg buf:i32:32 --arg i32:3
extern "C" __global__ void pick(int* out, int k)
{
    int own[4];
    for (int i = 0; i < 3; ++i) own[(threadIdx.x + i) % 3] = i;
    out[threadIdx.x] = own[(threadIdx.x + k) % 4];
}
