// A tile of 64 threads meets at barriers in shared memory that the system keeps for itself.
// run: --grid 2 --block 128 --arg buf:i32:256:iota --arg buf:i32:4
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void sums(const int* x, int* out)
{
    __shared__ int cells[128];
    __shared__ cg::block_tile_memory<128> memory;
    cg::thread_block block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<64>(block);
    int rank = tile.thread_rank(), first = 64 * tile.meta_group_rank();
    cells[first + rank] = x[blockIdx.x * 128 + first + rank];
    tile.sync();
    for (int half = 32; half > 0; half /= 2) {
        if (rank < half) cells[first + rank] += cells[first + rank + half];
        tile.sync();
    }
    if (rank == 0) out[2 * blockIdx.x + tile.meta_group_rank()] = cells[first];
}
