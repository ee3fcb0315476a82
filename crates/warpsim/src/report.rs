//! What a launch came to.

use crate::counters::Counters;
use crate::fault::{Fault, Severity, SourceLine};

/// How the launch ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All threads ran to their end.
    Completed,
    /// Stopped by a trap, a failed assert, a stack overflow or a deadlock; the fault says which.
    Aborted,
    /// Out of fuel or time; the fault says where.
    Timeout,
}

/// The costs of one source line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineCounters {
    /// The line.
    pub at: SourceLine,
    /// What its instructions cost.
    pub counters: Counters,
}

/// Everything known after a launch.
#[derive(Clone, Debug)]
pub struct Report {
    /// How it ended.
    pub outcome: Outcome,
    /// De-duplicated, most telling first.
    pub faults: Vec<Fault>,
    /// Totals; zero unless [`Checks::counters`](crate::Checks) was set.
    pub counters: Counters,
    /// The same by source line, in order of line; instructions that have no line are in the totals only.
    pub lines: Vec<LineCounters>,
    /// What device `printf` wrote.
    pub printed: String,
    /// Seconds for the launch alone.
    pub seconds: f64,
}

impl Report {
    /// Whether there is no fault that makes the run wrong, and it ran to its end.
    pub fn is_clean(&self) -> bool {
        self.outcome == Outcome::Completed && self.faults.iter().all(|f| f.severity == Severity::Warning)
    }
}
