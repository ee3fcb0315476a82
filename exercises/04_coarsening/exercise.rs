//! Exercise 04: several elements per thread, by outer products in registers.

use exercise::problem::Matmul;
use exercise::{Baseline, Bound, Case, Exercise, Goal, Metric, Requirement, Speed};
use indoc::indoc;

exercise::exercise! {
    /// Register tiles.
    ///
    /// `shared_reuse`: a warp with one element per thread does 64 operations per k and spends a wavefront on A (a broadcast)
    /// and one on B: 32 operations per wavefront. Loading four k of A at once, as the assembler does where it can, makes that
    /// two wavefronts instead of four: 64 / 1.5 = 42.7, and B cannot do better than one wavefront for 32 different words.
    /// With r x c elements per thread it is 64 r c / (r + c): 51 for 1 x 4, 64 for 2 x 2, 128 for 4 x 4, and 64 still for
    /// 4 x 4 side by side, which has two-way bank conflicts on both. The bound of 44 lies above all of the former; of the
    /// latter, it turns away 1 x 2, and 2 x 2 side by side, whose bank conflicts eat the gain (both 42.7).
    ///
    /// `reuse` keeps the tiles: 4 x 4 per thread without shared memory is at 1 operation per byte of global memory, 8 x 8
    /// at 2; with tiles it is half the block's side over 2, at least 4 for 16 x 16.
    pub const EXERCISE: Exercise = Exercise {
        number: 4,
        slug: "coarsening",
        title: "Thread coarsening",
        lesson: "Several outputs per thread, made by outer products in registers, relieve shared memory.",
        kernel: "matmul_coarse",
        stub: include_str!("stub.cu"),
        stub_fails: "too_slow shared_reuse",
        solution: include_str!("../../solutions/04_coarsening/kernel.cu"),
        problem: &Matmul,
        cases: &[
            Case::new([1, 1, 1]),
            Case::new([63, 63, 15]),
            Case::new([64, 64, 16]),
            Case::new([65, 65, 17]),
            Case::new([13, 131, 37]),
            Case::new([130, 17, 70]),
            Case::new([128, 192, 64]),
        ],
        counted: Case::new([256, 256, 64]),
        requirements: &[
            Requirement {
                key: "shared_reuse",
                metric: Metric::FlopsPerSharedWavefront,
                bound: Bound::AtLeast(44.0),
                advice: "Your threads load from shared memory nearly as often as they multiply. Let each thread make \
                    several rows and columns of C: load a few values of A and a few of B into local variables, then \
                    multiply each with each. Where that is done, take more of each (n of both give n * n products), \
                    and see with the command `look` whether banks conflict.",
                advice_with_tile: None,
            },
            Requirement {
                key: "reuse",
                metric: Metric::FlopsPerLoadedByte,
                bound: Bound::AtLeast(3.0),
                advice: "Registers are there, but the block no longer shares what it loads. Keep tiles of A and B in \
                    shared memory and fill the registers from there.",
                advice_with_tile: Some("Your tiles are too small for what the block computes, or only one factor comes \
                    from a tile: a block that makes SIDE x SIDE elements of C uses each element that it loads SIDE \
                    times."),
            },
        ],
        not_judged_here: None,
        speed: Some(Speed {
            size: [2048, 2048, 2048],
            baseline: Baseline {
                name: "02's solution",
                source: include_str!("../../solutions/02_matmul_tiled/kernel.cu"),
                kernel: "matmul_tiled",
                block: [32, 32, 1],
            },
            goal: Goal::Position(0.8),
            h200_reference: Some(4.1),
            min_capability: 50,
        }),
        hints: [
            indoc! {"
                Begin with the tiles: a block makes SIDE x SIDE elements, SIDE = TILE * BATCH, so tile_a is SIDE x TILE and
                tile_b is TILE x SIDE. A loop lets TILE * TILE threads fill them. Then `float sum[BATCH][BATCH] = {};`
                instead of `float sum`. LAUNCH must say SIDE too.
            "},
            indoc! {"
                For each k: first load, then multiply.

                    float a[BATCH], b[BATCH];
                    for (int i = 0; i < BATCH; ++i) {
                        a[i] = tile_a[ty + i * TILE][k];
                        b[i] = tile_b[k][tx + i * TILE];
                    }

                Elements TILE apart rather than side by side keep neighbouring threads on neighbouring words and columns.
            "},
            indoc! {"
                The multiply-adds:

                    for (int i = 0; i < BATCH; ++i)
                        for (int j = 0; j < BATCH; ++j)
                            sum[i][j] += a[i] * b[j];

                Filling a tile, with `thread = ty * TILE + tx` and BATCH elements per thread:

                    for (int i = 0; i < BATCH; ++i) {
                        int element = i * TILE * TILE + thread;
                        int row = element / TILE, k = element % TILE;
                        tile_a[row][k] = (row0 + row < M && k0 + k < K) ? A[(row0 + row) * K + k0 + k] : 0.0f;
                    }

                With BATCH 8 and `__launch_bounds__(TILE * TILE, 2)` the compiler keeps to 128 registers, so that two blocks fit.
                A GPU likes elements in groups of four: column i / 4 * (4 * TILE) + tx * 4 + i % 4 instead of tx + i * TILE, rows
                likewise, and A's tile as `__shared__ __align__(16) float tile_a[TILE][SIDE + 4]`, filled as tile_a[k][row]. Four
                neighbours are then one load of 16 bytes. Without the 4, the stores down a column of tile_a meet in few banks.
            "},
        ],
    };
}
