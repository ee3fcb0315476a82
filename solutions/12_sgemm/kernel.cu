// 12  SGEMM: everything together.
//
// Three levels of tiles, each for one kind of memory:
//
//     a block makes 256 x 128 elements of C, from tiles in shared memory                    (02, 03)
//     a warp  makes  64 x 64 of these, so that its lanes share most of what they read
//     a thread makes 16 x  8 of these, by outer products in registers                       (04)
//
// and three ways to wait for none of them: float4 wherever four neighbours move together (08), loads that lie in different
// banks (06), and something to do while data is in flight, at every level (11):
//
//     global -> registers     started a whole phase before they are stored in shared memory
//     registers -> shared     stored in the middle of a phase, read after the barrier at its end
//     shared -> registers     the factors of step k + 1 are loaded before the products of step k
#include "warplings.cuh"

#define BLOCK_M 256 // rows of C per block
#define BLOCK_N 128 // columns of C per block
#define BLOCK_K 8   // depth of the tiles
#define THREAD_M 16 // rows of C per thread
#define THREAD_N 8  // columns of C per thread
#define LANES_M 4   // a warp is 4 x 8 threads
#define LANES_N 8
#define WARP_M (LANES_M * THREAD_M) // 64
#define WARP_N (LANES_N * THREAD_N) // 64
#define THREADS (32 * (BLOCK_M / WARP_M) * (BLOCK_N / WARP_N)) // 8 warps
#define PAD 4 // keeps the transposed stores of A out of each other's banks, and rows at multiples of 16 bytes

// The numbers follow from the limits. 128 sums, twice 24 factors and 12 floats in flight take some 220 of 255 registers: one
// block of 256 threads fills the register file of an SM. Per k, a thread loads 24 floats, as 6 float4, for 128 multiply-adds.
// A block loads 384 floats per k for 32,768 multiply-adds: 43 operations per byte.
LAUNCH(/*block*/ THREADS, 1, 1, /*work per block*/ BLOCK_N, BLOCK_M, 1);

// The block's tiles. A lies transposed, so that the rows a thread needs for one k are neighbours and come as float4 too. B has
// its columns swapped in pairs (1, 0, 3, 2, ...), for the register file's sake: see the products below.
struct Tiles {
    float a[BLOCK_K][BLOCK_M + PAD];
    float b[BLOCK_K][BLOCK_N];
};

#define NEXT_ROW_A (BLOCK_M + PAD)                              // from one k to the next, in floats
#define NEXT_BUFFER ((int)(sizeof(Tiles) / sizeof(float)))      // from one buffer to the other, in floats
#define A_LOADS (BLOCK_M * BLOCK_K / 4 / THREADS)               // 2 float4 per thread
#define B_LOADS (BLOCK_N * BLOCK_K / 4 / THREADS)               // 1
#define A_PER_ROW (BLOCK_K / 4)                                 // two threads per row of A: 32 bytes, a whole sector
#define B_PER_ROW (BLOCK_N / 4)                                 // a warp per row of B: 512 bytes

// Loads four neighbours of a row, from column `col` on, with zeros from outside. What is `guarded` is known when compiling: a
// block that lies inside entirely, as most do, goes without the comparisons.
template <bool guarded>
__device__ __forceinline__ float4 load4(const float* from, bool row_inside, int col, int cols)
{
    if (!guarded) return *reinterpret_cast<const float4*>(from);
    float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (!row_inside) return v;
    if (cols % 4 == 0) { // rows start at multiples of 16 bytes
        if (col < cols) v = *reinterpret_cast<const float4*>(from);
    } else {
        if (col + 0 < cols) v.x = from[0];
        if (col + 1 < cols) v.y = from[1];
        if (col + 2 < cols) v.z = from[2];
        if (col + 3 < cols) v.w = from[3];
    }
    return v;
}

// The other way.
template <bool guarded>
__device__ __forceinline__ void store4(const float* v, float* to, bool row_inside, int col, int cols)
{
    if (!guarded || (row_inside && cols % 4 == 0 && col < cols)) {
        *reinterpret_cast<float4*>(to) = make_float4(v[0], v[1], v[2], v[3]);
    } else if (row_inside) {
        #pragma unroll
        for (int i = 0; i < 4; ++i) {
            if (col + i < cols) to[i] = v[i];
        }
    }
}

