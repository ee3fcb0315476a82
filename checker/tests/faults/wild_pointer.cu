// The pointer comes from a number; the kernel has no shared memory to be outside of.
// run: --grid 1 --block 1 --arg u64:2147483648 --arg buf:f32:1
extern "C" __global__ void read(unsigned long long where, float* out)
{
    *out = *(const float*)where;
}
