//! What exercises compute: inputs, reference results and error bounds.

/// Dimensions of a problem instance; what they mean is the problem's business. Unused ones are 1.
pub type Size = [usize; 3];

/// A family of tasks with one kernel signature.
pub trait Problem: Sync {
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
    /// Floating-point operations that the task needs at least.
    fn flops(&self, size: Size) -> u64;
    /// Bytes that must cross the memory bus at least: every input read once, every output written once.
    fn bytes(&self, size: Size) -> u64;
}

/// A kernel parameter as the learner sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name in the stub.
    pub name: &'static str,
    /// Its type.
    pub ty: ParamType,
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
