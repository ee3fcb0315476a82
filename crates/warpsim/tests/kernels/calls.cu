// Calls: recursion, pointers to functions, structures by value, local arrays, generic pointers.

__noinline__ __device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
extern "C" __global__ void recursion(int *out) { out[threadIdx.x] = fib(threadIdx.x % 12); }

__noinline__ __device__ int endless(int n) { return n + endless(n * 2 + 1) * 3; }
extern "C" __global__ void no_end(int *out) { out[threadIdx.x] = endless(threadIdx.x); }

__noinline__ __device__ int twice(int x) { return 2 * x; }
__noinline__ __device__ int square(int x) { return x * x; }
__noinline__ __device__ int negate(int x) { if (x == 7) return 700; return -x; }
typedef int (*Function)(int);
__device__ Function global_table[3] = {twice, square, negate};
__constant__ Function constant_table[3] = {negate, twice, square};
extern "C" __global__ void pointers(int *out) {
    int i = threadIdx.x, r = i;
    if (i % 5) r = global_table[i % 3](r);
    out[i] = constant_table[i / 8 % 3](r);
}

struct Item { char tag; double weight; short pair[3]; const int *data; };
__noinline__ __device__ Item change(Item item, int by) {
    item.weight *= by; item.pair[by & 1] += by; item.tag++; return item;
}
extern "C" __global__ void structures(Item item, double *out) {
    int i = threadIdx.x;
    Item c = change(item, i);
    out[i] = c.weight + c.tag + c.pair[0] + 10 * c.pair[1] + 100 * c.pair[2] + c.data[i];
}

extern "C" __global__ void local_array(int *out, int n) {
    int a[24], i = threadIdx.x;
    for (int k = 0; k < 24; k++) a[k] = k * i;
    for (int k = 0; k < n; k++) { int t = a[k % 24]; a[k % 24] = a[(k * 7 + i) % 24]; a[(k * 7 + i) % 24] = t; }
    int sum = 0;
    for (int k = 0; k < 24; k++) sum = sum * 3 + a[k];
    out[i] = sum;
}

__noinline__ __device__ int sum_of(const int *p, int n) { int s = 0; for (int k = 0; k < n; k++) s += p[k]; return s; }
__noinline__ __device__ void put(int *p, int v) { *p = v; }
__constant__ int constants[8] = {1, 2, 3, 5, 8, 13, 21, 34};
extern "C" __global__ void generic(const int *in, int *out, int n) {
    __shared__ int shared[64];
    int mine[6], i = threadIdx.x;
    shared[i] = 10 * i;
    for (int k = 0; k < 6; k++) put(&mine[(k + n) % 6], k + i);
    __syncthreads();
    // Lanes of one warp go to different memories with one instruction.
    const int *p = i % 4 == 0 ? shared + i / 4 : i % 4 == 1 ? mine : i % 4 == 2 ? constants : in + i;
    out[i] = sum_of(p, 4);
}

struct Node { int value; Node *next; };
__device__ Node third = {5, nullptr};
__device__ Node second = {4, &third};
__device__ Node first = {3, &second};
__device__ int numbers[5] = {9, 8, 7, 6, 5};
__device__ int *into = numbers + 2;
__constant__ int *from_constant = numbers + 4;
extern "C" __global__ void linked(int *out) {
    Node *n = &first;
    for (int k = 0; k < (int)threadIdx.x % 3; k++) n = n->next;
    out[threadIdx.x] = n->value * 100 + *into * 10 + *from_constant;
}

__noinline__ __device__ int warp_sum(int v, unsigned mask) {
    for (int d = 8; d; d /= 2) v += __shfl_xor_sync(mask, v, d);
    return v;
}
extern "C" __global__ void call_in_branch(int *out) {
    int i = threadIdx.x;
    if (i & 16) out[i] = warp_sum(i, 0xffff0000u); else out[i] = warp_sum(2 * i, 0xffffu) + 1;
}
