//! The kernel as the assembler would roughly write it.
//!
//! PTX is not what a GPU runs: `ptxas` joins loads, turns short branches into predicates, unrolls loops and puts instructions
//! into another order. What matters for time is reproduced here, in steps that know nothing of each other's inside:
//! [`listing`] numbers instructions and registers, [`cost`] says what each instruction is for the hardware, [`region`] cuts
//! the listing into straight stretches, [`join`] makes vector loads of neighbouring words, and [`schedule`] puts a stretch into
//! the order in which it is issued.

mod alignment;
mod cost;
mod join;
mod listing;
mod liveness;
mod op;
mod region;
mod schedule;

use ptx::Module;

pub(crate) use listing::Reg;
pub(crate) use op::{Class, Op, PIPES, Pipe, Space};
pub(crate) use region::Region;

use crate::gpu::Gpu;
use listing::Listing;

/// A kernel, ready to be replayed.
#[derive(Debug)]
pub(crate) struct Code {
    /// Straight stretches of instructions; those at the end are unrolled versions of others.
    pub(crate) regions: Vec<Region>,
    /// For each instruction of the listing, the region it belongs to.
    pub(crate) region_of: Vec<u32>,
    /// For each instruction, how its requests count.
    pub(crate) requests: Vec<Request>,
    /// Registers, those that unrolling adds included.
    pub(crate) registers: usize,
    /// For each instruction its line in the PTX text.
    pub(crate) ptx_lines: Vec<u32>,
    /// For each instruction its class.
    pub(crate) classes: Vec<Class>,
    /// For each instruction, what its opcode tells.
    pub(crate) traits: Vec<Traits>,
}

/// How the memory requests of an instruction count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// It makes none.
    None,
    /// It makes its own, of so many bytes per lane: more than it asks for where it stands for a vector.
    Own(u32),
    /// Another instruction's request fetches its value as well.
    Joined,
}

/// What else there is to know of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traits {
    /// Arithmetic in double precision.
    pub(crate) is_double: bool,
    /// Division or remainder by a value that is known at run time only.
    pub(crate) is_division: bool,
    /// Its loads go to L2 at once.
    pub(crate) skips_l1: bool,
    /// Whether it is repeated: it lies between a label and a jump back to it.
    pub(crate) in_loop: bool,
}

impl Code {
    /// Reads the kernel `kernel`, which has `registers_per_thread`, and the functions it calls.
    ///
    /// `shared_offset` gives the offset of a variable in shared memory.
    pub(crate) fn new(
        module: &Module,
        kernel: &str,
        registers_per_thread: u32,
        shared_offset: &dyn Fn(&str) -> Option<u64>,
        gpu: &Gpu,
    ) -> Code {
        let listing = Listing::new(module, kernel);
        let alignment = alignment::trailing_zeros(&listing, shared_offset);
        let mut ops = cost::ops(&listing, gpu);
        region::settle(&listing, &mut ops);
        region::build(&region::Order {
            listing: &listing,
            ops: &ops,
            alignment: &alignment,
            shared_offset,
            registers_per_thread,
            gpu,
        })
    }
}
