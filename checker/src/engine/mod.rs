//! What runs a kernel, and what is known afterwards. Engines observe; they don't judge.

pub(crate) mod gpu;
pub(crate) mod sim;

use std::time::Duration;

use warpsim::{Checks, Counters, WorstAccess};

use crate::finding::Finding;

/// One launch.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    /// Blocks in x, y and z.
    pub(crate) grid: [u32; 3],
    /// Threads per block in x, y and z.
    pub(crate) block: [u32; 3],
    /// Dynamic shared memory, in bytes.
    pub(crate) shared_bytes: u32,
    /// In the order of the kernel's parameters.
    pub(crate) args: Vec<Arg>,
    /// What to look for.
    pub(crate) checks: Checks,
    /// The most warp instructions to execute.
    pub(crate) fuel: u64,
    /// The longest to run.
    pub(crate) wall_limit: Duration,
    /// Whether to look at a second launch too, which finds what the first left in the module's own variables. On the
    /// simulator that is only done if it left anything.
    pub(crate) relaunch: bool,
}

impl Task {
    /// Blocks in the grid.
    pub(crate) fn blocks(&self) -> u64 {
        self.grid.iter().map(|dim| u64::from(*dim)).product()
    }
}

/// A kernel argument.
#[derive(Clone, Debug)]
pub(crate) enum Arg {
    /// A buffer, by the name to use in messages. Without contents nothing was ever written there.
    Buffer { name: String, bytes: usize, contents: Option<Vec<u8>> },
    /// A value, little-endian.
    Value(Vec<u8>),
}

/// How a launch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All threads ran to their end.
    Completed,
    /// Stopped by what it did; a finding says why.
    Aborted,
    /// Ran for too long.
    Timeout,
}

/// A buffer after the launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Contents {
    /// Its bytes; those that were never written are 0xFF.
    pub(crate) bytes: Vec<u8>,
    /// Whether each byte was ever written.
    pub(crate) written: Vec<bool>,
}

/// All that is known after a launch.
#[derive(Clone, Debug)]
pub(crate) struct Observation {
    pub(crate) outcome: Outcome,
    /// For each argument that is a buffer, what it holds.
    pub(crate) buffers: Vec<Option<Contents>>,
    /// Most telling first.
    pub(crate) findings: Vec<Finding>,
    pub(crate) counters: Counters,
    /// The costliest request of each instruction; empty where nobody counts.
    pub(crate) worst: Vec<WorstAccess>,
    /// What device `printf` wrote.
    pub(crate) printed: String,
    /// For the launch alone.
    pub(crate) seconds: f64,
    /// A second launch, if one was asked for and could have gone another way.
    pub(crate) again: Option<Again>,
}

/// A second launch with the same arguments.
#[derive(Clone, Debug)]
pub(crate) struct Again {
    /// Names of the module's variables that the first launch left changed; all of them where that can't be told.
    pub(crate) variables: Vec<String>,
    pub(crate) observation: Box<Observation>,
}

impl Observation {
    /// A launch that ran to its end and left these buffers, of which nothing else is known.
    pub(crate) fn of_buffers(buffers: Vec<Option<Contents>>) -> Observation {
        Observation {
            outcome: Outcome::Completed,
            buffers,
            findings: Vec::new(),
            counters: Counters::default(),
            worst: Vec::new(),
            printed: String::new(),
            seconds: 0.0,
            again: None,
        }
    }
}
