//! A kernel decoded once, ready to run.

use std::sync::Arc;

use ptx::Module;

use crate::alu::AluFn;
use crate::fault::{SourceLine, Space};
use crate::isa::{AtomicFn, Multiply, Tile};
use crate::lower;
use crate::observer::{Order, Repeats, Scope};
use crate::registers::{Class, Operands};

/// "No such instruction", as a branch's join.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// A kernel and the device functions it calls, lowered to a dense program.
#[derive(Debug)]
pub struct Program {
    /// Told apart from all others by its address: a device keeps the variables of each program it has run.
    pub(crate) identity: Arc<()>,
    pub(crate) kernel: String,
    pub(crate) code: Vec<Inst>,
    pub(crate) straight: Vec<StraightLine>,
    /// What each instruction reads and writes, for tracking values that were never set.
    pub(crate) flow: Vec<Flow>,
    pub(crate) facts: Vec<Facts>,
    /// For each instruction the index of its line in `line_table`, or `NOWHERE`.
    pub(crate) lines: Vec<u32>,
    pub(crate) line_table: Vec<SourceLine>,
    /// Registers of vector operands, and of calls.
    pub(crate) lists: Vec<Reg>,
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
}

/// A register of the current frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Reg {
    pub(crate) class: Class,
    pub(crate) index: u16,
}

/// One decoded instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inst {
    pub(crate) step: Step,
    pub(crate) guard: Guard,
    pub(crate) ops: Operands,
    /// The straight line that begins here, or `NOWHERE`.
    pub(crate) straight: u32,
}

/// `@p` or `@!p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    Always,
    If(u16),
    Unless(u16),
}

/// What an instruction does, beyond its operands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// Registers to registers, lane by lane.
    Alu(AluFn),
    Load(Memory),
    /// A [`Load`](Step::Load) of one 32-bit value a lane from shared or global memory, base address in a register,
    /// unordered. The slot says which earlier load of the same straight run has the same base.
    LoadWord(Memory, BaseSlot),
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
    Clock(Class),
}

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
    pub(crate) base: Reg,
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

/// Loads of one straight run of instructions whose base is the same register, unchanged since, have the same slot: how
/// their addresses lie needs to be looked at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BaseSlot {
    /// Below [`BASE_SLOTS`]; the last one is shared by loads that found no slot free, and never remembers anything.
    pub(crate) number: u8,
    /// Whether the load is the first one with its base.
    pub(crate) leads: bool,
}

/// How many bases are told apart at a time, plus one.
pub(crate) const BASE_SLOTS: usize = 8;

impl BaseSlot {
    /// For a load that shares its base with no other.
    pub(crate) const NONE: BaseSlot = BaseSlot { number: BASE_SLOTS as u8 - 1, leads: true };
}

/// Where a memory instruction gets its address and what it moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// `None`: a generic address.
    pub(crate) space: Option<Space>,
    /// Register file of `src[0]`, the base address; `None`: absolute.
    pub(crate) base: Option<Class>,
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
    pub(crate) class: Class,
    pub(crate) order: Order,
    pub(crate) scope: Scope,
}

impl Memory {
    /// Whether each lane accesses one word, to or from a 32-bit register, at an address in a register.
    pub(crate) fn is_word(&self) -> bool {
        self.bytes == 4 && self.count == 1 && self.class == Class::Word && self.base.is_some()
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
    pub(crate) registers: Vec<Reg>,
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

/// `bar` and `barrier`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Barrier {
    pub(crate) kind: BarrierKind,
    /// All lanes of a warp must come together.
    pub(crate) aligned: bool,
    /// `src[1]` holds how many threads take part.
    pub(crate) counted: bool,
}

/// What threads do at a barrier. `src[0]` is the barrier's number, `src[2]` the predicate of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarrierKind {
    Sync,
    Arrive,
    /// `bar.red`, with whether the predicate is negated.
    Reduce(BarrierReduction, bool),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarrierReduction {
    Count,
    And,
    Or,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShuffleMode {
    Up,
    Down,
    Butterfly,
    Index,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VoteMode {
    All,
    Any,
    Uniform,
    Ballot,
}

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

/// What counters want to know of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Single-precision operations per lane: add and mul 1, fma 2, twice that for packed halves... none.
    pub(crate) fp32_flops: u8,
    pub(crate) is_fp64: bool,
    /// Line of the PTX text.
    pub(crate) ptx_line: u32,
}

/// A function's frame.
#[derive(Debug, Default)]
pub(crate) struct Function {
    pub(crate) entry: u32,
    /// Registers of each file, constants included.
    pub(crate) registers: FrameSize,
    /// Registers that hold the same in every call, and what.
    pub(crate) constants: Vec<(Reg, Constant)>,
    /// Registers that may be read before they are written.
    pub(crate) unset: Vec<Reg>,
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
    pub(crate) fn unified(self, reg: Reg) -> u32 {
        let before = match reg.class {
            Class::Pred => 0,
            Class::Word => self.pred,
            Class::Wide => self.pred + self.word,
        };
        (before + reg.index as usize + 1) as u32
    }
}

/// A parameter of a call: in the frame's local memory, or in a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Local { offset: u32, bytes: u32 },
    Register(Reg),
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
}

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

/// A call site.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) target: Callee,
    /// Where the caller has the arguments and wants the results.
    pub(crate) arguments: Vec<Place>,
    pub(crate) results: Vec<Place>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Callee {
    Function(u32),
    /// Through a register holding a function's number plus 1.
    Indirect(Reg),
    /// `vprintf`.
    Printf,
    /// `__assertfail`.
    AssertFail,
    Malloc,
    Free,
}

/// A kernel parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Param {
    pub(crate) name: String,
    pub(crate) offset: usize,
    pub(crate) bytes: usize,
}

/// A variable in shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SharedVariable {
    pub(crate) name: String,
    pub(crate) offset: u64,
    /// 0 for `extern` arrays, which take the rest.
    pub(crate) bytes: u64,
}

/// A `.global` variable of the module; becomes a buffer for the launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GlobalVariable {
    pub(crate) name: String,
    /// Size in bytes.
    pub(crate) bytes: usize,
    /// What it begins with; the rest is zero.
    pub(crate) data: Vec<u8>,
    /// Places to patch with addresses.
    pub(crate) relocations: Vec<Relocation>,
    /// Nothing has written it: what `malloc` hands out.
    pub(crate) is_heap: bool,
}

/// `bytes` bytes at `at` become the address of a variable or the number of a function: its bits from `shift` on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Relocation {
    pub(crate) at: usize,
    pub(crate) bytes: usize,
    pub(crate) shift: u32,
    pub(crate) target: Constant,
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

    /// The same program, to be executed strictly instruction by instruction. It comes to the same but for the time that it
    /// takes, which tests compare.
    #[doc(hidden)]
    pub fn one_by_one(mut self) -> Program {
        self.straight.clear();
        self.code.iter_mut().for_each(|inst| inst.straight = NOWHERE);
        self
    }

    /// The number of rows of the straight line that has most.
    pub(crate) fn most_rows(&self) -> usize {
        self.straight.iter().map(|line| line.rows.len()).max().unwrap_or(0)
    }

    /// The source line of an instruction: the innermost one in the main file.
    pub fn source_line(&self, pc: u32) -> Option<&SourceLine> {
        let line = *self.lines.get(pc as usize)?;
        self.line_table.get(line as usize)
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
