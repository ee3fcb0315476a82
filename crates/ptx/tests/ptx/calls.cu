// Calls that are not inlined, recursion, function pointers, printf and assert.
__noinline__ __device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__noinline__ __device__ float add(float a, float b) { return a + b; }
__noinline__ __device__ float mul(float a, float b) { return a * b; }
typedef float (*binary)(float, float);
__device__ binary operations[2] = {add, mul};
__constant__ binary operations_const[2] = {mul, add};
struct Big { int a[10]; double d; };
__noinline__ __device__ Big make(Big b, int k) { b.a[k] += 1; b.d *= 2; return b; }
extern "C" __global__ void calls(int* out, float* f, int which) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = fib(i & 7);
    f[i] = operations[which](f[i], 2.0f) + operations_const[which & 1](f[i], 3.0f);
    if (i == 0) printf("value %d %f %s\n", out[i], f[i], "text");
    Big b; for (int k = 0; k < 10; k++) b.a[k] = out[k]; b.d = f[0];
    Big c = make(b, which);
    out[i] = c.a[which] + (int)c.d;
    if (out[i] < 0) __trap();
}
struct Shape { __device__ virtual float area() const = 0; int id; };
struct Square : Shape { float s; __device__ float area() const override { return s * s; } };
struct Circle : Shape { float r; __device__ float area() const override { return 3.14f * r * r; } };
extern "C" __global__ void virtuals(float* out, int n) {
    Square s; s.s = out[0]; Circle c; c.r = out[1];
    Shape* p = n > 3 ? (Shape*)&s : (Shape*)&c;
    out[threadIdx.x] = p->area();
}
extern "C" __device__ void __assertfail(const char*, const char*, unsigned, const char*, size_t);
extern "C" __global__ void asserts(int* p) {
    if (p[threadIdx.x] != 3) __assertfail("p[threadIdx.x] == 3", "kernel.cu", 12, "asserts", 1);
    void* q = malloc(16); free(q);
}
