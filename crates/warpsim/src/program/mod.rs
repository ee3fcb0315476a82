//! A kernel decoded once, ready to run.

mod control;
mod function;
mod instruction;
mod memory;
mod variable;

use std::sync::Arc;

use ptx::Module;

use crate::alu::AluFn;
use crate::fault::SourceLine;
#[cfg(feature = "fuse")]
use crate::fuse::Superblock;
use crate::isa::{AtomicFn, Multiply};
use crate::lower;
use crate::observer::Scope;
use crate::registers::{Operands, RegisterFile};
pub(crate) use control::*;
pub(crate) use function::*;
pub use instruction::Instruction;
pub(crate) use memory::*;
pub(crate) use variable::*;

/// "No such instruction", as a branch's join.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// A kernel and the device functions it calls, lowered to a dense program.
#[derive(Debug)]
pub struct Program {
    /// Told apart from all others by its address: a device keeps the variables of each program it has run.
    pub(crate) identity: Arc<()>,
    pub(crate) kernel: String,
    pub(crate) code: Vec<Inst>,
    #[cfg(feature = "fuse")]
    pub(crate) superblocks: Vec<Superblock>,
    /// What each instruction reads and writes, for tracking values that were never set.
    pub(crate) flow: Vec<Flow>,
    /// The same instructions, as the text has them.
    pub(crate) instructions: Vec<Instruction>,
    /// For each instruction the index of its line in `line_table`, or `NOWHERE`.
    pub(crate) lines: Vec<u32>,
    pub(crate) line_table: Vec<SourceLine>,
    /// Registers of vector operands, and of calls.
    pub(crate) lists: Vec<Register>,
    pub(crate) jump_tables: Vec<Vec<u32>>,
    pub(crate) calls: Vec<Call>,
    /// `cp.async` instructions.
    pub(crate) copies: Vec<AsyncCopy>,
    /// Matrix instructions, with the registers of `d`, `a`, `b` and `c`.
    pub(crate) matrices: Vec<(Multiply, [Vec<u16>; 4])>,
    /// `wmma.load` and `wmma.store`.
    pub(crate) tiles: Vec<TileAccess>,
    /// The kernel is number 0.
    pub(crate) functions: Vec<Function>,
    pub(crate) params: Vec<Param>,
    pub(crate) shared: Vec<SharedVariable>,
    pub(crate) static_shared: u64,
    pub(crate) globals: Vec<GlobalVariable>,
    /// The one of them that `malloc` hands out.
    pub(crate) heap: Option<u32>,
    pub(crate) constant: Vec<u8>,
    /// Places in constant memory to patch with addresses.
    pub(crate) constant_relocations: Vec<Relocation>,
    /// `extern __shared__` arrays that the kernel uses, in order of name; two of them are the same memory.
    pub(crate) dynamic_shared: Vec<(String, Option<u32>)>,
    pub(crate) max_threads: Option<u64>,
    pub(crate) required_block: Option<[u32; 3]>,
    /// Blocks may wait for or pass values to each other (atomics, volatile or ordered accesses to global memory):
    /// run them one after another from the start.
    pub(crate) communicates: bool,
    /// A compare-and-swap compares with a fixed value: it takes a lock.
    pub(crate) takes_locks: bool,
}

/// A register of a function's frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Register {
    /// The register file that it is in.
    pub file: RegisterFile,
    /// Its number there.
    pub index: u16,
}

/// One decoded instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inst {
    pub(crate) step: Step,
    pub(crate) guard: Guard,
    pub(crate) ops: Operands,
    /// The superblock that begins here, or `NOWHERE`.
    #[cfg(feature = "fuse")]
    pub(crate) superblock: u32,
}

/// What an instruction does, beyond its operands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// Registers to registers, lane by lane.
    Alu(AluFn),
    Load(Memory),
    Store(Memory),
    Atomic(Memory, AtomicFn),
    /// `cp.async`: `src[0]` shared address, `src[1]` global address, `src[2]` bytes to read if `sized`.
    AsyncCopy(u32),
    AsyncCommit,
    /// Wait until at most this many groups are pending; `None`: until nothing is.
    AsyncWait(Option<u32>),
    /// `ldmatrix`: this many 8x8 matrices; `src[0]` is the address, destinations in `lists`.
    LoadMatrix {
        memory: Memory,
        transposed: bool,
    },
    /// `mma.sync` and `wmma.mma`.
    Matrix(u32),
    /// `wmma.load`: `src[0]` is the address, `src[1]` the stride in elements.
    LoadTile(u32),
    /// `wmma.store`, likewise.
    StoreTile(u32),
    /// The address of a local variable, at this offset in the frame.
    LocalAddress(u32),
    /// Splits a value into registers of `bits` each (`lists[imm..]`), or the reverse.
    Unpack {
        bits: u8,
        count: u8,
        wide: bool,
    },
    Pack {
        bits: u8,
        count: u8,
        wide: bool,
    },
    Branch {
        target: u32,
        join: u32,
    },
    /// `brx.idx`: `src[0]` selects from the jump table.
    BranchTable {
        table: u32,
        join: u32,
    },
    Call(u32),
    Return,
    Exit,
    Trap,
    Nothing,
    Barrier(Barrier),
    /// `bar.warp.sync`; `src[0]` is the mask.
    WarpSync,
    /// `shfl.sync`: `src[0]` value, `src[1]` lane operand, `src[2]` clamp and segment mask, `src[3]` member mask.
    Shuffle {
        mode: ShuffleMode,
        has_mask: bool,
    },
    /// `vote.sync`: `src[0]` predicate, `src[1]` member mask.
    Vote {
        mode: VoteMode,
        negated: bool,
        has_mask: bool,
    },
    /// `match.sync`: `src[0]` value, `src[1]` member mask.
    Match {
        all: bool,
        wide: bool,
    },
    /// `redux.sync`: `src[0]` value, `src[1]` member mask.
    Redux(AtomicFn),
    /// `elect.sync`: `src[0]` member mask.
    Elect,
    ActiveMask,
    Fence(Scope),
    /// `%clock`, `%clock64`, `%globaltimer`.
    Clock(RegisterFile),
}

