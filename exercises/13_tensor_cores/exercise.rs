//! Exercise 13: a matrix product on tensor cores.

use exercise::problem::TensorMatmul;
use exercise::{Baseline, Bound, Case, Exercise, Goal, Metric, Requirement, Speed};
use indoc::indoc;

exercise::exercise! {
    /// Tensor cores.
    ///
    /// The simulator asks for products that ordinary cores cannot make at this rate: `multiply_adds` of 40 per warp instruction,
    /// where a kernel of multiply-adds is below 32 whatever it does. One mma makes 1,024; with all that goes with it, pieces of
    /// 32 x 32 per warp come to 55, and 64 x 64 to more than 130. `load_sectors` is for fragments that are loaded straight from
    /// global memory, at 1.5. `bank_conflicts` are 2.7 per request with tiles whose rows are multiples of 16 floats
    /// apart, and more than 1 if one of the two is padded; rows of A of 16 + 4 floats, which are right for the
    /// loads, leave 0.2 for the stores, and swizzles none.
    ///
    /// On a GPU half of the way from SGEMM to the reference is enough, which is twice SGEMM's speed (0.8, as elsewhere, would be 2.9
    /// times). Who loads fragments as the manual lays them out, without bank conflicts and in two buffers, is at 2.6, or 0.7 of
    /// the way; with bank conflicts at 1.7. The reference's last factor of 1.5 is a trick that the chapter explains.
    pub const EXERCISE: Exercise = Exercise {
        number: 13,
        slug: "tensor_cores",
        title: "Tensor cores",
        lesson: "One instruction of a warp multiplies small matrices whose elements lie spread over its lanes.",
        kernel: "matmul_tensor",
        stub: include_str!("stub.cu"),
        stub_fails: "too_slow multiply_adds",
        solution: include_str!("../../solutions/13_tensor_cores/kernel.cu"),
        problem: &TensorMatmul,
        cases: &[
            Case::new([1, 1, 1]),
            Case::new([16, 8, 8]),
            Case::new([17, 9, 9]),
            Case::new([63, 65, 16]),
            Case::new([128, 128, 100]),
            Case::new([13, 251, 37]),
            Case::new([132, 260, 36]),
            Case::new([24, 40, 1036]),
            Case::new([256, 128, 64]),
        ],
        counted: Case::new([256, 256, 128]),
        requirements: &[
            Requirement {
                key: "multiply_adds",
                metric: Metric::MultiplyAddsPerInstruction,
                bound: Bound::AtLeast(40.0),
                advice: "A multiply-add of the ordinary cores makes 32 products, one per lane; an mma makes 1,024. Let \
                    the tensor cores multiply, and let each fragment that a warp has loaded serve several mma.",
                advice_with_tile: None,
            },
            Requirement::COALESCED_LOADS,
            Requirement {
                key: "bank_conflicts",
                metric: Metric::BankConflictsPerRequest,
                bound: Bound::AtMost(0.5),
                advice: "The lanes of a fragment lie in several rows of the tile, and these rows meet in the same \
                    banks. Which banks do lanes 0, 4, 8 ... read from? Choose the distance of two rows so that all 32 \
                    are different.",
                advice_with_tile: None,
            },
        ],
        not_judged_here: None,
        speed: Some(Speed {
            size: [4096, 4096, 4096],
            baseline: Baseline {
                name: "12's solution, without tensor cores",
                source: include_str!("../../solutions/12_sgemm/kernel.cu"),
                kernel: "sgemm",
                block: [256, 1, 1],
            },
            goal: Goal::Position(0.5),
            h200_reference: Some(3.85),
            min_capability: 80,
        }),
        hints: [
            indoc! {"
                Write the number of a lane as 4 g + t: g = lane / 4 is 0 to 7, t = lane % 4. Then a lane holds

                    of A, 16 x 8:   a[0] row g      column t        of B, 8 x 8:    b[0] row t       column g
                                    a[1] row g + 8  column t                        b[1] row t + 4   column g
                                    a[2] row g      column t + 4
                                    a[3] row g + 8  column t + 4    of C, 16 x 8:   d[0], d[1] row g      columns 2t, 2t + 1
                                                                                    d[2], d[3] row g + 8  columns 2t, 2t + 1

                Begin with one piece of 16 x 8 per warp, stored with guards, and get its values right before anything else.
            "},
            indoc! {"
                Loading 4 + 2 registers for one mma takes longer than the mma. A warp with 2 x 4 pieces loads 2 fragments of A and 4 of
                B for 8 mma; one with 4 x 8 pieces 4 and 8 for 32. Their sums are a float sum[4][8][4]; unroll every loop over them.

                For a fragment of A, lane 4 g + t reads word g * S + t of the tile, if rows are S words apart. Which S put
                these 32 words in 32 banks? And which do it for B, where the lane reads word t * S + g?
            "},
            indoc! {"
                A's rows 4 (or 12, 20, 28) words apart modulo 32: tile_a[BLOCK_M][BLOCK_K + 4]. B's 8 or 24: tile_b[BLOCK_K][BLOCK_N + 8].

                    for (int k = 0; k < BLOCK_K; k += 8) {
                        // for each i: a[i][r] = to_tf32(tile_a[m0 + i * 16 + g + r % 2 * 8][k + t + r / 2 * 4])
                        // for each j: b[j][r] = to_tf32(tile_b[k + t + r * 4][n0 + j * 8 + g])
                        // for each i and j: mma(sum[i][j], a[i], b[j])
                    }

                For the clock: a block of 128 x 128, 64 x 64 for each of four warps, and the tiles in two buffers filled by cp.async, as in
                exercise 11. That is twice SGEMM's speed.
            "},
        ],
    };
}
