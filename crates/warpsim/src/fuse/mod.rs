//! Superblocks: what a full warp executes in one go.
//!
//! A full warp that needs no poison tracked does much the same at each of its instructions: fetch, look at the guard, look
//! up how addresses lie, check bounds, report. [`plan`](build::plan) finds runs of instructions for which that can be done
//! once, `Machine::fused` executes them. It is an addition: without this module the interpreter executes the same
//! instructions one by one, with the same results.
//!
//! - A *superblock* has one entry and may have several exits: branches that no lane takes, or all do. Where only some
//!   do, it ends before the branch, and the interpreter goes on.
//! - A *load group* is several loads of words of shared memory from one base register: their layout and bounds are
//!   checked once, and observers are told of all of them at once.
//! - A *dot product* is a chain of multiply-adds; if its factors are two load groups, these need not be in registers.
//! - When a load brings poison, the superblock *deoptimises*: the rest of it is executed one by one.

mod build;
mod dot;
mod run;

use crate::alu::AluFn;
use crate::observer::{LoadGroup, Scope};
use crate::program::{Guard, Register};
use crate::registers::Operands;

pub(crate) use build::{Uses, plan};
use dot::Products;

/// Instructions that a full warp executes in one go, in order: they compute in registers, access memory without ordering
/// anything, or are branches that either no lane takes or all do.
#[derive(Debug)]
pub(crate) struct Superblock {
    /// How many instructions it stands for, if no lane jumps.
    pub(crate) length: u32,
    ops: Vec<Op>,
    pub(crate) groups: Vec<Loads>,
    dots: Vec<Dot>,
}

/// What there is to do in a superblock.
#[derive(Clone, Copy, Debug)]
enum Op {
    Alu(AluFn, Operands),
    /// `fma.rn.f32`, which is worth being inlined.
    MultiplyAdd(Operands),
    /// One of the [`dots`](Superblock::dots).
    Dot(u32),
    /// All loads of one of the [`groups`](Superblock::groups), some of which the program has further down.
    Loads(u32),
    /// A load of a word from global memory for each lane.
    LoadGlobal(u32),
    /// A store of a word of shared memory for each lane.
    StoreShared(u32),
    /// A load or a store like any other.
    Access(u32),
    /// A branch. The superblock ends with it if all lanes jump, and before it if some do.
    Branch {
        pc: u32,
        guard: Guard,
        target: u32,
    },
}

/// Loads of a word of shared memory for each lane, from the same base register.
#[derive(Debug)]
pub(crate) struct Loads {
    base: Register,
    /// Of the first load.
    offset: i64,
    scope: Scope,
    group: LoadGroup,
    /// The register that each of them loads.
    to: Vec<u16>,
    /// Nothing but dot products reads these registers: mostly they need not be written.
    is_only_multiplied: bool,
}

impl Loads {
    /// Instruction of the first load.
    fn pc(&self) -> u32 {
        self.group.each[0].pc
    }

    /// The least and the greatest distance from the first load.
    fn room(&self) -> [i64; 2] {
        [self.group.lowest, self.group.highest]
    }
}

/// Multiply-adds each of which adds to the result of the one before, which nothing else reads: a dot product in every
/// lane.
#[derive(Debug)]
struct Dot {
    /// What is added to.
    from: u16,
    to: u16,
    factors: Vec<[u16; 2]>,
    /// The same, if all first factors and all second ones are of the same two load groups.
    products: Option<Products>,
}
