//! Exercise 09: registers, shared memory and blocks per SM.

use exercise::problem::RowSums;
use exercise::{Baseline, Bound, Case, Exercise, Goal, Metric, Requirement, Speed};
use indoc::indoc;

exercise::exercise! {
    /// Occupancy.
    ///
    /// The figure is computed from registers, shared memory and block size for compute capability 8.0, so it needs no GPU.
    /// The stub is at 12.5 %; half of its stretch makes 28 %, four times the threads 50 %, no stretch 100 %. 50 % is where
    /// more warps stop to matter for most kernels (and why no more is asked for). `active_lanes` and `load_sectors` keep
    /// out what fills an SM with warps that do little: blocks of 8 threads, a thread per row.
    pub const EXERCISE: Exercise = Exercise {
        number: 9,
        slug: "occupancy",
        title: "Occupancy",
        lesson: "Threads, registers and shared memory of a block decide how many warps an SM has to hide latency with.",
        kernel: "row_sums",
        stub: include_str!("stub.cu"),
        stub_fails: "too_slow occupancy",
        solution: include_str!("../../solutions/09_occupancy/kernel.cu"),
        problem: &RowSums,
        cases: &[
            Case::new([1, 1, 1]),
            Case::new([3, 63, 1]),
            Case::new([2, 64, 1]),
            Case::new([2, 65, 1]),
            Case::new([5, 1_009, 1]),
            Case::new([2, 8_192, 1]),
            Case::new([3, 8_193, 1]),
            Case::new([2, 20_011, 1]),
        ],
        counted: Case::new([32, 8_192, 1]),
        requirements: &[
            Requirement {
                key: "occupancy",
                metric: Metric::Occupancy,
                bound: Bound::AtLeast(50.0),
                advice: "An SM cannot hold enough of your warps to stay busy while they wait for memory. See which \
                    resource runs out first: shared memory per block, registers per thread, or blocks that are too \
                    small.",
                advice_with_tile: None,
            },
            Requirement {
                key: "active_lanes",
                metric: Metric::ActiveLanes,
                bound: Bound::AtLeast(24.0),
                advice: "The SM is full of warps with most lanes missing or switched off. A block should be a multiple \
                    of 32 threads, and they should all have work.",
                advice_with_tile: None,
            },
            Requirement::COALESCED_LOADS,
        ],
        not_judged_here: None,
        speed: Some(Speed {
            size: [16_384, 8_192, 1],
            baseline: Baseline {
                name: "the starved kernel",
                source: include_str!("../../kernels/baselines/row_sums_starved.cu"),
                kernel: "row_sums_starved",
                block: [64, 1, 1],
            },
            goal: Goal::Position(0.8),
            h200_reference: Some(1.65),
            min_capability: 50,
        }),
        hints: [
            indoc! {"
                4 blocks fit because of their shared memory, and each brings 2 warps. So there are two ways: more blocks, or
                more warps in each block.
            "},
            indoc! {"
                256 threads per block share the same stretch: 4 blocks of 8 warps make 32. A stretch of 1,024 elements takes
                4 KB instead of 32. And is the stretch needed at all, if every element is used once?
            "},
            indoc! {"
                Without the stretch:

                    float sum = 0.0f;
                    for (int i = t; i < cols; i += THREADS) sum += row[i];

                With THREADS 256, 8 blocks fit an SM, as long as a thread takes at most 32 registers. This makes the compiler
                see to it:

                    __global__ void __launch_bounds__(THREADS, 8) row_sums(...)
            "},
        ],
    };
}
