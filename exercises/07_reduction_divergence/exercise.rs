//! Exercise 07: warps, divergence, and trees that do without.

use exercise::problem::RowSums;
use exercise::{Baseline, Bound, Case, Exercise, Goal, Metric, Requirement, Speed};
use indoc::indoc;

exercise::exercise! {
    /// Row sums.
    ///
    /// Not the number of divergent branches is bounded, which depends on the block's size, but what they cost: how many of 32
    /// lanes are active on average. Counted with 256 columns, so that the tree is most of the work, interleaved trees are
    /// between 24.6 and 25.4 for blocks of 32 to 1,024 threads. Sequential ones are at 27.4 for 64 threads and above for more
    /// (in a block of one warp they diverge as much as the others), shuffles between 27.8 and 30.6. 26.5 is in the middle.
    pub const EXERCISE: Exercise = Exercise {
        number: 7,
        slug: "reduction_divergence",
        title: "Reduction without divergence",
        lesson: "A warp runs both sides of a branch: let whole warps work or rest, or exchange values by shuffles.",
        kernel: "row_sums",
        stub: include_str!("stub.cu"),
        stub_fails: "too_slow active_lanes",
        solution: include_str!("../../solutions/07_reduction_divergence/kernel.cu"),
        problem: &RowSums,
        cases: &[
            Case::new([1, 1, 1]),
            Case::new([3, 31, 1]),
            Case::new([8, 32, 1]),
            Case::new([9, 33, 1]),
            Case::new([5, 255, 1]),
            Case::new([7, 256, 1]),
            Case::new([2, 257, 1]),
            Case::new([13, 1_009, 1]),
            Case::new([100, 640, 1]),
        ],
        counted: Case::new([128, 256, 1]),
        requirements: &[
            Requirement {
                key: "active_lanes",
                metric: Metric::ActiveLanes,
                bound: Bound::AtLeast(26.5),
                advice: "Your warps spend much of their time with most lanes switched off: neighbouring threads take \
                    different sides of a branch. Let the first threads of the block do a step's additions, or use \
                    shuffles. Where that is done, let each thread add up several elements before the first step: then \
                    fewer steps are left.",
                advice_with_tile: None,
            },
            Requirement::COALESCED_LOADS,
        ],
        not_judged_here: None,
        speed: Some(Speed {
            size: [262_144, 512, 1],
            baseline: Baseline {
                name: "the interleaved tree",
                source: include_str!("../../kernels/baselines/row_sums_interleaved.cu"),
                kernel: "row_sums_interleaved",
                block: [256, 1, 1],
            },
            goal: Goal::Position(0.8),
            h200_reference: Some(3.24),
            min_capability: 50,
        }),
        hints: [
            indoc! {"
                In step 1, threads 0, 2, 4, ... add; half of every warp idles. It does not matter which thread adds what, as
                long as every partial sum is added once. Could threads 0 to 127 do all of it?
            "},
            indoc! {"
                Add the upper half to the lower half:

                    for (int distance = THREADS / 2; distance > 0; distance /= 2)

                thread t < distance adds partial[t + distance] to partial[t]. Down to distance 32 every warp is either
                entirely at work or entirely done. The barrier stays outside of the condition.
            "},
            indoc! {"
                    for (int distance = THREADS / 2; distance > 0; distance /= 2) {
                        if (t < distance) partial[t] += partial[t + distance];
                        __syncthreads();
                    }

                Or without shared memory, one warp per row, which is what it takes to pass on a GPU (no barriers, fewer blocks):

                    for (int distance = 16; distance > 0; distance /= 2)
                        sum += __shfl_down_sync(0xffffffff, sum, distance);
            "},
        ],
    };
}
