// 13  Tensor cores: a matrix product in TF32, by mma.sync.
//
// A block makes 128 x 128 elements of C, each of its four warps 64 x 64 of them: 4 x 8 mma per step of 8 along k. That many
// because of what has to be loaded for them: 64 + 64 columns of 8 elements for 32 mma. (The sums take 128 of a lane's registers.)
//
// Three things keep the tensor cores busy. Tiles come by cp.async, two phases ahead (11). What a lane needs for its mma comes as
// float4 from shared memory, without bank conflicts (06, 08); see `multiply`. And blocks that lie inside do not compare (12).
#include "warplings.cuh"

#define BLOCK_M 128 // rows of C per block
#define BLOCK_N 128 // columns of C per block
#define BLOCK_K 16  // depth of the tiles: two mma
#define WARP 64     // rows and columns of C per warp
#define THREADS (32 * (BLOCK_M / WARP) * (BLOCK_N / WARP))
#define STAGES 3    // tiles in use, arriving, and asked for: 48 KB

LAUNCH(/*block*/ THREADS, 1, 1, /*work per block*/ BLOCK_N, BLOCK_M, 1);

struct Tiles {
    float a[BLOCK_M][BLOCK_K];
    float b[BLOCK_K][BLOCK_N]; // element (k, n) is at b[k][turned(k, n)]
};

// Moves the columns of a row within groups of 32, for the sake of the loads in `multiply`.
__device__ __forceinline__ int turned(int k, int n) { return n ^ k / 4 * 8; }

// Rounds to TF32. The tensor core looks at the upper 19 bits only: it cuts. Adding half of the last place first makes that
// rounding. (cvt.rna.tf32.f32 does it with care for infinity and NaN, in three instructions: the kernel would be little more than half as
// fast.)
__device__ __forceinline__ unsigned to_tf32(float x) { return __float_as_uint(x) + 0x1000; }

// d += a b: 16 x 8 += 16 x 8 times 8 x 8.
__device__ __forceinline__ void mma(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Starts to copy `size` bytes to shared memory, or to fill them with zeros. Four floats go past the first-level cache (.cg), which
// only copies of 16 bytes can: nobody reads them again from there, and going through it costs an eighth of the speed.
template <int size>
__device__ __forceinline__ void copy_async(float* to, const float* from, bool inside = true)
{
    unsigned address = (unsigned)__cvta_generic_to_shared(to);
    int given = inside ? size : 0;
    if (size == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(given));
    else asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(from), "n"(size), "r"(given));
}

// Starts to copy a tile, from (row0, col0) of a matrix on, with zeros from outside. For the blocks at the edges: it compares and
// computes addresses for every copy.
template <bool is_b, int rows, int cols>
__device__ void copy_guarded(float (&tile)[rows][cols], const float* matrix, int row0, int col0, int height, int width)
{
    int step = width % 4 == 0 ? 4 : 1; // elements at a time: rows start at multiples of 16 bytes or not
    #pragma unroll 1
    for (int element = threadIdx.x * step; element < rows * cols; element += THREADS * step) {
        int row = element / cols, col = element % cols;
        bool inside = row0 + row < height && col0 + col < width;
        const float* from = inside ? &matrix[(size_t)(row0 + row) * width + col0 + col] : matrix;
        float* to = &tile[row][is_b ? turned(row, col) : col];
        if (step == 4) copy_async<16>(to, from, inside);
        else copy_async<4>(to, from, inside);
    }
}

// A warp's 64 x 64 elements, one phase.
//
// In the hardware's order, lane 4 g + t gives of A's piece the columns t and t + 4 in rows g and g + 8, and of B's the rows t and
// t + 4 in column g. But a sum over k has no order: which k is called "column t" is ours to choose, if A and B
// agree. We let lane t take k = 4t to 4t + 3, neighbours in a row of A, which serve two mma. So is the order of C's columns: we
// let lane g take n = 4g to 4g + 3 of 32, neighbours in a row of B, one for each of four mma. Everything comes as float4.
//
// Banks: a float4 load is served eight lanes at a time, g = 2i and 2i + 1 with all four t. Two rows of A, of 16 floats, are all
// 32 banks. Of B these are rows 4t, all in the same banks but for `turned`, which moves them apart by 8t.
__device__ __forceinline__ void multiply(float (&sum)[WARP / 16][WARP / 8][4], const Tiles& tiles, int m0, int n0, int g, int t)
{
    unsigned a[WARP / 16][2][4]; // [piece of 16 rows][row g or g + 8][k]
    unsigned b[WARP / 32][4][4]; // [piece of 32 columns][k][n]
    #pragma unroll
    for (int i = 0; i < WARP / 8; ++i) {
        float4 v = *reinterpret_cast<const float4*>(&tiles.a[m0 + i * 8 + g][4 * t]);
        unsigned* to = a[i / 2][i % 2];
        to[0] = to_tf32(v.x), to[1] = to_tf32(v.y), to[2] = to_tf32(v.z), to[3] = to_tf32(v.w);
    }
    #pragma unroll
    for (int j = 0; j < WARP / 8; ++j) {
        int k = 4 * t + j % 4;
        float4 v = *reinterpret_cast<const float4*>(&tiles.b[k][turned(k, n0 + j / 4 * 32 + 4 * g)]);
        unsigned* to = b[j / 4][j % 4];
        to[0] = to_tf32(v.x), to[1] = to_tf32(v.y), to[2] = to_tf32(v.z), to[3] = to_tf32(v.w);
    }
    #pragma unroll
    for (int k = 0; k < 4; k += 2) { // of this lane's four k, two for each mma
        #pragma unroll
        for (int i = 0; i < WARP / 16; ++i) {
            #pragma unroll
            for (int j = 0; j < WARP / 8; ++j) {
                mma(sum[i][j], {a[i][0][k], a[i][1][k], a[i][0][k + 1], a[i][1][k + 1]}, {b[j / 4][k][j % 4], b[j / 4][k + 1][j % 4]});
            }
        }
    }
}

