//! An instruction as the hardware sees it.

use super::Reg;

/// What an instruction is for the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Nothing: the assembler drops it, or folds it into another.
    Free,
    /// Arithmetic of any kind; [`Op::pipe`] says on which unit.
    Math,
    /// A jump.
    Branch,
    /// `__syncthreads()`.
    Barrier,
    /// The warp's end.
    Exit,
    /// A load.
    Load(Space),
    /// A store.
    Store(Space),
    /// An atomic operation.
    Atomic(Space),
    /// `cp.async`.
    Copy,
    /// `cp.async.commit_group`.
    Commit,
    /// `cp.async.wait_group`, with the number of groups that may still be on their way.
    Wait(u32),
    /// A shuffle: it goes through the load/store unit without touching memory.
    Exchange,
    /// `__syncwarp()`.
    WarpSync,
}

/// Which memory an access goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Shared,
    Global,
    Local,
    /// Constant memory at an address that is computed at run time.
    Constant,
}

/// The unit of an SM's quarter that an instruction occupies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pipe {
    /// Multiply-adds in single precision, and integer multiplications.
    Fma,
    /// Integers, logic, comparisons.
    Alu,
    /// Reciprocals, roots, conversions.
    Special,
    /// Double precision.
    Double,
    /// Matrices.
    Tensor,
    /// Jumps and barriers.
    Control,
    /// The queue to the SM's load/store unit.
    Memory,
}

/// How many [`Pipe`]s there are.
pub(crate) const PIPES: usize = 7;

/// One instruction.
#[derive(Clone, Debug)]
pub(crate) struct Op {
    pub(crate) class: Class,
    pub(crate) pipe: Pipe,
    /// Registers that it waits for.
    pub(crate) reads: Vec<Reg>,
    /// Registers that others wait for.
    pub(crate) writes: Vec<Reg>,
    /// Cycles for which it occupies the scheduler: the number of machine instructions that it stands for.
    pub(crate) slots: u32,
    /// Cycles for which it occupies its pipe.
    pub(crate) busy: f32,
    /// Cycles until its result is there, if no memory takes part.
    pub(crate) latency: f32,
    /// The instruction of the listing whose requests it makes.
    pub(crate) at: u32,
    /// Which copy of an unrolled loop.
    pub(crate) copy: u8,
}

impl Op {
    /// Whether it makes requests to memory.
    pub(crate) fn is_request(&self) -> bool {
        matches!(self.class, Class::Load(_) | Class::Store(_) | Class::Atomic(_) | Class::Copy)
    }

    /// Makes it nothing.
    pub(crate) fn free(&mut self) {
        (self.class, self.slots, self.busy, self.latency) = (Class::Free, 0, 0.0, 0.0);
    }
}
