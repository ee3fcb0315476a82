//! What a kernel did wrong, as typed facts. The words are in [`Fault`]'s `Display` (module `message`).

use std::collections::HashMap;
use std::collections::hash_map::Entry;

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

/// Particulars of a fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Detail {
    /// Out of bounds or misaligned: the access and the nearest buffer.
    Access {
        touch: Touch,
        bytes: u32,
        address: u64,
        buffer: Option<String>,
        buffer_bytes: u64,
        /** Bytes past the end (positive) or before the start (negative). */
        outside: i64,
    },
    /// A race: how each side touched it, the array's or buffer's name, the byte offset in it.
    Race {
        touch: Touch,
        other: Touch,
        buffer: Option<String>,
        offset: u64,
        same_warp: bool,
        same_block: bool,
        same_value: bool,
        /** The other side is an asynchronous copy, which its thread has waited for. */
        after_copy: bool,
    },
    /// An access to what a copy is still filling: how, whether by another copy, and where.
    Copy { touch: Touch, is_async: bool, buffer: Option<String>, offset: u64 },
    /// An uninitialised value: where it ended, and what was never written.
    Uninitialized {
        sink: Sink,
        buffer: Option<String>,
        /** It never came from memory: a variable without a value. */
        register: bool,
    },
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

/// De-duplicates faults by (kind, line, other line, buffer that was missed) and sorts them by what a learner should read first: errors
/// before warnings, causes before their likely consequences, and then in the order given, which is that of the
/// blocks. Of those that coincide, an error is kept rather than a warning, and a race between threads that are far
/// apart rather than one between neighbours, for its remedy is one for both.
pub(crate) fn arrange(faults: Vec<Fault>) -> Vec<Fault> {
    let mut arranged: Vec<Fault> = Vec::new();
    let mut by_lines: HashMap<_, usize> = HashMap::new();
    for fault in faults {
        let line = |party: &Party| party.at.clone().ok_or(party.pc);
        // A line may access several buffers.
        let buffer = match &fault.detail {
            Detail::Access { buffer, .. } => buffer.clone(),
            _ => None,
        };
        match by_lines.entry((fault.kind, line(&fault.party), fault.other.as_ref().map(line), buffer)) {
            Entry::Vacant(entry) => {
                entry.insert(arranged.len());
                arranged.push(fault);
            }
            Entry::Occupied(entry) => {
                let known = &mut arranged[*entry.get()];
                let count = known.count + fault.count;
                if fault.precedence() < known.precedence() {
                    *known = fault;
                }
                known.count = count;
            }
        }
    }
    // A copy that nobody has waited for races with everything; one word is enough.
    let lines = |fault: &Fault| {
        let mut lines =
            [Some(&fault.party), fault.other.as_ref()].map(|party| party.map(|p| p.at.clone().ok_or(p.pc)));
        lines.sort();
        lines
    };
    let copies: Vec<_> =
        arranged.iter().filter(|fault| fault.kind == FaultKind::CopyNotAwaited).map(lines).collect();
    arranged.retain(|fault| fault.kind != FaultKind::Race || !copies.contains(&lines(fault)));
    arranged.sort_by_key(|fault| (fault.severity, fault.kind.rank()));
    arranged
}

impl Fault {
    /// Of faults at the same lines, the least is told.
    fn precedence(&self) -> (Severity, bool, bool) {
        match self.detail {
            Detail::Race { same_warp, same_block, .. } => (self.severity, same_block, same_warp),
            _ => (self.severity, false, false),
        }
    }
}

impl FaultKind {
    /// Position in a report. An access outside a buffer explains wrong values, wild branches and races; threads
    /// that miss a barrier explain races; a race explains values that were not yet written; and each of these can
    /// be why an assertion fails or a loop does not end.
    fn rank(self) -> u32 {
        match self {
            FaultKind::StackOverflow => 0,
            FaultKind::OutOfBounds => 1,
            FaultKind::Misaligned => 2,
            FaultKind::AliasedShared => 3,
            FaultKind::BarrierDivergence => 4,
            FaultKind::CopyNotAwaited => 5,
            FaultKind::Race => 6,
            FaultKind::UninitializedRead => 7,
            FaultKind::Assert => 8,
            FaultKind::Trap => 9,
            FaultKind::Timeout => 10,
        }
    }
}
