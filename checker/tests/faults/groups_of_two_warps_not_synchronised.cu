// One of the tile's barriers is missing.
// run: --grid 1 --block 128 --arg buf:i32:128:iota --arg buf:i32:2
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void last(const int* x, int* out)
{
    __shared__ int cells[128];
    __shared__ cg::block_tile_memory<128> memory;
    auto tile = cg::tiled_partition<64>(cg::this_thread_block(memory));
    int rank = tile.thread_rank(), first = 64 * tile.meta_group_rank();
    tile.sync();
    cells[first + rank] = x[first + rank];
    if (rank == 0) out[tile.meta_group_rank()] = cells[first + 63];
}
