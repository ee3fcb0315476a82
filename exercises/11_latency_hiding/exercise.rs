//! Exercise 11: double buffering with asynchronous copies.

use exercise::problem::Matmul;
use exercise::{Baseline, Bound, Case, Exercise, Goal, Metric, Requirement, Speed};
use indoc::indoc;

exercise::exercise! {
    /// Latency hiding.
    ///
    /// When something happens is what this exercise is about, and no counter sees that: the same loads and products in a better
    /// order. The simulator judges that the order is right (copies waited for, buffers not overwritten while in use) and
    /// that nothing was given up for it: the bounds of exercise 04, with its reasons.
    pub const EXERCISE: Exercise = Exercise {
        number: 11,
        slug: "latency_hiding",
        title: "Latency hiding",
        lesson: "Two buffers and asynchronous copies let memory and arithmetic work at the same time.",
        kernel: "matmul_pipelined",
        stub: include_str!("stub.cu"),
        stub_fails: "uninitialized_read",
        solution: include_str!("../../solutions/11_latency_hiding/kernel.cu"),
        problem: &Matmul,
        cases: &[
            Case::new([1, 1, 1]),
            Case::new([16, 16, 16]),
            Case::new([17, 33, 17]),
            Case::new([31, 29, 48]),
            Case::new([64, 128, 65]),
            Case::new([129, 127, 36]),
            Case::new([128, 256, 64]),
        ],
        counted: Case::new([256, 256, 64]),
        requirements: &[
            Requirement {
                key: "shared_reuse",
                metric: Metric::FlopsPerSharedWavefront,
                bound: Bound::AtLeast(44.0),
                advice: "Two buffers are no reason to give up the outer products in registers of exercise 04: n values \
                    of A and n of B give n * n products. Where they are there, take more of each, and see with the \
                    command `look` whether banks conflict.",
                advice_with_tile: None,
            },
            Requirement {
                key: "reuse",
                metric: Metric::FlopsPerLoadedByte,
                bound: Bound::AtLeast(3.0),
                advice: "The block no longer shares what it loads. Keep the tiles of exercise 04, two of each.",
                advice_with_tile: Some("Your tiles are too small for what the block computes, or only one factor comes \
                    from a tile: a block that makes SIDE x SIDE elements of C uses each element that it loads SIDE \
                    times."),
            },
        ],
        not_judged_here: Some("whether loads overlap with arithmetic shows in time only, not in any counter"),
        speed: Some(Speed {
            size: [2048, 2048, 2048],
            baseline: Baseline {
                name: "the coarsened kernel, which waits for its tiles",
                source: include_str!("../../kernels/baselines/matmul_coarse.cu"),
                kernel: "matmul_coarse",
                block: [16, 16, 1],
            },
            goal: Goal::Position(0.8),
            h200_reference: Some(1.7),
            min_capability: 80,
        }),
        hints: [
            indoc! {"
                The other buffer is 1 - now, and the next tiles begin at k0 = (phase + 1) * TILE. Where in the loop is it safe
                to start writing into the other buffer? Who read from it last, and what makes sure they are done?
            "},
            indoc! {"
                In this order: wait for the copies (they were started one phase ago), barrier, start the next copies, multiply.
                After the barrier all copies of this phase are complete, because every thread waited for its own before; and
                the other buffer is free, because every thread finished multiplying from it before.
            "},
            indoc! {"
                One phase:

                    async_wait();
                    __syncthreads();
                    if (phase + 1 < phases) {
                        int k0 = (phase + 1) * TILE;
                        load_tile<SIDE_M, TILE>(tile_a[1 - now], A, row0, k0, M, K);
                        load_tile<TILE, SIDE_N>(tile_b[1 - now], B, k0, col0, K, N);
                        async_commit();
                    }
                    // ... multiply from tile_a[now] and tile_b[now]
            "},
        ],
    };
}
