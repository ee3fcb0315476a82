//! Functions: their frames, what constant registers hold, and how "never set" flows through an instruction.

use super::{Place, Register};
use crate::registers::RegisterFile;

/// What an instruction reads and writes; indices count through all register files of a frame (predicates, words,
/// wide ones), plus 1. 0 is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flow {
    pub(crate) reads: [u32; 4],
    pub(crate) writes: [u32; 2],
    pub(crate) rule: FlowRule,
}

/// How "never set" passes from sources to destinations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FlowRule {
    /// From any source.
    #[default]
    Any,
    /// `and` of predicates: not where the other one is false.
    And,
    /// `or` of predicates: not where the other one is true.
    Or,
    /// `selp`: only from the value chosen by the predicate, the third source.
    Select,
    /// The result is known whatever the source (`xor a, a`).
    Never,
}

/// A function's frame.
#[derive(Debug, Default)]
pub(crate) struct Function {
    pub(crate) entry: u32,
    /// Registers of each file, constants included.
    pub(crate) registers: FrameSize,
    /// Registers that hold the same in every call, and what.
    pub(crate) constants: Vec<(Register, Constant)>,
    /// Registers that may be read before they are written.
    pub(crate) unset: Vec<Register>,
    /// Bytes of local memory per lane: variables, and parameters of calls.
    pub(crate) local_bytes: u32,
    /// Where parameters and results live.
    pub(crate) params: Vec<Place>,
    pub(crate) returns: Vec<Place>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FrameSize {
    pub(crate) pred: usize,
    pub(crate) word: usize,
    pub(crate) wide: usize,
}

impl FrameSize {
    /// Registers of all files.
    pub(crate) fn total(self) -> usize {
        self.pred + self.word + self.wide
    }

    /// A register's number through all files of the frame, plus 1.
    #[inline(always)]
    pub(crate) fn unified(self, reg: Register) -> u32 {
        let before = match reg.file {
            RegisterFile::Pred => 0,
            RegisterFile::Word => self.pred,
            RegisterFile::Wide => self.pred + self.word,
        };
        (before + reg.index as usize + 1) as u32
    }
}

/// What a constant register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Constant {
    Bits(u64),
    Special(Special),
    /// Bytes of the kernel's parameters, zero- or sign-extended.
    Param {
        offset: u32,
        bytes: u8,
        signed: bool,
    },
    /// The address of a module variable.
    Global {
        variable: u32,
        offset: i64,
    },
    /// The address of a variable of shared memory.
    Shared {
        variable: u32,
        offset: i64,
    },
}

/// Bytes of the shared memory that the system keeps for itself in each block (CUDA C++ Programming Guide, "Shared Memory"
/// of compute capability 8.x). Barriers of cooperative groups of several warps live there.
pub(crate) const RESERVED_SHARED_BYTES: u32 = 1024;

/// Special registers that do not change while a block runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Special {
    ThreadIndex(u8),
    BlockDim(u8),
    BlockIndex(u8),
    GridDim(u8),
    Lane,
    Warp,
    WarpCount,
    LaneMask(LaneMask),
    DynamicSharedBytes,
    TotalSharedBytes,
    /// A place in the shared memory that the system keeps for itself, by its offset there.
    ReservedShared(u32),
}

/// `%lanemask_*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LaneMask {
    Eq,
    Lt,
    Le,
    Gt,
    Ge,
}
