//! Exercise 06: 32 banks, and a tile whose rows and columns meet all of them.

use exercise::problem::Transpose;
use exercise::{Baseline, Bound, Case, Exercise, Goal, Metric, Requirement, Speed};
use indoc::indoc;

exercise::exercise! {
    /// Transpose without bank conflicts.
    ///
    /// Half of the tile's requests are stores of rows, without conflicts, and half are loads of columns. 31 conflicts for each
    /// of these make 15.5 per request in the stub; padding by 2 leaves 0.5. Padding by an odd number and every swizzle that
    /// permutes a row's columns leave 0, and so does a transpose by shuffles. 0.1 excuses the odd request at an edge.
    pub const EXERCISE: Exercise = Exercise {
        number: 6,
        slug: "bank_padding",
        title: "Bank conflicts",
        lesson: "Shared memory has 32 banks: lay data out so that the lanes of a warp meet different ones.",
        kernel: "transpose",
        stub: include_str!("stub.cu"),
        stub_fails: "too_slow bank_conflicts",
        solution: include_str!("../../solutions/06_bank_padding/kernel.cu"),
        problem: &Transpose,
        cases: &[
            Case::new([1, 1, 1]),
            Case::new([31, 31, 1]),
            Case::new([32, 32, 1]),
            Case::new([33, 33, 1]),
            Case::new([17, 103, 1]),
            Case::new([127, 5, 1]),
            Case::new([160, 96, 1]),
        ],
        counted: Case::new([256, 384, 1]),
        requirements: &[
            Requirement {
                key: "bank_conflicts",
                metric: Metric::BankConflictsPerRequest,
                bound: Bound::AtMost(0.1),
                advice: "Lanes of one warp meet in the same bank and wait for each other. Word w lies in bank w % 32: \
                    choose the distance of two rows of the tile (or the place of an element in its row) so that the 32 \
                    elements of a column lie in different banks. Only the length of a row counts, the last extent of \
                    the array: more rows move nothing.",
                advice_with_tile: None,
            },
            Requirement::COALESCED_LOADS,
            Requirement::COALESCED_STORES,
        ],
        not_judged_here: None,
        speed: Some(Speed {
            size: [8192, 8192, 1],
            baseline: Baseline {
                name: "05's solution",
                source: include_str!("../../solutions/05_transpose_coalescing/kernel.cu"),
                kernel: "transpose",
                block: [32, 8, 1],
            },
            goal: Goal::Position(0.8),
            h200_reference: Some(2.55),
            min_capability: 50,
        }),
        hints: [
            indoc! {"
                Element (y, x) of the tile is word y * 32 + x, so its bank is x: the same for the whole column. If the rows
                were a little further apart, which bank would (y, x) lie in?
            "},
            indoc! {"
                Try a distance of S words between rows: (y, x) is word y * S + x. Which S make a step down a column change the
                bank, and which of them visit all 32 before one comes again? The tile may be larger than what is stored in it.
            "},
            indoc! {"
                    __shared__ float tile[TILE][TILE + 1];

                Or, without extra space, write `tile[threadIdx.y + i][threadIdx.x ^ (threadIdx.y + i)]` and read
                `tile[threadIdx.x][(threadIdx.y + i) ^ threadIdx.x]`.
            "},
        ],
    };
}
