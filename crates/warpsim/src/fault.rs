//! What a kernel did wrong, as typed facts. The words are in [`Fault`]'s `Display` (module `message`).

use serde::{Deserialize, Serialize};

/// What kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// An access outside every buffer.
    OutOfBounds,
    /// An address that is no multiple of the access size.
    Misaligned,
    /// Two unordered accesses to a byte, one of them a write.
    Race,
    /// An access to shared memory that an asynchronous copy is still filling.
    CopyNotAwaited,
    /// A value that nothing ever wrote decides something.
    UninitializedRead,
    /// A barrier that not all threads reach.
    BarrierDivergence,
    /// Two `extern __shared__` arrays are the same memory.
    AliasedShared,
    /// The kernel executed `trap`.
    Trap,
    /// A device `assert` failed.
    Assert,
    /// Recursion ran out of stack.
    StackOverflow,
    /// The fuel or the wall-clock limit ran out.
    Timeout,
}

/// Whether the fault makes the run wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It does.
    Error,
    /// Suspicious, but defined.
    Warning,
}

/// The memory a fault is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Space {
    /// Buffers and `__device__` variables.
    Global,
    /// `__shared__`.
    Shared,
    /// A thread's own stack.
    Local,
    /// `__constant__`.
    Constant,
    /// Kernel parameters.
    Param,
}

/// A place in the source that the compiler recorded (`.loc`), or in the PTX where it recorded none.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourceLine {
    /// File name as given to the compiler; the PTX itself if there is no line information.
    pub file: String,
    /// 1-based.
    pub line: u32,
}

/// One side of a fault: where, and the first thread that did it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Party {
    /// Where.
    pub at: Option<SourceLine>,
    /// Index of the instruction in the lowered program.
    pub pc: u32,
    /// `threadIdx`.
    pub thread: [u32; 3],
    /// `blockIdx`.
    pub block: [u32; 3],
}

/// A de-duplicated fault: one for each (kind, line, other line), with a count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// What happened.
    pub kind: FaultKind,
    /// How bad.
    pub severity: Severity,
    /// In which memory, if any.
    pub space: Option<Space>,
    /// Where, and the first thread and block.
    pub party: Party,
    /// The other access or the other place, where two conflict.
    pub other: Option<Party>,
    /// How often.
    pub count: u64,
    /// The particulars that the message needs.
    pub detail: Detail,
}

/// How memory was touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Touch {
    /// A read.
    Read,
    /// A write.
    Write,
    /// A read-modify-write.
    Atomic,
}

/// Where a poisoned value ended up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sink {
    /// It decides a branch, or a guard.
    Branch,
    /// It is part of an address.
    Address,
    /// It is stored to global memory.
    Store,
}

/// A place in a buffer or variable, or beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The buffer or variable, as the source calls it.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Bytes from its start.
    pub offset: i64,
    /// Bytes of one element: as the access took it, until somebody knows its type.
    pub element: u32,
    /// For an array of arrays its dimensions but for the first, as in the declaration.
    pub inner: Vec<u64>,
    /// It is `extern __shared__`: as long as the launch says.
    pub is_dynamic: bool,
}

/// What was never written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A variable of the program, which memory never held.
    Register,
    /// Memory, where the fault's first party read it.
    Memory {
        /// Where, if it is known.
        place: Option<Place>,
    },
    /// A lane of the warp that a shuffle asked in vain.
    Lane {
        /// Which.
        lane: u32,
        /// Why it has nothing to give.
        why: Absent,
    },
}

/// Why a lane gives a shuffle nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Absent {
    /// The block has fewer threads.
    NotInBlock,
    /// It has exited.
    Left,
    /// It is elsewhere in the code, or not in the mask.
    Elsewhere,
}

