//! Exercise 00: one thread per element, and a guard for the last block.

use exercise::problem::VectorAdd;
use exercise::{Case, Exercise};
use indoc::indoc;

exercise::exercise! {
    /// Vector addition. Judged on correctness only: with 12 bytes moved per addition, every sound kernel is as fast as
    /// memory is.
    pub const EXERCISE: Exercise = Exercise {
        number: 0,
        slug: "vector_add",
        title: "Vector addition",
        lesson: "Find a thread's element from blockIdx and threadIdx, and guard the last block.",
        kernel: "vector_add",
        stub: include_str!("stub.cu"),
        stub_fails: "wrong_values",
        solution: include_str!("../../solutions/00_vector_add/kernel.cu"),
        problem: &VectorAdd,
        cases: &[
            Case::new([1, 1, 1]),
            Case::new([255, 1, 1]),
            Case::new([256, 1, 1]),
            Case::new([257, 1, 1]),
            Case::new([1_009, 1, 1]),
            Case::new([100_003, 1, 1]),
        ],
        counted: Case::new([65_536, 1, 1]),
        requirements: &[],
        not_judged_here: None,
        speed: None,
        hints: [
            indoc! {"
                A block has blockDim.x threads. Block 0 takes the first blockDim.x elements, block 1 the next ones, and so
                on. How many elements come before this block's first one?
            "},
            indoc! {"
                The thread's element is

                    int i = blockIdx.x * blockDim.x + threadIdx.x;

                With n = 257 there are two blocks, so i runs up to 511. Which of these threads must do nothing?
            "},
            indoc! {"
                All of it:

                    int i = blockIdx.x * blockDim.x + threadIdx.x;
                    if (i < n) c[i] = a[i] + b[i];
            "},
        ],
    };
}
