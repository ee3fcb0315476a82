//! What exercises compute: inputs, reference results and error bounds.

mod convolution;
mod matmul;
mod reduction;
mod transpose;
mod vector;

use std::fmt;

pub use convolution::{Convolution, FILTER, FILTER_RADIUS};
pub use matmul::{Matmul, TensorMatmul};
pub use reduction::RowSums;
pub use transpose::Transpose;
pub use vector::VectorAdd;

/// Dimensions of a problem instance; what they mean is the problem's business. Unused ones are 1.
pub type Size = [usize; 3];

/// A family of tasks with one kernel signature.
pub trait Problem: fmt::Debug + Sync {
    /// One line: `C = A B, row-major`.
    fn summary(&self) -> &'static str;
    /// The names of the dimensions in use, in the order of [`Size`]: `["M", "N", "K"]`.
    fn dimensions(&self) -> &'static [&'static str];
    /// What the kernel must take, in order.
    fn params(&self) -> &'static [Param];
    /// Extent of the output in x (columns), y (rows) and z: what `LAUNCH` divides into blocks.
    fn extent(&self, size: Size) -> [usize; 3];
    /// Inputs drawn from `seed`, and what must come out.
    fn instance(&self, size: Size, seed: u64) -> Instance;
    /// The arguments of an instance, with buffers that hold nothing: for what goes by their sizes alone.
    fn layout(&self, size: Size) -> Vec<Arg>;
    /// Floating-point operations that the task needs at least.
    fn flops(&self, size: Size) -> u64;
    /// Bytes that must cross the memory bus at least: every input read once, every output written once.
    fn bytes(&self, size: Size) -> u64;
    /// In what precision products are to be made at least, and so which units may make them.
    fn precision(&self) -> Precision {
        Precision::Single
    }
    /// What a library does of the same work, to hold a kernel's speed against; `None` if there is no such thing.
    fn yardstick(&self, _size: Size) -> Option<Yardstick> {
        None
    }
}

/// The precision of products. Sums are in single precision always.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// FP32, 24 bits of significand: multiply-adds of the ordinary cores.
    Single,
    /// TF32, 11 bits of significand and the range of FP32: tensor cores.
    Tf32,
}

/// Work that the driver or a library of NVIDIA's does as fast as the GPU allows. Buffers are given by the indices of the
/// arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yardstick {
    /// A copy of one buffer to another.
    Copy {
        /// The source.
        from: usize,
        /// The destination.
        to: usize,
        /// Length of both.
        bytes: u64,
    },
    /// A copy of the first half of a buffer to its second half.
    CopyWithin {
        /// The buffer.
        arg: usize,
        /// Its whole length.
        bytes: u64,
    },
    /// The product of row-major matrices.
    MatrixProduct {
        /// The left factor.
        a: usize,
        /// The right factor.
        b: usize,
        /// The product.
        c: usize,
        /// M, N and K.
        size: [u32; 3],
        /// That of the products.
        precision: Precision,
    },
}

/// A kernel parameter as the learner sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name in the stub.
    pub name: &'static str,
    /// Its type.
    pub ty: ParamType,
}

impl Param {
    const fn new(name: &'static str, ty: ParamType) -> Param {
        Param { name, ty }
    }
}

/// Types of kernel parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamType {
    /// `const float*`
    FloatIn,
    /// `float*`
    FloatOut,
    /// `int`
    Int,
    /// `float`
    Float,
}

impl fmt::Display for ParamType {
    /// As CUDA C++ writes it: `const float*`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ParamType::FloatIn => "const float*",
            ParamType::FloatOut => "float*",
            ParamType::Int => "int",
            ParamType::Float => "float",
        })
    }
}

/// One concrete task.
#[derive(Clone, Debug)]
pub struct Instance {
    /// Arguments in the order of the parameters.
    pub args: Vec<Arg>,
    /// What each output buffer must hold.
    pub expected: Vec<Expected>,
}

/// A kernel argument.
#[derive(Clone, Debug)]
pub enum Arg {
    /// A pointer.
    Buffer(Buffer),
    /// A value.
    Scalar(Scalar),
}

/// A buffer of floats.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// The parameter's name.
    pub name: &'static str,
    /// Number of elements.
    pub len: usize,
    /// Rows and columns, row-major, for drawing it; a vector is one row.
    pub shape: [usize; 2],
    /// What is in it at the start. `None`: nothing was ever written there.
    pub data: Option<Vec<f32>>,
    /// Whether the kernel may write it.
    pub role: Role,
}

/// What a buffer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Only read; writing to it is a fault.
    Input,
    /// Written.
    Output,
}

/// A scalar argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// `int`
    Int(i32),
    /// `float`
    Float(f32),
}

/// What an output must hold.
#[derive(Clone, Debug)]
pub struct Expected {
    /// Index of the argument.
    pub arg: usize,
    /// Right values in double precision.
    pub values: Vec<f64>,
    /// The largest error allowed per element.
    pub tolerance: Vec<f64>,
    /// Rows and columns, for describing where the wrong elements are.
    pub shape: [usize; 2],
}

impl Arg {
    fn input(name: &'static str, shape: [usize; 2], data: Vec<f32>) -> Arg {
        Arg::Buffer(Buffer { name, len: data.len(), shape, data: Some(data), role: Role::Input })
    }

    /// An input of which only the size matters.
    fn hollow(name: &'static str, shape: [usize; 2]) -> Arg {
        Arg::Buffer(Buffer { name, len: shape[0] * shape[1], shape, data: None, role: Role::Input })
    }

