// The programming guide's atomic functions: what an ordinary load guesses, atomicCAS confirms.
// run: --kernel add --grid 2 --block 64 --arg buf:f64:128:rand --arg buf:f64:1:zero
// run: --kernel top --grid 2 --block 64 --arg buf:f32:128:rand --arg buf:f32:1:zero
// run: --kernel halves --grid 2 --block 32 --arg buf:f32:1:zero
#include <cuda_bf16.h>

extern "C" __global__ void add(const double* x, double* sum)
{
    unsigned long long* place = (unsigned long long*)sum;
    unsigned long long old = *place, guess;
    do {
        guess = old;
        double next = __longlong_as_double(guess) + x[blockIdx.x * blockDim.x + threadIdx.x];
        old = atomicCAS(place, guess, __double_as_longlong(next));
    } while (old != guess);
}

extern "C" __global__ void top(const float* x, float* most)
{
    float old = *most, guess;
    do {
        guess = old;
        float next = fmaxf(guess, x[blockIdx.x * blockDim.x + threadIdx.x]);
        old = __int_as_float(atomicCAS((int*)most, __float_as_int(guess), __float_as_int(next)));
    } while (old != guess);
}

extern "C" __global__ void halves(__nv_bfloat162* sum) { atomicAdd(sum, __floats2bfloat162_rn(1.0f, 2.0f)); }