template <bool guarded>
__device__ __forceinline__ void matmul(Tiles* tiles, const float* A, const float* B, float* C, int M, int N, int K)
{
    int row0 = blockIdx.y * BLOCK_M;
    int col0 = blockIdx.x * BLOCK_N;
    int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    int m0 = warp / (BLOCK_N / WARP) * WARP; // this warp's first row and column in the tiles
    int n0 = warp % (BLOCK_N / WARP) * WARP;
    int phases = (K + BLOCK_K - 1) / BLOCK_K;
    float sum[WARP / 16][WARP / 8][4] = {};

    // What this thread copies: an element of every 32nd row of A's tile, and of every 4th row of B's. Pointers that move on, as
    // in 12: with indices computed anew in each phase the kernel is a third slower.
    int row_a = threadIdx.x / 4, col_a = threadIdx.x % 4 * 4;
    int row_b = threadIdx.x / 32, col_b = threadIdx.x % 32 * 4;
    const float* from_a = A + (size_t)(row0 + row_a) * K + col_a;
    const float* from_b = B + (size_t)row_b * N + col0 + col_b;

    auto fetch = [&](Tiles& to, int phase) {
        if (phase < phases && guarded) {
            copy_guarded<false>(to.a, A, row0, phase * BLOCK_K, M, K);
            copy_guarded<true>(to.b, B, phase * BLOCK_K, col0, K, N);
        } else if (phase < phases) {
            #pragma unroll
            for (int i = 0; i < BLOCK_M; i += THREADS / 4) copy_async<16>(&to.a[row_a + i][col_a], from_a + (size_t)i * K);
            #pragma unroll
            for (int i = 0; i < BLOCK_K; i += THREADS / 32) {
                copy_async<16>(&to.b[row_b + i][turned(row_b + i, col_b)], from_b + (size_t)i * N);
            }
            from_a += BLOCK_K;
            from_b += (size_t)BLOCK_K * N;
        }
        asm volatile("cp.async.commit_group;"); // also an empty group: the wait below counts them
    };
    fetch(tiles[0], 0);
    fetch(tiles[1], 1);
    int now = 0;
    for (int phase = 0; phase < phases; ++phase) {
        // All groups but the last are complete: this phase's. After the barrier they are so for all threads, and nobody reads
        // the tiles of the last phase any more, which make room for those of the next but one.
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        fetch(tiles[now == 0 ? STAGES - 1 : now - 1], phase + 2);
        multiply(sum, tiles[now], m0, n0, g, t);
        now = now == STAGES - 1 ? 0 : now + 1;
    }

    // Of mma j, this lane has columns 2t and 2t + 1 of 8 in rows g and g + 8. Column c of mma j is n = 4c + j, so four mma give
    // four neighbours of a row.
    #pragma unroll
    for (int i = 0; i < WARP / 16 * 2; ++i) {
        #pragma unroll
        for (int j = 0; j < WARP / 16; ++j) {
            int row = row0 + m0 + i * 8 + g;
            int col = col0 + n0 + j / 2 * 32 + 8 * t + j % 2 * 4;
            float(*four)[4] = &sum[i / 2][j / 2 * 4];
            int e = i % 2 * 2 + j % 2;
            float v[4] = {four[0][e], four[1][e], four[2][e], four[3][e]};
            float* to = &C[(size_t)row * N + col];
            if (!guarded || (row < M && N % 4 == 0 && col < N)) {
                *reinterpret_cast<float4*>(to) = make_float4(v[0], v[1], v[2], v[3]);
            } else if (row < M) {
                for (int c = 0; c < 4; ++c) {
                    if (col + c < N) to[c] = v[c];
                }
            }
        }
    }
}

// Two blocks share an SM.
__global__ void __launch_bounds__(THREADS, 2)
matmul_tensor(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K)
{
    __shared__ __align__(16) Tiles tiles[STAGES];

    bool inside = (blockIdx.x + 1) * BLOCK_N <= N && (blockIdx.y + 1) * BLOCK_M <= M && K % BLOCK_K == 0 && N % 4 == 0;
    if (inside) matmul<false>(tiles, A, B, C, M, N, K);
    else matmul<true>(tiles, A, B, C, M, N, K);
}