// A thread's share of the next tiles, in flight from global to shared memory. `fetch` only starts the loads; a register that
// is not there yet stops the thread where it is first used, which is in `put`.
template <bool guarded>
struct Share {
    float4 a[A_LOADS];
    float4 b[B_LOADS];
    const float* from_a[A_LOADS]; // Pointers that move on, rather than addresses computed anew: every instruction
    const float* from_b[B_LOADS]; // in the loop that is no multiply-add takes the place of one.
    int k0;

    __device__ __forceinline__ void start(const float* A, const float* B, int row0, int col0, int N, int K)
    {
        k0 = 0;
        #pragma unroll
        for (int i = 0; i < A_LOADS; ++i) {
            int e = threadIdx.x + i * THREADS;
            from_a[i] = A + (size_t)(row0 + e / A_PER_ROW) * K + e % A_PER_ROW * 4;
        }
        #pragma unroll
        for (int i = 0; i < B_LOADS; ++i) {
            int e = threadIdx.x + i * THREADS;
            from_b[i] = B + (size_t)(e / B_PER_ROW) * N + col0 + e % B_PER_ROW * 4;
        }
    }

    __device__ __forceinline__ void fetch(int row0, int col0, int M, int N, int K)
    {
        #pragma unroll
        for (int i = 0; i < A_LOADS; ++i) {
            int e = threadIdx.x + i * THREADS;
            a[i] = load4<guarded>(from_a[i], row0 + e / A_PER_ROW < M, k0 + e % A_PER_ROW * 4, K);
            from_a[i] += BLOCK_K;
        }
        #pragma unroll
        for (int i = 0; i < B_LOADS; ++i) {
            int e = threadIdx.x + i * THREADS;
            b[i] = load4<guarded>(from_b[i], k0 + e / B_PER_ROW < K, col0 + e % B_PER_ROW * 4, N);
            from_b[i] += BLOCK_K * N;
        }
        k0 += BLOCK_K;
    }

    __device__ __forceinline__ void put(float* to_a, float* to_b) const
    {
        #pragma unroll
        for (int i = 0; i < A_LOADS; ++i) {
            float* to = to_a + i * (THREADS / A_PER_ROW);
            to[0 * NEXT_ROW_A] = a[i].x;
            to[1 * NEXT_ROW_A] = a[i].y;
            to[2 * NEXT_ROW_A] = a[i].z;
            to[3 * NEXT_ROW_A] = a[i].w;
        }
        #pragma unroll
        for (int i = 0; i < B_LOADS; ++i) {
            *reinterpret_cast<float4*>(to_b + i * THREADS * 4) = make_float4(b[i].y, b[i].x, b[i].w, b[i].z);
        }
    }
};

// What a thread multiplies in one step: its rows of a column of A, and its columns of a row of B.
struct Factors {
    float a[THREAD_M];
    float b[THREAD_N];

    __device__ __forceinline__ void load(const float* from_a, const float* from_b)
    {
        #pragma unroll
        for (int i = 0; i < THREAD_M; i += 4) {
            *reinterpret_cast<float4*>(&a[i]) = *reinterpret_cast<const float4*>(from_a + i * LANES_M);
        }
        #pragma unroll
        for (int j = 0; j < THREAD_N; j += 4) {
            *reinterpret_cast<float4*>(&b[j]) = *reinterpret_cast<const float4*>(from_b + j * LANES_N);
        }
    }
};

