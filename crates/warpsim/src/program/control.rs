//! Guards, barriers, warp-level instructions and calls.

use super::Register;

/// `@p` or `@!p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    Always,
    If(u16),
    Unless(u16),
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

/// A parameter of a call: in the frame's local memory, or in a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Local { offset: u32, bytes: u32 },
    Register(Register),
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
    Indirect(Register),
    /// `vprintf`.
    Printf,
    /// `__assertfail`.
    AssertFail,
    Malloc,
    Free,
}
