// Rows of 5: the last float4 begins inside of the buffer, passes its end, and is misaligned in the first place.
// run: --grid 1 --block 1 --arg buf:f32:10:rand --arg buf:f32:4
extern "C" __global__ void last(const float* x, float* out)
{
    *(float4*)out = *(const float4*)(x + 5 + 2);
}
