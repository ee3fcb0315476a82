// Constant and global tables, pointers to other globals, structs, dynamic indices.
__constant__ float weights[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
__device__ int counter = 5;
__device__ int* counter_address = &counter;
__device__ float table[4][3] = {{1, 2, 3}, {4}, {}, {7, 8, 9}};
__device__ float* rows[3] = {table[0], table[1] + 1, &table[3][2]};
struct Node { char tag; short s; Node* next; double d; const char* name; };
__device__ Node tail = {'b', -2, nullptr, 2.5, "tail"};
__device__ Node head = {'a', 1, &tail, -1.5, "head"};
__device__ const char* names[] = {"one", "two", "three"};
__device__ double pi = 3.141592653589793;
__device__ long long big = -9223372036854775807LL - 1;
__device__ unsigned long long huge = 0xFFFFFFFFFFFFFFFFull;
__device__ float specials[4] = {3e38f, -1e30f, 1e-40f, -0.0f};
__device__ unsigned char bytes[5] = {255, 0, 1};
__device__ float4 quads[2] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
__device__ volatile int flag;
__managed__ int shared_by_all = 3;
__shared__ float fixed[128];
struct __align__(16) P { char c; int* p; };
__device__ P packed = {'x', &counter};
#pragma pack(1)
struct Q { char c; int* p; int k; };
#pragma pack()
__device__ Q really_packed = {'x', &counter, 7};
__device__ int grid3[2][2][2] = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}};
extern "C" __global__ void data(float* out, int k) {
    __shared__ __align__(16) double tile[32];
    __shared__ float4 v[4];
    static __device__ int inside = 9;
    static __shared__ int s2[3];
    s2[k % 3] = k; tile[k] = pi; v[k & 3] = quads[k & 1];
    __syncthreads();
    fixed[k] = weights[k] + table[k][k] + *rows[k] + specials[k];
    out[k] = *counter_address + names[k][0] + head.next->d + head.name[1] + big + huge + bytes[k] + flag + shared_by_all + fixed[0] + tile[1] + v[k&3].x + (inside++) + s2[0] + packed.p[0] + really_packed.p[0] + grid3[k&1][k&1][k&1];
    counter += k;
}