/// What would keep two accesses apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remedy {
    /// That one thread writes instead of several.
    OneWriter,
    /// An element for each thread. `of_loop`: or a barrier, if the same instruction writes in turns.
    OwnElement {
        /// See there.
        of_loop: bool,
    },
    /// A barrier on the way from one to the other: of the warp, or of the block.
    Barrier {
        /// `__syncwarp()` is enough.
        of_warp: bool,
        /// Where on the way.
        round: Round,
    },
    /// A barrier after the wait for an asynchronous copy.
    BarrierAfterWait {
        /// `__syncwarp()` is enough.
        of_warp: bool,
    },
    /// That both are atomic.
    Atomic,
    /// Fences around what tells one block of the other.
    Fence,
    /// Two launches, or two buffers.
    Launches,
    /// That a lock is released by an atomic.
    Unlock,
    /// Fences inside of a lock.
    Lock,
}

/// In which order two accesses follow each other in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Round {
    /// One after the other, with no loop between.
    Same {
        /// The fault's other party comes first.
        first_is_other: bool,
    },
    /// The second is in a later round of a loop around both.
    Next {
        /// The fault's other party comes first.
        first_is_other: bool,
    },
    /// One statement in a loop: either.
    Either,
}

/// Particulars of a fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Detail {
    /// Out of bounds or misaligned: the access, and where it is in or beside the nearest buffer.
    Access { touch: Touch, bytes: u32, address: u64, place: Option<Place> },
    /// A race: how each side touched it, where, and what would help.
    Race {
        touch: Touch,
        other: Touch,
        place: Option<Place>,
        same_warp: bool,
        same_block: bool,
        same_value: bool,
        /** The other side is an asynchronous copy, which its thread has waited for. */
        after_copy: bool,
        remedy: Remedy,
    },
    /// An access to what a copy is still filling: how, whether by another copy, and where.
    Copy { touch: Touch, is_async: bool, place: Option<Place> },
    /// An uninitialised value: where it ended, and what was never written.
    Uninitialized { sink: Sink, source: Source },
    /// A divergent barrier.
    Barrier { problem: BarrierProblem, present: u32, missing: u32 },
    /// Two `extern __shared__` arrays.
    AliasedShared { first: String, second: String },
    /// `assert`: the expression.
    Assert { message: String },
    /// A trap or an overflow: nothing more to say.
    None,
    /// A trap because an instruction was given a value that it cannot have.
    Refused(Refused),
    /// Out of fuel or time.
    Timeout {
        /** Warp instructions executed. */
        executed: u64,
        /** A block waits for a later one. */
        waits_for_block: bool,
    },
}

/// A value that an instruction refuses when it runs; the hardware's behaviour is then undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Refused {
    /// A barrier of this number.
    Barrier { id: u32 },
    /// A barrier for this many threads, which are no whole warps.
    BarrierThreads { threads: u32 },
    /// An index into a table of this many jumps.
    Jump { index: u32, targets: u32 },
    /// A call through a pointer that is no function's.
    Function { pointer: u64 },
    /// `free` of a pointer that `malloc` did not give, or that was given back already.
    Free { pointer: u64 },
}

/// What went wrong at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BarrierProblem {
    /// Some lanes of the warp are alive elsewhere.
    DivergentWarp,
    /// Warps wait at different barriers.
    DifferentBarriers,
    /// A thread waits for ever.
    NeverComplete,
    /// Some lanes or warps returned earlier (a warning).
    ExitedEarlier,
    /// Threads meet at one barrier from two lines (a warning).
    Mixed,
    /// The same, and some threads are a barrier ahead of the others from then on.
    OutOfStep,
    /// Some threads came to the barrier before, and left the loop sooner than the others.
    LeftLoop,
    /// `__syncwarp` or a shuffle whose mask lacks the caller.
    CallerNotInMask,
    /// `__syncwarp` or a shuffle whose mask names a lane that is alive elsewhere.
    NamedLaneElsewhere,
    /// A matrix instruction that only some threads of the warp execute.
    PartOfWarp,
}

impl Fault {
    /// The places that it names, so that who knows the type of a buffer can say so.
    pub fn place_mut(&mut self) -> Option<&mut Place> {
        match &mut self.detail {
            Detail::Access { place, .. } | Detail::Race { place, .. } | Detail::Copy { place, .. } => {
                place.as_mut()
            }
            Detail::Uninitialized { source: Source::Memory { place }, .. } => place.as_mut(),
            _ => None,
        }
    }
}