template <bool guarded>
__device__ __forceinline__ void multiply(Tiles* tiles, const float* A, const float* B, float* C, int M, int N, int K)
{
    int row0 = blockIdx.y * BLOCK_M;
    int col0 = blockIdx.x * BLOCK_N;
    int warp = threadIdx.x / 32;
    int lane = threadIdx.x % 32;

    // Which of the warp's 4 x 8 places is this lane's? Shared memory serves a float4 load in four quarters of eight lanes, and
    // two quarters at a time if every lane has the same address as its neighbour (lane ^ 1) or as the next but one (lane ^
    // 2). Taking the lowest bit of the lane for the row and the next three for the column gives the loads of b the first
    // property and those of a the second: each of them takes two turns instead of four.
    int lane_m = (lane & 1) | (lane >> 4) << 1;
    int lane_n = lane >> 1 & 7;

    // This thread's first row and column in the tiles. It has groups of 4 x 4 elements, LANES * 4 apart, so that the float4 of
    // neighbouring lanes are neighbours.
    int m0 = warp / (BLOCK_N / WARP_N) * WARP_M + lane_m * 4;
    int n0 = warp % (BLOCK_N / WARP_N) * WARP_N + lane_n * 4;

    float sum[THREAD_M][THREAD_N] = {};

    // Where this thread reads, and writes, in the buffer that is in use; the other one is `step` away.
    const float* at_a = &tiles[0].a[0][m0];
    const float* at_b = &tiles[0].b[0][n0];
    float* to_a = &tiles[0].a[threadIdx.x % A_PER_ROW * 4][threadIdx.x / A_PER_ROW];
    float* to_b = &tiles[0].b[0][0] + threadIdx.x * 4;
    int step = NEXT_BUFFER;

    // Nothing hides the latency of the first tiles.
    int phases = (K + BLOCK_K - 1) / BLOCK_K;
    Share<guarded> share;
    share.start(A, B, row0, col0, N, K);
    share.fetch(row0, col0, M, N, K);
    share.put(to_a, to_b);
    if (phases > 1) share.fetch(row0, col0, M, N, K);
    __syncthreads();
    Factors factors[2];
    factors[0].load(at_a, at_b);

    #pragma unroll 1
    for (int left = phases; left > 0; --left) {
        #pragma unroll
        for (int k = 0; k < BLOCK_K; ++k) {
            if (k == 4) {
                // The tiles of the next phase, fetched one phase ago, go to the other buffer, and the registers take
                // those of the phase after. (In the last phase nothing new has come; what is put then is never read.) In the
                // middle of a phase: the compiler likes to start loads as late as it can, to keep registers free for
                // longer, and even from the phase's end it is half a phase to here.
                share.put(to_a + step, to_b + step);
                if (left > 2) share.fetch(row0, col0, M, N, K);
            }
            if (k + 1 < BLOCK_K) {
                factors[(k + 1) % 2].load(at_a + (k + 1) * NEXT_ROW_A, at_b + (k + 1) * BLOCK_N);
            } else {
                // One barrier per phase. Before it, everybody has loaded the last factors from this buffer and has filled the
                // other one; and there is a step of products left to do while the first factors from there arrive.
                __syncthreads();
                at_a += step;
                at_b += step;
                to_a += step;
                to_b += step;
                step = -step;
                factors[0].load(at_a, at_b);
            }

            // 128 multiply-adds. Each reads three registers, and the register file has two banks, of even and of odd ones: three
            // from the same bank take an extra cycle. A float4 fills four consecutive registers, and `store4` below wants
            // the sums of four neighbouring columns in four consecutive ones, too. If b's columns lay in their order, b[j]
            // and sum[i][j] would always be in the same bank; since they are swapped in pairs, b[j] belongs to column j ^ 1
            // and the two are always in different ones. Going forth and back along the rows leaves one factor unchanged from
            // each multiply-add to the next, which then need not be read again.
            const Factors& f = factors[k % 2];
            #pragma unroll
            for (int i = 0; i < THREAD_M; ++i) {
                #pragma unroll
                for (int n = 0; n < THREAD_N; ++n) {
                    int j = i % 2 == 0 ? n : THREAD_N - 1 - n;
                    sum[i][j ^ 1] += f.a[i] * f.b[j];
                }
            }
        }
    }

    #pragma unroll
    for (int i = 0; i < THREAD_M; ++i) {
        int row = row0 + m0 + i / 4 * 4 * LANES_M + i % 4;
        #pragma unroll
        for (int j = 0; j < THREAD_N; j += 4) {
            int col = col0 + n0 + j * LANES_N;
            store4<guarded>(&sum[i][j], &C[(size_t)row * N + col], row < M, col, N);
        }
    }
}

// One block per SM: the compiler may use all 255 registers.
__global__ void __launch_bounds__(THREADS, 1) sgemm(const float* __restrict__ A, const float* __restrict__ B,
                                                    float* __restrict__ C, int M, int N, int K)
{
    __shared__ __align__(16) Tiles tiles[2];

    bool inside = (blockIdx.x + 1) * BLOCK_N <= N && (blockIdx.y + 1) * BLOCK_M <= M && K % BLOCK_K == 0 && N % 4 == 0;
    if (inside) multiply<false>(tiles, A, B, C, M, N, K);
    else multiply<true>(tiles, A, B, C, M, N, K);
}
