// Threads that work together: atomics, locks, barriers, warp-level functions.

extern "C" __global__ void atomics(int *i, unsigned long long *l, float *f, unsigned *u) {
    int t = threadIdx.x;
    atomicAdd(&i[0], t); atomicMin(&i[1], -t); atomicMax(&i[2], t); atomicXor(&i[3], 1 << (t & 31)); atomicSub(&i[4], 1);
    atomicAdd(&l[0], 1ull << 33); atomicMax(&l[1], (unsigned long long)t << 35); atomicCAS(&l[2], 0ull, 7ull);
    atomicAdd(&f[0], 0.5f);
    atomicInc(&u[0], 9); atomicDec(&u[1], 9); atomicOr(&u[2], 1u << (t & 31)); atomicAnd(&u[3], ~(1u << (t & 7)));
    atomicExch(&u[4], 42u);
}
__noinline__ __device__ void bump(int *p) { atomicAdd(p, 1); }
extern "C" __global__ void generic_atomics(int *global, int *out) {
    __shared__ int shared;
    if (threadIdx.x == 0) shared = 0;
    __syncthreads();
    bump(threadIdx.x & 1 ? &shared : global);
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = shared;
}
__device__ int lock_word;
extern "C" __global__ void lock_with_flag(int *counter) {
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock_word, 0, 1) == 0) {
            volatile int *c = counter; __threadfence(); *c = *c + 1; __threadfence();
            atomicExch(&lock_word, 0); done = true;
        }
    }
}
extern "C" __global__ void lock_then_go(int *counter) {
    while (atomicCAS(&lock_word, 0, 1) != 0) {}
    volatile int *c = counter; __threadfence(); *c = *c + 1; __threadfence();
    atomicExch(&lock_word, 0);
}
__device__ int two_locks[2];
// Two groups of lanes spin at once, each with the owner of its lock held back where they would meet.
extern "C" __global__ void two_spins(int *counter) {
    int which = threadIdx.x & 1;
    if (which) { while (atomicCAS(&two_locks[1], 0, 1) != 0) {} atomicAdd(&counter[1], 1); __threadfence(); atomicExch(&two_locks[1], 0); }
    else { while (atomicCAS(&two_locks[0], 0, 1) != 0) {} atomicAdd(&counter[0], 1); __threadfence(); atomicExch(&two_locks[0], 0); }
}
// Uneven work with atomics: the lanes that are done wait for the others before the barrier.
extern "C" __global__ void uneven(int *counter, int *out) {
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    int n = threadIdx.x % 32 == 5 ? 5000 : 3;
    for (int k = 0; k < n; k++) atomicAdd(&total, 1);
    __syncthreads();
    if (threadIdx.x == 0) { out[0] = total; atomicAdd(counter, 1); }
}
// The same where the lanes that are late look at a word that does not change for long.
extern "C" __global__ void late(volatile int *flag, int *out) {
    __shared__ int seen[64];
    int n = threadIdx.x % 32 == 5 ? 5000 : 3, sum = 0;
    for (int k = 0; k < n; k++) sum += *flag;
    seen[threadIdx.x] = sum;
    __syncthreads();
    out[threadIdx.x] = seen[63 - threadIdx.x] + __popc(__ballot_sync(~0u, threadIdx.x & 1)) + __syncthreads_count(threadIdx.x < 10);
}
// Lanes 0 and 1 meet from different places while the others wait for what comes after.
extern "C" __global__ void meet_while_others_spin(int *out) {
    __shared__ volatile int flag, box;
    if (threadIdx.x == 0) { flag = 0; box = 0; }
    __syncwarp();
    if (threadIdx.x == 0) { box = 5; __syncwarp(3); out[0] = 1; }
    else if (threadIdx.x == 1) { __syncwarp(3); out[1] = box; __threadfence_block(); atomicExch((int *)&flag, 1); }
    else { while (atomicAdd((int *)&flag, 0) == 0) {} out[threadIdx.x] = 2; }
}
__device__ unsigned tickets;
extern "C" __global__ void last_block(const int *in, int *part, int *out) {
    __shared__ int sums[64]; __shared__ bool last;
    int t = threadIdx.x;
    sums[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    for (int d = 32; d; d /= 2) { if (t < d) sums[t] += sums[t + d]; __syncthreads(); }
    if (t == 0) { part[blockIdx.x] = sums[0]; __threadfence(); last = atomicAdd(&tickets, 1) == gridDim.x - 1; }
    __syncthreads();
    if (last && t == 0) {
        __threadfence();
        int all = 0;
        for (int b = 0; b < gridDim.x; b++) all += ((volatile int *)part)[b];
        *out = all;
    }
}
extern "C" __global__ void reductions(int *out) {
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    out[i] = __syncthreads_count(t % 3 == 0) + 1000 * (__syncthreads_and(t < 50) != 0) + 2000 * (__syncthreads_or(t == 40) != 0);
}
// Warp 0 makes, warp 1 takes: barriers 1 (full) and 2 (empty).
extern "C" __global__ void pipeline(const int *in, int *out) {
    __shared__ int box[32];
    int lane = threadIdx.x % 32;
    for (int k = 0; k < 4; k++) {
        if (threadIdx.x < 32) {
            if (k) asm volatile("bar.sync 2, 64;" ::: "memory");
            box[lane] = in[k * 32 + lane] + 1;
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            out[k * 32 + lane] = box[31 - lane];
            if (k < 3) asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
    }
}
extern "C" __global__ void between_warps(int *out) {
    __shared__ volatile int flag;
    __shared__ int value;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == 33) { value = 77; __threadfence_block(); flag = 1; }
    if (threadIdx.x == 0) { while (!flag) {} __threadfence_block(); out[0] = value; }
}
extern "C" __global__ void waits_for_next_block(volatile int *flag) {
    if (blockIdx.x == 0) { while (!*flag) {} } else *flag = 1;
}
extern "C" __global__ void shuffles(int *out) {
    int t = threadIdx.x, o = 16 * t;
    out[o++] = __shfl_sync(~0u, t, 3, 8);
    out[o++] = __shfl_sync(~0u, t, t + 1, 16);
    out[o++] = __shfl_up_sync(~0u, t, 3, 8);
    out[o++] = __shfl_up_sync(~0u, t, 1);
    out[o++] = __shfl_down_sync(~0u, t, 5, 16);
    out[o++] = __shfl_xor_sync(~0u, t, 9);
    out[o++] = __shfl_xor_sync(~0u, t, 12, 8);
    out[o++] = __ballot_sync(~0u, t % 3 == 0);
    out[o++] = __any_sync(~0u, t == 31) + 2 * __all_sync(~0u, t < 31) + 4 * __all_sync(~0u, t < 32);
    out[o++] = __match_any_sync(~0u, t / 5);
    int same; out[o++] = __match_all_sync(~0u, 7, &same) + same;
    out[o++] = __match_all_sync(~0u, t / 31, &same) + same;
    out[o++] = __reduce_add_sync(~0u, t) + 1000 * __reduce_max_sync(~0u, t - 40);
    out[o++] = t & 4 ? __activemask() : 0;
    out[o++] = t & 4 ? __reduce_or_sync(0xf0f0f0f0u, 1u << t) : 0;
    out[o++] = t < 20 ? __ballot_sync(0xfffffu, t & 1) : __popc(__activemask());
}
extern "C" __global__ void from_inactive(int *out) {
    int v = threadIdx.x;
    if (threadIdx.x < 16) { v = __shfl_down_sync(0xffffu, v, 8); out[threadIdx.x] = v; }
}
extern "C" __global__ void overlap(int *out, int *sum) {
    // Blocks write the same words, and add to them: only the order of blocks decides.
    int t = threadIdx.x;
    out[t % 40] = blockIdx.x * 100 + t;
    sum[t] = sum[t] + blockIdx.x + 1;
}
extern "C" __global__ void shared_race(int *out) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}