    fn output(name: &'static str, shape: [usize; 2]) -> Arg {
        Arg::Buffer(Buffer { name, len: shape[0] * shape[1], shape, data: None, role: Role::Output })
    }

    /// A dimension. No case comes near 2^31 elements on a side; if one did, the kernel could not be told.
    fn int(value: usize) -> Arg {
        Arg::Scalar(Scalar::Int(i32::try_from(value).expect("dimensions fit an int")))
    }
}

/// Unit roundoff of single precision, 2^-24: the largest relative error of one rounded operation.
const UNIT_ROUNDOFF: f64 = 1.0 / (1u64 << 24) as f64;

/// Bound on the error of a sum of `terms` rounded products, in any order and with or without fused multiply-add,
/// relative to the sum of the products' absolute values. The smaller of two:
///
/// - gamma_n = n u / (1 - n u), which always holds (Higham, "Accuracy and Stability of Numerical Algorithms", 3.1);
/// - exp(9 sqrt(n) u) - 1, which holds where rounding errors are independent with mean 0, as they are for random inputs,
///   with a probability of failure below 2 n exp(-81 / 2), that is, once in 10^14 elements of 1,000 terms (Higham and
///   Mary, "A New Approach to Probabilistic Rounding Error Analysis", SIAM J. Sci. Comput. 41, 2019, Theorem 3.1).
///   From 81 terms on it is the smaller one, and keeps the bound so tight that a missing term shows in long sums too.
fn sum_error(terms: usize) -> f64 {
    let n = terms as f64;
    let always = n * UNIT_ROUNDOFF / (1.0 - n * UNIT_ROUNDOFF);
    let random = (9.0 * n.sqrt() * UNIT_ROUNDOFF).exp_m1();
    always.min(random)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [&dyn Problem; 6] = [&VectorAdd, &Matmul, &TensorMatmul, &Transpose, &RowSums, &Convolution];
    const SIZES: [Size; 3] = [[1, 1, 1], [7, 13, 5], [33, 31, 40]];

    #[test]
    fn instances_match_their_declared_parameters() {
        for problem in ALL {
            for size in SIZES {
                let instance = problem.instance(size, 1);
                assert_eq!(instance.args.len(), problem.params().len(), "{problem:?}");
                for (arg, param) in instance.args.iter().zip(problem.params()) {
                    match (arg, param.ty) {
                        (Arg::Buffer(b), ParamType::FloatIn) => {
                            assert_eq!((b.name, b.role), (param.name, Role::Input));
                            assert_eq!(b.data.as_ref().map(Vec::len), Some(b.len));
                            assert_eq!(b.len, b.shape[0] * b.shape[1]);
                        }
                        (Arg::Buffer(b), ParamType::FloatOut) => {
                            assert_eq!((b.name, b.role, b.data.is_none()), (param.name, Role::Output, true));
                        }
                        (Arg::Scalar(Scalar::Int(_)), ParamType::Int) => {}
                        other => panic!("{problem:?}: {other:?}"),
                    }
                }
            }
        }
    }

    #[test]
    fn layouts_are_those_of_instances() {
        for problem in ALL {
            for size in SIZES {
                let plain = |arg: &Arg| match arg {
                    Arg::Buffer(Buffer { name, len, shape, role, .. }) => {
                        format!("{name} {len} {shape:?} {role:?}")
                    }
                    Arg::Scalar(scalar) => format!("{scalar:?}"),
                };
                let (layout, instance) = (problem.layout(size), problem.instance(size, 1));
                let (layout, args) = (layout.iter().map(plain), instance.args.iter().map(plain));
                assert!(layout.eq(args), "{problem:?} at {size:?}");
            }
        }
    }

    #[test]
    fn expectations_cover_the_output() {
        for problem in ALL {
            for size in SIZES {
                let instance = problem.instance(size, 1);
                for expected in &instance.expected {
                    let Arg::Buffer(buffer) = &instance.args[expected.arg] else { panic!("{problem:?}") };
                    let [rows, columns] = expected.shape;
                    assert_eq!(buffer.role, Role::Output);
                    assert_eq!(buffer.len, expected.values.len());
                    assert_eq!(buffer.len, expected.tolerance.len());
                    assert_eq!(buffer.len, rows * columns);
                    assert_eq!(buffer.shape, expected.shape);
                    let [x, y, z] = problem.extent(size);
                    assert!(x * y * z > 0);
                }
            }
        }
    }

    #[test]
    fn seeds_decide_the_inputs() {
        let first = |problem: &dyn Problem, seed| match &problem.instance([7, 13, 5], seed).args[0] {
            Arg::Buffer(buffer) => buffer.data.clone(),
            Arg::Scalar(_) => None,
        };
        for problem in ALL {
            assert_eq!(first(problem, 1), first(problem, 1), "{problem:?}");
            assert_ne!(first(problem, 1), first(problem, 2), "{problem:?}");
        }
    }

    #[test]
    fn least_bytes_are_those_of_the_buffers() {
        for problem in ALL {
            for size in SIZES {
                let args = problem.instance(size, 1).args;
                let elements: usize =
                    args.iter().map(|arg| if let Arg::Buffer(b) = arg { b.len } else { 0 }).sum();
                assert_eq!(problem.bytes(size), 4 * elements as u64, "{problem:?}");
            }
        }
    }

    #[test]
    fn the_bound_grows_with_the_number_of_terms() {
        assert!(sum_error(1) > UNIT_ROUNDOFF);
        assert!(sum_error(50) > 49.9 * sum_error(1), "linearly where few terms are summed");
        let growth = sum_error(10_000) / sum_error(100);
        assert!((9.9..10.1).contains(&growth), "then with the square root: {growth}");
    }
}