impl Program {
    /// Lowers the entry point `kernel` of `module` and what it calls.
    ///
    /// # Errors
    /// [`LowerError`] for an unknown kernel, an instruction that is not supported, and PTX that makes no sense.
    pub fn new(module: &Module, kernel: &str) -> Result<Program, LowerError> {
        lower::lower(module, kernel)
    }

    /// The kernel's name.
    pub fn kernel(&self) -> &str {
        &self.kernel
    }

    /// The same program, to be executed strictly instruction by instruction. It has the same results but takes more time,
    /// which tests compare.
    #[doc(hidden)]
    #[allow(unused_mut)]
    pub fn one_by_one(mut self) -> Program {
        #[cfg(feature = "fuse")]
        {
            self.superblocks.clear();
            self.code.iter_mut().for_each(|inst| inst.superblock = NOWHERE);
        }
        self
    }

    /// The number of load groups of the superblock that has most.
    #[cfg(feature = "fuse")]
    pub(crate) fn most_groups(&self) -> usize {
        self.superblocks.iter().map(|superblock| superblock.groups.len()).max().unwrap_or(0)
    }

    /// Its instructions, by the `pc` of [`Site`](crate::observer::Site).
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// Names of the variables in shared memory, with offset and size in bytes; an `extern` array has size 0.
    pub fn shared_variables(&self) -> impl Iterator<Item = (&str, u64, u64)> {
        self.shared.iter().map(|v| (v.name.as_str(), v.offset, v.bytes))
    }

    /// The source line of an instruction: the innermost one in the main file.
    pub fn source_line(&self, pc: u32) -> Option<&SourceLine> {
        let line = *self.lines.get(pc as usize)?;
        self.line_table.get(line as usize)
    }

    /// How an instruction gets at the memory that its first source is an address in.
    pub(crate) fn memory_of<'p>(&'p self, inst: &'p Inst) -> Option<&'p Memory> {
        match &inst.step {
            Step::Load(memory)
            | Step::Store(memory)
            | Step::Atomic(memory, _)
            | Step::LoadMatrix { memory, .. } => Some(memory),
            Step::AsyncCopy(number) => Some(&self.copies[*number as usize].to),
            Step::LoadTile(number) | Step::StoreTile(number) => Some(&self.tiles[*number as usize].memory),
            _ => None,
        }
    }

    /// Whether it asks for the shared memory that the system keeps for itself.
    pub(crate) fn uses_reserved_shared(&self) -> bool {
        let is_it = |(_, constant): &(Register, Constant)| {
            matches!(constant, Constant::Special(Special::ReservedShared(_)))
        };
        self.functions.iter().flat_map(|function| &function.constants).any(is_it)
    }

    /// Static shared memory, in bytes.
    pub fn static_shared_bytes(&self) -> u64 {
        self.static_shared
    }

    /// Names and sizes in bytes of the kernel's parameters.
    pub fn params(&self) -> impl Iterator<Item = (&str, usize)> {
        self.params.iter().map(|p| (p.name.as_str(), p.bytes))
    }
}

/// PTX that cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum LowerError {
    #[error("there is no kernel `{name}`; the module has: {}", kernels.join(", "))]
    NoKernel { name: String, kernels: Vec<String> },
    #[error("unsupported: {opcode} at PTX line {line}")]
    Unsupported { opcode: String, line: u32, source_line: Option<SourceLine> },
    #[error("PTX line {line}: {message}")]
    Invalid { line: u32, message: String },
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The interpreter walks through instructions: each should fit a cache line.
    #[test]
    fn an_instruction_fits_a_cache_line() {
        assert!(size_of::<Inst>() <= 64, "{} bytes", size_of::<Inst>());
    }
}
