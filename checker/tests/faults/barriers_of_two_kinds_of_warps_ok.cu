// One warp fills, the other empties: each has instructions of its own for the same numbered barriers, which say for how many
// threads they are. And a loop whose barrier the compiler makes several of.
// run: --grid 1 --block 64 --arg buf:i32:320:iota --arg buf:i32:32 --arg i32:10
extern "C" __global__ void pass(const int* x, int* out, int rounds)
{
    __shared__ int cells[32];
    int lane = threadIdx.x % 32, sum = 0;
    if (threadIdx.x < 32) {
        for (int k = 0; k < rounds; ++k) {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            cells[lane] = x[32 * k + lane];
            asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
    } else {
        for (int k = 0; k < rounds; ++k) {
            asm volatile("bar.arrive 1, 64;" ::: "memory");
            asm volatile("bar.sync 2, 64;" ::: "memory");
            sum += cells[31 - lane];
        }
    }
    __syncthreads();
    #pragma unroll 4
    for (int k = 0; k < rounds; ++k) {
        if (threadIdx.x == 32) cells[k] = sum;
        __syncthreads();
        sum += cells[k];
    }
    if (threadIdx.x >= 32) out[lane] = sum;
}
