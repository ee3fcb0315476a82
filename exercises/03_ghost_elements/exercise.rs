//! Exercise 03: any M, N and K.

use exercise::problem::Matmul;
use exercise::{Baseline, Bound, Case, Exercise, Goal, Metric, Requirement, Speed};
use indoc::indoc;

exercise::exercise! {
    /// Tiled matrix multiplication for any size.
    ///
    /// Counted at a size where every tile at the edge is partial. Ghost elements are computed with but not loaded, so a tiled
    /// kernel is at or above its ideal (2 for tiles of 8 x 8, 4 for 16 x 16), and a naive one stays at 0.25: the bound is
    /// that of exercise 02. Coalescing is not asked for: rows of odd length start in the middle of a sector.
    pub const EXERCISE: Exercise = Exercise {
        number: 3,
        slug: "ghost_elements",
        title: "Ghost elements",
        lesson: "Tiles that reach over the edge: load zeros from outside, keep every thread for the barriers, guard the store.",
        kernel: "matmul_any_size",
        stub: include_str!("stub.cu"),
        stub_fails: "out_of_bounds",
        solution: include_str!("../../solutions/03_ghost_elements/kernel.cu"),
        problem: &Matmul,
        cases: &[
            Case::new([1, 1, 1]),
            Case::new([31, 31, 31]),
            Case::new([32, 32, 32]),
            Case::new([33, 33, 33]),
            Case::new([15, 64, 17]),
            Case::new([64, 32, 5]),
            Case::new([13, 101, 59]),
            Case::new([97, 7, 130]),
        ],
        counted: Case::new([101, 89, 107]),
        requirements: &[Requirement {
            key: "reuse",
            metric: Metric::FlopsPerLoadedByte,
            bound: Bound::AtLeast(1.5),
            advice: "The result is right, but your threads fetch nearly everything from global memory themselves. Keep \
                the tiles of exercise 02 and guard their loads.",
            advice_with_tile: Some("Your tiles save too little. In a tile of TILE x TILE elements each one serves TILE \
                threads, so make TILE larger (16 or 32 is usual), and see that both factors of every product come from \
                a tile."),
        }],
        not_judged_here: None,
        speed: Some(Speed {
            size: [2048, 2048, 2048],
            baseline: Baseline {
                name: "02's solution",
                source: include_str!("../../solutions/02_matmul_tiled/kernel.cu"),
                kernel: "matmul_tiled",
                block: [32, 32, 1],
            },
            goal: Goal::Within(1.10),
            h200_reference: None,
            min_capability: 50,
        }),
        hints: [
            indoc! {"
                Three things can lie outside: the element of A that the thread loads, the element of B, and the element of C
                that it stores. They are three different elements, so there are three different conditions. And a thread must
                not leave early: others wait for it at the barrier and for what it loads.
            "},
            indoc! {"
                A has M rows and K columns, B has K rows and N columns, C has M rows and N columns. Give each condition the
                row and the column of its own element. Where the element does not exist, put 0 into the tile: not writing
                anything would leave the last phase's value there.
            "},
            indoc! {"
                    tile_a[ty][tx] = (row < M && k0 + tx < K) ? A[row * K + k0 + tx] : 0.0f;
                    tile_b[ty][tx] = (k0 + ty < K && col < N) ? B[(k0 + ty) * N + col] : 0.0f;

                and after the loop

                    if (row < M && col < N) C[row * N + col] = sum;
            "},
        ],
    };
}
