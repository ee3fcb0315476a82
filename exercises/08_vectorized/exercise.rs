//! Exercise 08: float4 loads and stores, and what alignment has to do with them.

use exercise::problem::Matmul;
use exercise::{Baseline, Bound, Case, Exercise, Goal, Metric, Requirement, Speed};
use indoc::indoc;

exercise::exercise! {
    /// Vector loads and stores.
    ///
    /// A request of 32 lanes carries 128 bytes with floats, 256 with float2, 512 with float4, whatever the kernel does with
    /// them. Counted at a size where every row is aligned and every block full. 300 is out of reach for float2 and leaves
    /// room for a kernel that stores C one float at a time (384 with tiles of 32, more with larger ones).
    pub const EXERCISE: Exercise = Exercise {
        number: 8,
        slug: "vectorized",
        title: "Vectorized loads and stores",
        lesson: "float4 moves four floats with one instruction; the address must be a multiple of 16 bytes.",
        kernel: "matmul_vectorized",
        stub: include_str!("stub.cu"),
        stub_fails: "too_slow bytes_per_request",
        solution: include_str!("../../solutions/08_vectorized/kernel.cu"),
        problem: &Matmul,
        cases: &[
            Case::new([1, 1, 1]),
            Case::new([31, 31, 31]),
            Case::new([32, 32, 32]),
            Case::new([33, 33, 33]),
            Case::new([19, 36, 40]),
            Case::new([40, 38, 36]),
            Case::new([13, 101, 58]),
            Case::new([64, 96, 128]),
        ],
        counted: Case::new([128, 128, 128]),
        requirements: &[
            Requirement {
                key: "bytes_per_request",
                metric: Metric::BytesPerGlobalRequest,
                bound: Bound::AtLeast(300.0),
                advice: "Your warps move few bytes per request: a float per thread is 128, a float4 is 512. Where four \
                    neighbours exist and their address is a multiple of 16, move them as one float4, in loads and in \
                    stores; only the ragged edge needs single ones.",
                advice_with_tile: None,
            },
            Requirement {
                key: "reuse",
                metric: Metric::FlopsPerLoadedByte,
                bound: Bound::AtLeast(1.5),
                advice: "The loads are wide, but each element is fetched again and again. Keep the tiles in shared \
                    memory.",
                advice_with_tile: Some("The loads are wide, but each element is fetched several times. Make the tiles \
                    larger, and see that both factors of every product come from one."),
            },
        ],
        not_judged_here: None,
        speed: Some(Speed {
            size: [2048, 2048, 2048],
            baseline: Baseline {
                name: "the same kernel, one float at a time",
                source: include_str!("../../kernels/baselines/matmul_scalar.cu"),
                kernel: "matmul_scalar",
                block: [8, 32, 1],
            },
            goal: Goal::Position(0.8),
            h200_reference: Some(1.45),
            min_capability: 50,
        }),
        hints: [
            indoc! {"
                Everything is prepared: both functions handle four neighbours whose first column is a multiple of 4. When is
                the address of such a four a multiple of 16 bytes, and when do all of the four exist?
            "},
            indoc! {"
                `matrix` itself is aligned, and col is a multiple of 4. So row * cols + col is a multiple of 4 exactly if row *
                cols is, and for every row exactly if cols is. In that case the four are all inside or all outside.
            "},
            indoc! {"
                In load4:

                    if (cols % 4 == 0) {
                        float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
                        if (row < rows && col < cols) {
                            v = *reinterpret_cast<const float4*>(&matrix[row * cols + col]);
                        }
                        *reinterpret_cast<float4*>(to) = v;
                        return;
                    }

                and below it the loop, for the other sizes. store4 is the same the other way round. Give `sum`
                `__align__(16)`, or build the float4 from its four elements.
            "},
        ],
    };
}
