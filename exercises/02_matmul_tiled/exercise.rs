//! Exercise 02: shared-memory tiles, the two barriers, arithmetic intensity.

use exercise::problem::Matmul;
use exercise::{Baseline, Bound, Case, Exercise, Goal, Metric, Requirement, Speed};
use indoc::indoc;

exercise::exercise! {
    /// Tiled matrix multiplication.
    ///
    /// A block that makes h x w elements of C from shared tiles loads (h + w) floats for every h w multiply-adds: h w / (2 (h
    /// + w)) operations per byte, whatever the tile's depth. That is 2 for 8 x 8, 2.67 for 8 x 16, 4 for 16 x 16, and 0.25
    /// for a thread that loads everything itself; sharing one of the two matrices gives at most 0.5. The bound of 1.5 lies
    /// in between, and float4, dynamic shared memory or several elements per thread change nothing about it.
    pub const EXERCISE: Exercise = Exercise {
        number: 2,
        slug: "matmul_tiled",
        title: "Tiled matrix multiplication",
        lesson: "Shared-memory tiles and their two barriers raise arithmetic intensity from 0.25 to TILE / 4 FLOP per byte.",
        kernel: "matmul_tiled",
        stub: include_str!("stub.cu"),
        stub_fails: "too_slow reuse",
        solution: include_str!("../../solutions/02_matmul_tiled/kernel.cu"),
        problem: &Matmul,
        // Multiples of 64: what to do with partial tiles is exercise 03.
        cases: &[
            Case::new([64, 64, 64]),
            Case::new([64, 128, 64]),
            Case::new([128, 64, 64]),
            Case::new([64, 64, 192]),
            Case::new([64, 192, 128]),
        ],
        counted: Case::new([128, 128, 128]),
        requirements: &[
            Requirement {
                key: "reuse",
                metric: Metric::FlopsPerLoadedByte,
                bound: Bound::AtLeast(1.5),
                advice: "Your threads fetch nearly everything from global memory themselves. Let the block copy a tile \
                    of A and a tile of B into shared memory, and take both factors of every product from there.",
                advice_with_tile: Some("Your tiles save too little. In a tile of TILE x TILE elements each one serves \
                    TILE threads, so make TILE larger (16 or 32 is usual), and see that both factors of every product \
                    come from a tile."),
            },
            Requirement::COALESCED_LOADS,
            Requirement::COALESCED_STORES,
        ],
        not_judged_here: None,
        speed: Some(Speed {
            size: [2048, 2048, 2048],
            baseline: Baseline {
                name: "01's solution",
                source: include_str!("../../solutions/01_matmul_naive/kernel.cu"),
                kernel: "matmul_naive",
                block: [16, 16, 1],
            },
            goal: Goal::Position(0.8),
            h200_reference: Some(1.7),
            min_capability: 50,
        }),
        hints: [
            indoc! {"
                A block makes TILE x TILE elements of C. In one phase it needs the TILE columns of A from k0 on, for its
                rows, and the TILE rows of B from k0 on, for its columns: two squares, of as many elements as the block has
                threads. So each thread copies one element of each square. Where do the barriers have to be?
            "},
            indoc! {"
                With `__shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];` and tx, ty for threadIdx.x, threadIdx.y:

                    for (int k0 = 0; k0 < K; k0 += TILE) {
                        // copy A[row][k0 + tx] and B[k0 + ty][col] to [ty][tx] of the tiles
                        // barrier: the tiles are complete
                        // add up TILE products from the tiles
                        // barrier: nobody needs these tiles any more
                    }
            "},
            indoc! {"
                One phase, with the loop over k0 around it:

                    tile_a[ty][tx] = A[row * K + k0 + tx];
                    tile_b[ty][tx] = B[(k0 + ty) * N + col];
                    __syncthreads();
                    for (int k = 0; k < TILE; ++k) {
                        sum += tile_a[ty][k] * tile_b[k][tx];
                    }
                    __syncthreads();
            "},
        ],
    };
}
