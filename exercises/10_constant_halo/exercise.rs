//! Exercise 10: constant memory, and tiles with a halo.

use exercise::problem::Convolution;
use exercise::{Baseline, Bound, Case, Exercise, Goal, Metric, Requirement, Speed};
use indoc::indoc;

exercise::exercise! {
    /// Convolution.
    ///
    /// 50 operations per output. Weights and inputs from global memory make 200 bytes: 0.25 operations per byte. Without the
    /// weights (in constant memory, or in the code) it is 0.5, and with a tile but not that, 0.47. Both together make 9.9
    /// with tiles of 32 x 32 and 8 with 16 x 16; a thread that keeps a column of 8 outputs in registers, without shared
    /// memory, is at 1.67. Hence 1.5.
    pub const EXERCISE: Exercise = Exercise {
        number: 10,
        slug: "constant_halo",
        title: "Convolution: constant memory and halos",
        lesson: "Constant memory serves what all threads read at once; a tile needs a halo of its neighbours' cells.",
        kernel: "convolve",
        stub: include_str!("stub.cu"),
        stub_fails: "too_slow reuse",
        solution: include_str!("../../solutions/10_constant_halo/kernel.cu"),
        problem: &Convolution,
        cases: &[
            Case::new([1, 1, 1]),
            Case::new([2, 3, 1]),
            Case::new([31, 31, 1]),
            Case::new([32, 32, 1]),
            Case::new([33, 33, 1]),
            Case::new([7, 101, 1]),
            Case::new([67, 36, 1]),
            Case::new([96, 128, 1]),
        ],
        counted: Case::new([128, 128, 1]),
        requirements: &[Requirement {
            key: "reuse",
            metric: Metric::FlopsPerLoadedByte,
            bound: Bound::AtLeast(1.5),
            advice: "Weights, inputs or both still come from global memory once per use. The weights belong into \
                __constant__ memory; the inputs into a shared tile that is RADIUS cells larger on each side.",
            advice_with_tile: Some("Your tile is there, but too much still comes from global memory: the weights, if \
                they are not in __constant__ memory; inputs that are read past the tile; or the halo, if the tile is \
                small beside it."),
        }],
        not_judged_here: None,
        speed: Some(Speed {
            size: [8192, 8192, 1],
            baseline: Baseline {
                name: "weights and inputs from global memory",
                source: include_str!("../../kernels/baselines/convolve_naive.cu"),
                kernel: "convolve_naive",
                block: [32, 8, 1],
            },
            goal: Goal::Position(0.8),
            h200_reference: Some(1.55),
            min_capability: 50,
        }),
        hints: [
            indoc! {"
                The weights take one word: __constant__ instead of __device__. The tile takes more: it is (TILE + 4) x
                (TILE + 4), which is more elements than outputs, so no thread can load just its own. Number the tile's elements
                from 0 on and let the threads walk over them in steps of the block's size.
            "},
            indoc! {"
                Element (y, x) of the tile is element (blockIdx.y * TILE - RADIUS + y, blockIdx.x * TILE - RADIUS + x) of the
                image, or 0 where that lies outside: above, below, left or right. With the zeros in the tile, the sum needs
                no conditions. Output (i, threadIdx.x) uses the tile's elements (i + dy, threadIdx.x + dx).
            "},
            indoc! {"
                    int thread = threadIdx.y * TILE + threadIdx.x;
                    for (int element = thread; element < SIDE * SIDE; element += TILE * BLOCK_ROWS) {
                        int y = element / SIDE, x = element % SIDE;
                        int row = row0 + y, col = col0 + x;
                        bool inside = row >= 0 && row < rows && col >= 0 && col < cols;
                        tile[y][x] = inside ? in[row * cols + col] : 0.0f;
                    }
                    __syncthreads();

                with SIDE = TILE + 2 * RADIUS, row0 = blockIdx.y * TILE - RADIUS and the same for col0. If the number of rounds
                is a constant, #pragma unroll puts the loads of all rounds in flight at once.
            "},
        ],
    };
}
