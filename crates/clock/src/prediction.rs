//! What is predicted, and why something can't be.

use serde::Serialize;
use warpsim::{Fault, LaunchError, LowerError};

use crate::sm::Cause;

/// The time of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Milliseconds of one launch on inputs that no cache holds.
    pub milliseconds: f64,
    /// Where they go; shares of the time that sum to 1, the greatest first.
    pub parts: Vec<Part>,
    /// What the warps of the sampled blocks did that a fast kernel avoids.
    pub remarks: Vec<Remark>,
    /// Blocks that an SM holds at a time.
    pub resident_blocks: usize,
    /// Warps that they have.
    pub resident_warps: usize,
    /// Instructions that the warps of a block issue, as the assembler would write them.
    pub instructions_per_block: u64,
    /// Blocks in the grid, for each SM.
    pub blocks_per_sm: f64,
}

/// A part of the time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Part {
    /// The line of the kernel's file, if there is one to blame.
    pub line: Option<u32>,
    /// What it goes to.
    pub cause: Cause,
    /// Of the whole.
    pub share: f64,
}

/// Parts of a whole time, by cause.
pub type Shares = Vec<(Cause, f64)>;

impl Prediction {
    /// Shares by cause, the greatest first; causes without a share are left out.
    pub fn by_cause(&self) -> Shares {
        let share = |cause: Cause| {
            (cause, self.parts.iter().filter(|part| part.cause == cause).map(|part| part.share).sum::<f64>())
        };
        let mut shares: Shares =
            Cause::ALL.into_iter().map(share).filter(|(_, share)| *share > 0.0).collect();
        shares.sort_by(|a, b| b.1.total_cmp(&a.1));
        shares
    }

    /// Shares by line of the source and by cause, both with the greatest first; `None` is what no line is to blame for.
    pub fn by_line(&self) -> Vec<(Option<u32>, Shares)> {
        let mut lines: Vec<(Option<u32>, Shares)> = Vec::new();
        for part in &self.parts {
            match lines.iter_mut().find(|(line, _)| *line == part.line) {
                Some((_, shares)) => shares.push((part.cause, part.share)),
                None => lines.push((part.line, vec![(part.cause, part.share)])),
            }
        }
        let whole = |shares: &[(Cause, f64)]| shares.iter().map(|(_, share)| share).sum::<f64>();
        lines.sort_by(|a, b| whole(&b.1).total_cmp(&whole(&a.1)));
        lines
    }

    /// The line to which most of a cause goes.
    pub fn worst_line(&self, cause: Cause) -> Option<u32> {
        self.parts.iter().find(|part| part.cause == cause && part.line.is_some()).and_then(|part| part.line)
    }
}

/// Something that slows a kernel down, whether or not it decides its time here.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Remark {
    /// The line of the kernel's file.
    pub line: Option<u32>,
    /// What is the matter.
    pub flaw: Flaw,
    /// How much there is of it; see [`Flaw`].
    pub amount: f64,
    /// A rough measure of what it costs, to put remarks in order: the share of the time that goes to its line, or of the SMs that
    /// are idle.
    pub weight: f64,
}

/// What a fast kernel avoids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Flaw {
    /// Requests to shared memory take so many turns, where their words would fit into fewer: turns for each that is needed.
    BankConflicts,
    /// Global requests move so many bytes for each that was asked for.
    Sectors,
    /// A thread reads and writes so many bytes of local memory: arrays that are indexed at run time, or too few registers.
    LocalMemory,
    /// The compiler spills so many bytes for want of registers.
    Spills,
    /// Arithmetic in double precision: its share of the instructions.
    Doubles,
    /// Divisions in a loop by a value that is known at run time only: their share of the instructions.
    Divisions,
    /// The grid has so many blocks, fewer than the GPU has SMs.
    FewBlocks,
    /// An SM holds so many warps, too few to wait for one another.
    FewWarps,
    /// Lanes read constant memory at so many addresses at once.
    ConstantAddresses,
    /// Lanes add to one word at a time: so many take turns.
    SharedAtomics,
    /// Loads go past L1 (`volatile`): their share of the instructions.
    PastL1,
    /// So many lanes of a warp are at work in a loop, on average.
    FewLanes,
}

/// Why nothing is predicted.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum Obstacle {
    #[error("a block needs {needs} bytes of shared memory, and the GPU has {most} for a block")]
    TooMuchShared { needs: u32, most: u32 },
    #[error(
        "a block of {threads} threads with {registers_per_thread} registers each does not fit an SM of the GPU"
    )]
    NoRoom { registers_per_thread: u32, threads: u32 },
    #[error("a few of its blocks, run by themselves on buffers of zeros, do not end{}", at(line))]
    Endless { line: Option<u32> },
    #[error("a few of its blocks, run by themselves on buffers of zeros, fail: {0}")]
    Fault(Box<Fault>),
    #[error("its blocks wait for one another: what a few of them do by themselves says nothing of all")]
    GridBarrier,
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error(transparent)]
    Lower(#[from] LowerError),
}

fn at(line: &Option<u32>) -> String {
    line.map_or_else(String::new, |line| format!(" (line {line})"))
}
