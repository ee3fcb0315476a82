//! Fused operations: what a full warp, all of whose registers hold something, executes in one go.

mod build;
mod dot;
mod run;

use crate::alu::AluFn;
use crate::observer::{Repeats, Scope};
use crate::program::{Guard, Register};
use crate::registers::Operands;

pub(crate) use build::{Uses, find};
pub(crate) use run::Placed;

/// Instructions that a full warp executes in one go, one behind the other: they compute in registers, access memory
/// without ordering anything, or are branches that either no lane takes or all do, which ends the line. What can be
/// looked at once for several of them is.
#[derive(Debug)]
pub(crate) struct StraightLine {
    /// How many instructions it stands for, if no lane jumps.
    pub(crate) length: u32,
    pub(crate) moves: Vec<Move>,
    pub(crate) rows: Vec<Rows>,
    pub(crate) sums: Vec<Sum>,
}

/// What there is to do on a straight line.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Move {
    Alu(AluFn, Operands),
    /// `fma.rn.f32`, which is worth a move of its own.
    MultiplyAdd(Operands),
    /// One of the [`sums`](StraightLine::sums).
    Sum(u32),
    /// All loads of these [`rows`](StraightLine::rows), some of which the program has further down.
    Loads(u32),
    /// A load of a word from global memory for each lane.
    LoadGlobal {
        pc: u32,
    },
    /// A store of a word of shared memory for each lane.
    StoreShared {
        pc: u32,
    },
    /// A load or a store like any other.
    Access {
        pc: u32,
    },
    /// A branch. The line ends with it if all lanes jump, and before it if some do.
    Branch {
        pc: u32,
        guard: Guard,
        target: u32,
    },
}

/// Loads of a word of shared memory for each lane, from the same base register.
#[derive(Debug)]
pub(crate) struct Rows {
    pub(crate) base: Register,
    /// Of the first load.
    pub(crate) offset: i64,
    pub(crate) scope: Scope,
    pub(crate) loads: Repeats,
    /// The register that each of them loads.
    pub(crate) to: Vec<u16>,
    /// Nothing but [`RowProducts`] reads these registers: mostly they need not be written.
    pub(crate) is_only_summed: bool,
}

/// Multiply-adds each of which adds to the result of the one before, which nothing else reads: a dot product in every
/// lane.
#[derive(Debug)]
pub(crate) struct Sum {
    /// What is added to.
    pub(crate) from: u16,
    pub(crate) to: u16,
    pub(crate) factors: Vec<[u16; 2]>,
    /// The same, if all first factors and all second ones are loads of the same rows.
    pub(crate) products: Option<RowProducts>,
}

/// Products of what two [`Rows`] load.
#[derive(Debug)]
pub(crate) struct RowProducts {
    /// Numbers of the rows.
    pub(crate) rows: [u32; 2],
    /// For each product the distances of the two loads.
    pub(crate) distances: Vec<[i64; 2]>,
}
