//! What a launch came to.

use crate::counters::Counters;
use crate::fault::{Fault, Severity, SourceLine, Space, Touch};

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

/// The costliest request of one instruction: the most sectors in global memory, the most wavefronts elsewhere. Of
/// equal ones it is the first, in the order of blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorstAccess {
    /// The instruction's line.
    pub at: Option<SourceLine>,
    /// The kind of memory.
    pub space: Space,
    /// Whether it reads or writes.
    pub touch: Touch,
    /// Bytes per lane.
    pub bytes: u32,
    /// The lanes that take part.
    pub mask: u32,
    /// Address of each lane; meaningful for the lanes of `mask` only.
    pub addresses: [u64; 32],
    /// Sectors of 32 bytes; 0 outside global memory.
    pub sectors: u32,
    /// Turns that the request takes.
    pub wavefronts: u32,
    /// The buffer or shared array that the first active lane touches.
    pub object: Option<String>,
    /// Where in it, in bytes.
    pub offset: i64,
    /// The block.
    pub block: [u32; 3],
    /// The warp in its block.
    pub warp: u32,
}

impl WorstAccess {
    /// The lanes that take part, ascending.
    pub fn lanes(&self) -> impl Iterator<Item = usize> + use<> {
        let mask = self.mask;
        (0..32).filter(move |lane| mask >> lane & 1 == 1)
    }
}

/// What one block did to one buffer, word by word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// The buffer or variable.
    pub object: String,
    /// The words that the block touched, ascending.
    pub words: Vec<TouchedWord>,
}

/// A word of 4 bytes, of which some or all were touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TouchedWord {
    /// Where it begins, in bytes from the start of the buffer.
    pub offset: u64,
    /// Lanes' loads, by all threads of the block together.
    pub reads: u32,
    /// Lanes' stores and atomic operations.
    pub writes: u32,
    /// The thread that read it first, by its linear index in the block.
    pub reader: Option<u32>,
    /// The thread that wrote it last.
    pub writer: Option<u32>,
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
    /// The costliest request of each instruction that touches memory, in the order of instructions; empty unless
    /// [`Checks::counters`](crate::Checks) was set.
    pub worst: Vec<WorstAccess>,
    /// What the block [`Launch::footprint_of`](crate::Launch) did to global memory, in order of addresses; empty without
    /// one, and if the grid has no such block.
    pub footprint: Vec<Footprint>,
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
