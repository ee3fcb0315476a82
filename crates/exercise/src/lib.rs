//! The vocabulary a Warplings exercise is described in.
//!
//! An exercise is data: a [`Problem`] (what to compute), [`Case`]s (at which sizes), [`Requirement`]s (what a good
//! kernel keeps to on the simulator), a [`Speed`] goal (on a GPU), and hints. It knows nothing of how kernels are run.
//!
//! Beside the types are the pure functions that go with them: [`compare`] judges an output, [`LaunchSpec`] turns the
//! launch macros of a compiled kernel into a grid, [`Expectation`] reads the verdict that a wrong kernel must get,
//! [`occupancy`] tells how full an SM gets.
//!
//! The file `exercise.rs` of an exercise holds one [`exercise!`] and nothing else:
//!
//! ```
//! use exercise::{Case, Exercise, problem::VectorAdd};
//!
//! exercise::exercise! {
//!     /// Vector addition.
//!     pub const EXERCISE: Exercise = Exercise {
//!         number: 0,
//!         slug: "vector_add",
//!         title: "Vector addition",
//!         lesson: "One thread per element, and a guard for the last block.",
//!         kernel: "vector_add",
//!         stub: "...",
//!         stub_fails: "wrong_values",
//!         solution: "...",
//!         problem: &VectorAdd,
//!         cases: &[Case::new([1, 1, 1]), Case::new([257, 1, 1])],
//!         counted: Case::new([4096, 1, 1]),
//!         requirements: &[],
//!         not_judged_here: None,
//!         speed: None,
//!         hints: ["Which thread?", "blockIdx.x * blockDim.x + threadIdx.x", "if (i < n)"],
//!     };
//! }
//! # fn main() {}
//! ```

pub mod check;
mod compare;
mod expectation;
mod launch;
mod occupancy;
pub mod problem;
mod random;
mod requirement;

pub use compare::{Comparison, Pattern, compare};
pub use expectation::{Expectation, ExpectationError};
pub use launch::{Blocks, LaunchError, LaunchSpec, limits};
pub use occupancy::{BlockResources, GpuModel, Limit, Occupancy, Sm, occupancy};
pub use problem::{
    Arg, Buffer, Expected, Instance, Param, ParamType, Precision, Problem, Role, Scalar, Size, Yardstick,
};
pub use random::SplitMix64;
pub use requirement::{Bound, Metric, Requirement};

/// One exercise.
#[derive(Clone, Copy, Debug)]
pub struct Exercise {
    /// Its number, 0 to 99.
    pub number: u8,
    /// Its short name: `transpose_coalescing`. The folder is `05_transpose_coalescing`.
    pub slug: &'static str,
    /// A title for people.
    pub title: &'static str,
    /// What the learner learns, in one sentence.
    pub lesson: &'static str,
    /// The name of the kernel function.
    pub kernel: &'static str,
    /// The file that the learner starts from.
    pub stub: &'static str,
    /// What the stub must be rejected for, in the words of an [`Expectation`]: `too_slow store_sectors`.
    pub stub_fails: &'static str,
    /// The reference solution: `solutions/NN_slug/kernel.cu`. Other files of that folder are other ways to solve it, which must
    /// pass too.
    pub solution: &'static str,
    /// What to compute.
    pub problem: &'static dyn Problem,
    /// The sizes to judge correctness at.
    pub cases: &'static [Case],
    /// The size at which the counters of the requirements are taken.
    pub counted: Case,
    /// What a good kernel keeps to on the simulator, judged at `counted`. Empty: judged on correctness only.
    pub requirements: &'static [Requirement],
    /// Why the simulator does not judge the lesson, if no counter sees it ("latency hiding").
    pub not_judged_here: Option<&'static str>,
    /// The goal on a GPU; `None` if speed is not judged.
    pub speed: Option<Speed>,
    /// Three hints of rising help.
    pub hints: [&'static str; 3],
}

/// A size to run at. The seed of the inputs is chosen by the checker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// The problem's dimensions, in the order of [`Problem::dimensions`].
    pub size: Size,
}

impl Case {
    /// A case of this size.
    pub const fn new(size: Size) -> Case {
        Case { size }
    }
}

/// The goal on a GPU: time relative to a baseline and to the reference solution, at one size.
#[derive(Clone, Copy, Debug)]
pub struct Speed {
    /// The size to time.
    pub size: Size,
    /// What the kernel must beat (or, for [`Goal::Within`], must stay close to).
    pub baseline: Baseline,
    /// How the time is judged.
    pub goal: Goal,
    /// The speed-up of the reference over the baseline measured on an H200, for orientation.
    pub h200_reference: Option<f64>,
    /// The least compute capability (`80` for 8.0) the exercise makes sense on.
    pub min_capability: u32,
}

/// The kernel to beat: a file of `kernels/baselines/` or an earlier solution, with its own launch macros.
#[derive(Clone, Copy, Debug)]
pub struct Baseline {
    /// What to call it in a report: `01's solution`, `the naive transpose`.
    pub name: &'static str,
    /// CUDA source, by `include_str!`.
    pub source: &'static str,
    /// The kernel's name in it.
    pub kernel: &'static str,
    /// Block size it declares (checked at compile time to be at most 1,024 threads).
    pub block: [u32; 3],
}

/// How a time on a GPU is judged. With baseline B, reference R and student S (times), position
/// p = ln(B/S) / ln(B/R): 0 is the baseline, 1 the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// Pass at p of at least this (0.8).
    Position(f64),
    /// Pass if S is at most this many times the baseline (1.10).
    Within(f64),
}
