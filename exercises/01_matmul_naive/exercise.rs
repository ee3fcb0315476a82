//! Exercise 01: two-dimensional indexing, and neighbouring threads on neighbouring columns.

use exercise::problem::Matmul;
use exercise::{Baseline, Case, Exercise, Goal, Requirement, Speed};
use indoc::indoc;

exercise::exercise! {
    /// Naive matrix multiplication.
    ///
    /// With x as the column, a warp's loads of B and stores to C are whole 32-byte sectors, 1.0 times what the lanes asked
    /// for, as long as a block is at least 8 columns wide; the loads of A are broadcasts, far below 1. With x as the row,
    /// every lane of a 16 x 16 block's store opens a sector for itself and its one neighbour in y: 4.0 (8.0 where the
    /// block is 32 wide), and the loads of A are as bad. 1.1 leaves room for nothing but rounding.
    pub const EXERCISE: Exercise = Exercise {
        number: 1,
        slug: "matmul_naive",
        title: "Matrix multiplication",
        lesson: "Row-major indexing in two dimensions, with consecutive threads on consecutive columns.",
        kernel: "matmul_naive",
        stub: include_str!("stub.cu"),
        stub_fails: "wrong_values",
        solution: include_str!("../../solutions/01_matmul_naive/kernel.cu"),
        problem: &Matmul,
        cases: &[
            Case::new([1, 1, 1]),
            Case::new([15, 15, 15]),
            Case::new([16, 16, 16]),
            Case::new([17, 17, 17]),
            Case::new([13, 47, 29]),
            Case::new([70, 9, 33]),
            Case::new([96, 64, 80]),
        ],
        counted: Case::new([64, 64, 64]),
        requirements: &[Requirement::COALESCED_LOADS, Requirement::COALESCED_STORES],
        not_judged_here: None,
        speed: Some(Speed {
            size: [2048, 2048, 2048],
            baseline: Baseline {
                name: "the row taken from threadIdx.x",
                source: include_str!("../../kernels/baselines/matmul_row_from_x.cu"),
                kernel: "matmul_row_from_x",
                block: [16, 16, 1],
            },
            goal: Goal::Position(0.8),
            h200_reference: Some(5.6),
            min_capability: 50,
        }),
        hints: [
            indoc! {"
                It is exercise 00 twice: once to the right, with .x, and once downwards, with .y. Then a loop over k walks
                along a row of A and down a column of B.
            "},
            indoc! {"
                    int col = blockIdx.x * blockDim.x + threadIdx.x;
                    int row = blockIdx.y * blockDim.y + threadIdx.y;

                A row of A has K elements, a row of B and of C has N. So B[k][col] lies at B[k * N + col]. Sum up in a local
                variable and store once.
            "},
            indoc! {"
                What comes after the two lines of hint 2:

                    if (row >= M || col >= N) return;
                    float sum = 0.0f;
                    for (int k = 0; k < K; ++k) {
                        sum += A[row * K + k] * B[k * N + col];
                    }
                    C[row * N + col] = sum;
            "},
        ],
    };
}
