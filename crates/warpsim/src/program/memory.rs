//! Instructions that touch memory.

use super::Register;
use crate::fault::Space;
use crate::isa::Tile;
use crate::observer::{Order, Scope};
use crate::registers::{Operands, RegisterFile};

/// Where a memory instruction gets its address and what it moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// `None`: a generic address.
    pub(crate) space: Option<Space>,
    /// Register file of `src[0]`, the base address; `None`: absolute.
    pub(crate) base: Option<RegisterFile>,
    /// The address is relative to the function's local frame.
    pub(crate) in_frame: bool,
    pub(crate) offset: i64,
    /// Bytes per element.
    pub(crate) bytes: u8,
    /// Elements per lane: 1, or 2, 4, 8 with registers in `lists[imm..]`.
    pub(crate) count: u8,
    /// Loads into wider registers extend the sign, to this many bits.
    pub(crate) sign_extend: Option<u8>,
    /// Register file of the values.
    pub(crate) class: RegisterFile,
    pub(crate) order: Order,
    pub(crate) scope: Scope,
}

impl Memory {
    /// Whether each lane accesses one word, to or from a 32-bit register, at an address in a register, and orders
    /// nothing.
    #[inline(always)]
    pub(crate) fn is_plain_word(&self) -> bool {
        self.bytes == 4
            && self.count == 1
            && self.class == RegisterFile::Word
            && self.order == Order::Weak
            && self.base.is_some()
    }

    /// The register that holds the base address, of an instruction with these operands.
    #[inline(always)]
    pub(crate) fn base_register(&self, ops: &Operands) -> Option<Register> {
        self.base.map(|file| Register { file, index: ops.src[0] })
    }

    /// Bytes per lane.
    pub(crate) fn width(&self) -> u32 {
        u32::from(self.bytes) * u32::from(self.count)
    }
}

/// `wmma.load` or `wmma.store`.
#[derive(Clone, Debug)]
pub(crate) struct TileAccess {
    pub(crate) tile: Tile,
    /// How a lane gets at one piece.
    pub(crate) memory: Memory,
    pub(crate) registers: Vec<Register>,
}

/// `cp.async`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AsyncCopy {
    pub(crate) bytes: u8,
    pub(crate) to: Memory,
    pub(crate) from: Memory,
    /// The third operand gives how many bytes to read; the rest is zero. Or a predicate: ignore the source.
    pub(crate) size: AsyncSize,
}

/// How much of a `cp.async` is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AsyncSize {
    All,
    /// `src[2]`, a 32-bit register.
    Register,
    /// `src[2]`, a predicate: fill with zeros instead.
    IgnoreIf,
}
