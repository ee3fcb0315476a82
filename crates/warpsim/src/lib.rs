//! Runs CUDA kernels, as PTX, warp by warp on the CPU, and reports faults and hardware counters.

mod alu;
mod counters;
mod exec;
mod fault;
mod isa;
mod launch;
mod lower;
mod memory;
mod message;
pub mod observe;
pub mod observer;
pub mod pattern;
mod program;
mod registers;
mod report;
mod run;

pub use counters::Counters;
pub use fault::{BarrierProblem, Detail, Fault, FaultKind, Party, Severity, Sink, SourceLine, Space, Touch};
pub use launch::{Arg, Checks, Launch, LaunchError, limits};
pub use memory::{BufferId, Device};
pub use program::{LowerError, Program};
pub use report::{LineCounters, Outcome, Report, WorstAccess};
