//! Exercise 12: the capstone, against the vendor's library.

use exercise::problem::Matmul;
use exercise::{Baseline, Bound, Case, Exercise, Goal, Metric, Requirement, Speed};
use indoc::indoc;

exercise::exercise! {
    /// SGEMM.
    ///
    /// The simulator asks for what every fast kernel has: `reuse` above the 8 operations per byte that one element per
    /// thread can reach at most (32 x 32 threads); `shared_reuse` of 60, which 4 x 4 elements per thread reach at any layout
    /// and 1 x 4 at none; and loads wider than a float (08's bound). The rest is time.
    pub const EXERCISE: Exercise = Exercise {
        number: 12,
        slug: "sgemm",
        title: "SGEMM",
        lesson: "Tiles for every level of memory, vector accesses, banks, double buffering and registers, all at once.",
        kernel: "sgemm",
        stub: include_str!("stub.cu"),
        stub_fails: "wrong_values",
        solution: include_str!("../../solutions/12_sgemm/kernel.cu"),
        problem: &Matmul,
        cases: &[
            Case::new([1, 1, 1]),
            Case::new([127, 127, 7]),
            Case::new([128, 128, 8]),
            Case::new([129, 129, 9]),
            Case::new([13, 251, 37]),
            Case::new([260, 20, 52]),
            Case::new([256, 384, 64]),
        ],
        counted: Case::new([256, 256, 128]),
        requirements: &[
            Requirement {
                key: "reuse",
                metric: Metric::FlopsPerLoadedByte,
                bound: Bound::AtLeast(12.0),
                advice: "A block fetches too much from global memory for what it computes. Let it make a larger piece \
                    of C, 64 x 64 at least, from tiles in shared memory.",
                advice_with_tile: None,
            },
            Requirement {
                key: "shared_reuse",
                metric: Metric::FlopsPerSharedWavefront,
                bound: Bound::AtLeast(60.0),
                advice: "Shared memory cannot feed the arithmetic units at this rate. Make 8 x 8 elements per thread \
                    by outer products, and mind the banks.",
                advice_with_tile: None,
            },
            Requirement {
                key: "bytes_per_request",
                metric: Metric::BytesPerGlobalRequest,
                bound: Bound::AtLeast(300.0),
                advice: "Many of your loads or stores move less than one instruction could. Use float4 for both \
                    factors and for C where rows are aligned.",
                advice_with_tile: None,
            },
        ],
        not_judged_here: Some("the last factor of two is latency and instruction order, which show in time only"),
        speed: Some(Speed {
            size: [4096, 4096, 4096],
            baseline: Baseline {
                name: "the coarsened kernel",
                source: include_str!("../../kernels/baselines/matmul_coarse.cu"),
                kernel: "matmul_coarse",
                block: [16, 16, 1],
            },
            goal: Goal::Position(0.8),
            h200_reference: Some(2.06),
            min_capability: 50,
        }),
        hints: [
            indoc! {"
                Begin with a kernel that passes 04, change one thing at a time, and look at the requirement table after each.
                The order of the list in the stub is also the order of what they gain.
            "},
            indoc! {"
                With A stored as tile_a[k][row], a thread that owns rows m0 to m0 + 3 and m0 + 64 to m0 + 67, and the same for
                columns, loads its 16 factors per k with four float4. Fill tile_a from a float4 of a row of A: its four values
                go to four different rows of tile_a, in the same column. Pad its rows by 4 floats.
            "},
            indoc! {"
                The loop, with one barrier per phase:

                    fetch(0); put(buffer 0); __syncthreads();
                    for (int k0 = 0; k0 < K; k0 += BLOCK_K) {
                        if (k0 + BLOCK_K < K) fetch(k0 + BLOCK_K);      // global memory -> registers: starts only
                        multiply(buffer now);                           // hides its latency
                        if (k0 + BLOCK_K < K) { put(buffer 1 - now); __syncthreads(); now = 1 - now; }
                    }

                BLOCK_K = 8 keeps what is in flight in 2 float4 per thread. The solution explains each of its numbers.
            "},
        ],
    };
}
