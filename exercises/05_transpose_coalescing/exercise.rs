//! Exercise 05: whole sectors on both sides, by way of shared memory.

use exercise::problem::Transpose;
use exercise::{Baseline, Case, Exercise, Goal, Requirement, Speed};
use indoc::indoc;

exercise::exercise! {
    /// Transpose through a tile.
    ///
    /// Without a tile, the 32 elements that a warp moves are a rectangle of w columns and 32 / w rows of `in`. Whole sectors
    /// take w >= 8 to load and 32 / w >= 8 to store; both at once is impossible, and one side is at 2.0 at best (8.0 in the
    /// stub). With a tile both sides are at 1.0 whatever its shape, as long as it is at least 8 elements wide in both
    /// directions, and so are float4 tiles in registers.
    pub const EXERCISE: Exercise = Exercise {
        number: 5,
        slug: "transpose_coalescing",
        title: "Coalesced transpose",
        lesson: "Memory moves in 32-byte sectors; a tile in shared memory lets a warp use them whole on both sides.",
        kernel: "transpose",
        stub: include_str!("stub.cu"),
        stub_fails: "too_slow store_sectors",
        solution: include_str!("../../solutions/05_transpose_coalescing/kernel.cu"),
        problem: &Transpose,
        cases: &[
            Case::new([1, 1, 1]),
            Case::new([31, 31, 1]),
            Case::new([32, 32, 1]),
            Case::new([33, 33, 1]),
            Case::new([13, 97, 1]),
            Case::new([101, 7, 1]),
            Case::new([64, 160, 1]),
        ],
        counted: Case::new([256, 384, 1]),
        requirements: &[
            Requirement::COALESCED_LOADS,
            Requirement {
                advice: "Your warps store down a column of `out`, one sector of 32 bytes for every 4 bytes. Collect a \
                    tile in shared memory first; then neighbouring threads can store neighbouring elements of a row of \
                    `out`.",
                advice_with_tile: Some("There is a tile, and your warps store down a column of `out` all the same. It \
                    only helps if threads exchange elements through it: let neighbouring threads (in x) store \
                    neighbouring elements of a row of `out`, and take from the tile what another thread put there, \
                    with the indices the other way round."),
                ..Requirement::COALESCED_STORES
            },
        ],
        not_judged_here: None,
        speed: Some(Speed {
            size: [8192, 8192, 1],
            baseline: Baseline {
                name: "the naive transpose",
                source: include_str!("../../kernels/baselines/transpose_naive.cu"),
                kernel: "transpose_naive",
                block: [32, 8, 1],
            },
            goal: Goal::Position(0.8),
            h200_reference: Some(3.25),
            min_capability: 50,
        }),
        hints: [
            indoc! {"
                Loads are fine: leave them as they are, but let them fill `__shared__ float tile[TILE][TILE]` instead of
                `out`. Then wait for the whole block with __syncthreads(), outside of any `if`. For the stores ask: which row
                of `out` does this block write, and which of its elements is this thread's, if neighbours are to store
                side by side?
            "},
            indoc! {"
                The tile at block (x, y) of `in` goes to block (y, x) of `out`. So for the second half

                    int out_col = blockIdx.y * TILE + threadIdx.x;
                    int out_row = blockIdx.x * TILE + threadIdx.y;

                threadIdx.x still runs along a row. `out` is cols x rows: the guard is out_row < cols && out_col < rows. What
                the thread needs was put into the tile by another thread: with the indices the other way round.
            "},
            indoc! {"
                After the loads:

                    __syncthreads();
                    for (int i = 0; i < TILE; i += BLOCK_ROWS) {
                        if (out_row + i < cols && out_col < rows) {
                            out[(out_row + i) * rows + out_col] = tile[threadIdx.x][threadIdx.y + i];
                        }
                    }
            "},
        ],
    };
}
