//! The checks and counters: each is an [`Observer`] that turns events into faults or counters, and knows nothing of the
//! others.
//!
//! | module | finds or counts |
//! |---|---|
//! | `memcheck` | accesses out of bounds, misaligned accesses |
//! | `racecheck` | unordered accesses |
//! | `copycheck` | accesses to what an asynchronous copy is still filling |
//! | `initcheck` | uses of values that nothing wrote |
//! | `synccheck` | divergent barriers |
//! | `traffic` | requests, sectors, wavefronts, bytes |
//! | `worst` | the costliest request of each instruction |
//! | `divergence` | instructions, lanes, branches, barriers |
//! | `footprint` | the words of global memory that one block touches |
//!
//! While a kernel runs, everything is counted by instruction and threads have linear indices; names, lines and
//! totals are derived at the end.

use std::collections::BTreeMap;

mod arrange;
mod copycheck;
mod divergence;
mod finding;
mod footprint;
mod initcheck;
mod memcheck;
mod racecheck;
mod remedy;
mod synccheck;
mod traffic;
mod worst;

use crate::counters::Counters;
use crate::fault::{Absent, BarrierProblem, Fault, Sink, SourceLine, Space};
use crate::launch::Checks;
use crate::observer::{
    Access, Arrival, BadAccess, Detail, LoadGroup, Observer, Scope, Site, Waiting, pass_on,
};
use crate::report::{self, LineCounters, WorstAccess};

use copycheck::Copycheck;
use divergence::Divergence;
use footprint::Footprint;
use initcheck::Initcheck;
pub(crate) use memcheck::Memcheck;
use racecheck::Racecheck;
use synccheck::Synccheck;
use traffic::Traffic;

/// What the observers know of a launch beforehand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// Blocks in x, y and z.
    pub grid_dim: [u32; 3],
    /// Threads per block in x, y and z.
    pub block_dim: [u32; 3],
    /// One entry for each instruction of the program.
    pub instructions: Vec<InstructionFacts>,
}

/// What the counters need to know of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstructionFacts {
    /// Single-precision operations per lane: add and mul 1, fma 2.
    pub fp32_flops: u32,
    /// Whether it computes in double precision.
    pub is_fp64: bool,
    /// Whether it is a barrier that gives the number of threads which it is for.
    pub is_counted_barrier: bool,
    /// Bytes of one element that it accesses in memory; 0 if it accesses none.
    pub element_bytes: u8,
    /// The variable of shared memory that it is to keep to, if that is known.
    pub object: Option<Object>,
}

/// A variable of shared memory: all that a pointer into it may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// By which a [`Resolver`] knows it.
    pub number: u32,
    /// Address of its first byte.
    pub start: u64,
    /// The first address after it.
    pub end: u64,
}

impl Context {
    /// `threadIdx` of the thread with a linear index in its block.
    pub fn thread_index(&self, linear: u32) -> [u32; 3] {
        let [x, y, _] = self.block_dim;
        [linear % x, linear / x % y, linear / x / y]
    }

    /// `blockIdx` of the block with a linear index in the grid.
    pub fn block_index(&self, linear: u64) -> [u32; 3] {
        let [x, y] = [u64::from(self.grid_dim[0]), u64::from(self.grid_dim[1])];
        [(linear % x) as u32, (linear / x % y) as u32, (linear / x / y) as u32]
    }

    /// The linear index of the block with this `blockIdx`; `None` if the grid has none.
    fn linear_block(&self, block: [u32; 3]) -> Option<u64> {
        let is_inside = block.iter().zip(self.grid_dim).all(|(index, dim)| *index < dim);
        let [x, y, z] = block.map(u64::from);
        is_inside.then(|| x + u64::from(self.grid_dim[0]) * (y + u64::from(self.grid_dim[1]) * z))
    }

    /// For each warp of a block, the lanes that are threads.
    fn present_lanes(&self) -> Vec<u32> {
        let threads: u32 = self.block_dim.iter().product();
        (0..threads.div_ceil(32))
            .map(|warp| match threads - 32 * warp {
                32.. => u32::MAX,
                lanes => (1 << lanes) - 1,
            })
            .collect()
    }
}

/// Names for what the observers know by number.
pub trait Resolver {
    /// The source line of an instruction.
    fn line(&self, pc: u32) -> Option<SourceLine>;
    /// The buffer or variable that contains an address, else the one it is closest to. Shared memory has offsets
    /// for addresses.
    fn nearest(&self, space: Space, address: u64) -> Option<Nearest>;
    /// How the second of two instructions, in order of the code, lies to the first; for threads of one warp `__syncwarp()`
    /// counts as a barrier, too.
    fn way(&self, first: u32, second: u32, of_warp: bool) -> Way {
        let _ = (first, second, of_warp);
        Way::default()
    }
    /// How the threads of the kernel tell each other things.
    fn habits(&self) -> Habits {
        Habits::default()
    }
    /// A variable of shared memory by its number, and where an address is from its start.
    fn object(&self, number: u32, address: u64) -> Option<Nearest> {
        let _ = number;
        self.nearest(Space::Shared, address)
    }
}

/// A buffer or variable, and a place in or near it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// As the source calls it.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Bytes from its start to the address.
    pub offset: i64,
    /// It is `extern __shared__`: as long as the launch says.
    pub is_dynamic: bool,
}

/// What lies on the way from one instruction to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// A barrier between them.
    pub has_barrier: bool,
    /// A loop is around both.
    pub is_in_loop: bool,
    /// That loop has a barrier on the way from the second to the first.
    pub has_barrier_back: bool,
}

/// What a kernel uses beside barriers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Habits {
    /// It takes locks: a compare-and-swap with a fixed value.
    pub locks: bool,
    /// Atomics or volatile accesses to global memory.
    pub signals: bool,
}

/// Everything that was found and counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// One for each (kind, line, other line), most telling first.
    pub faults: Vec<Fault>,
    /// Totals.
    pub counters: Counters,
    /// The same by source line, in order of line; instructions that have no line are in the totals only.
    pub lines: Vec<LineCounters>,
    /// The costliest request of each instruction.
    pub worst: Vec<WorstAccess>,
    /// What the block that was asked about did to global memory.
    pub footprint: Vec<report::Footprint>,
}

/// The checks and counters that a launch asked for, as one observer. Executing blocks in several ranges takes one
/// `Monitors` for each; [`Monitors::merge`] joins them afterwards.
#[derive(Debug)]
pub struct Monitors {
    context: Context,
    checks: Checked,
    counts: Counted,
}

type Checked = ((Memcheck, Option<Racecheck>), (Option<Copycheck>, (Option<Initcheck>, Option<Synccheck>)));
type Counted = (Option<(Traffic, Divergence)>, Option<Footprint>);

impl Monitors {
    /// Observers that have seen nothing. Bounds and alignment are always checked.
    pub fn new(context: &Context, checks: Checks) -> Monitors {
        let instructions = context.instructions.len();
        let race = checks.race.then(|| Racecheck::new(&context.present_lanes()));
        let init = checks.init.then(Initcheck::default);
        let sync = checks.sync.then(|| Synccheck::new(context));
        let copies = (checks.race || checks.init).then(Copycheck::default);
        let counters = checks.counters.then(|| (Traffic::new(instructions), Divergence::new(instructions)));
        Monitors {
            context: context.clone(),
            checks: ((Memcheck::new(context), race), (copies, (init, sync))),
            counts: (counters, None),
        }
    }

    /// Has what `block` does to global memory recorded.
    #[must_use]
    pub fn with_footprint_of(mut self, block: Option<[u32; 3]>) -> Monitors {
        self.counts.1 = block.and_then(|block| self.context.linear_block(block)).map(Footprint::of);
        self
    }

    /// Appends what was observed of later blocks of the same launch.
    ///
    /// Each range of blocks must have been independent of the others: a race between blocks is only found by
    /// the `Monitors` that saw both.
    pub fn merge(&mut self, later: Monitors) {
        Check::merge(self, later);
    }

    /// Names what was found, and adds up what was counted.
    pub fn finish(self, resolver: &dyn Resolver) -> Findings {
        let context = self.context.clone();
        Launched { context: &context, resolver }.finish(self)
    }
}

impl Check for Monitors {
    fn merge(&mut self, later: Monitors) {
        self.checks.merge(later.checks);
        self.counts.merge(later.counts);
    }

    fn seal(&mut self) {
        self.checks.seal();
    }

    fn report(self, launched: &Launched<'_>, tally: &mut Tally) {
        self.checks.report(launched, tally);
        self.counts.report(launched, tally);
    }
}

pass_on!([] Monitors, Detail::Grouped, |this| [&mut this.counts], [&mut this.checks]);

/// An observer whose results are part of the report. One for each range of blocks; those of later ranges are merged into
/// that of the first.
pub(crate) trait Check: Observer + Send + Sized {
    /// Appends what was observed of later blocks.
    fn merge(&mut self, later: Self);

    /// Frees what only further blocks would need.
    fn seal(&mut self) {}

    /// Names what was found, and adds up what was counted.
    fn report(self, launched: &Launched<'_>, tally: &mut Tally);
}

impl<C: Check> Check for Option<C> {
    fn merge(&mut self, later: Option<C>) {
        if let (Some(own), Some(later)) = (self, later) {
            own.merge(later);
        }
    }

    fn seal(&mut self) {
        self.iter_mut().for_each(C::seal);
    }

    fn report(self, launched: &Launched<'_>, tally: &mut Tally) {
        if let Some(own) = self {
            own.report(launched, tally);
        }
    }
}

impl<A: Check, B: Check> Check for (A, B) {
    fn merge(&mut self, later: (A, B)) {
        self.0.merge(later.0);
        self.1.merge(later.1);
    }

    fn seal(&mut self) {
        self.0.seal();
        self.1.seal();
    }

    fn report(self, launched: &Launched<'_>, tally: &mut Tally) {
        self.0.report(launched, tally);
        self.1.report(launched, tally);
    }
}

/// What was launched, and names for it.
pub(crate) struct Launched<'a> {
    pub(crate) context: &'a Context,
    pub(crate) resolver: &'a dyn Resolver,
}

impl Launched<'_> {
    /// All that `checks` found and counted.
    pub(crate) fn finish(&self, checks: impl Check) -> Findings {
        let mut tally = Tally {
            counters: vec![Counters::default(); self.context.instructions.len()],
            ..Tally::default()
        };
        checks.report(self, &mut tally);
        let mut counters = Counters::default();
        let mut lines: BTreeMap<SourceLine, Counters> = BTreeMap::new();
        for (pc, at_pc) in (0..).zip(tally.counters).filter(|(_, at_pc)| *at_pc != Counters::default()) {
            counters += at_pc;
            if let Some(line) = self.resolver.line(pc) {
                *lines.entry(line).or_default() += at_pc;
            }
        }
        Findings {
            faults: arrange::arrange(tally.faults),
            counters,
            lines: lines.into_iter().map(|(at, counters)| LineCounters { at, counters }).collect(),
            worst: tally.worst,
            footprint: tally.footprint,
        }
    }
}

/// What checks and counters report.
#[derive(Default)]
pub(crate) struct Tally {
    faults: Vec<Fault>,
    /// By instruction.
    counters: Vec<Counters>,
    worst: Vec<WorstAccess>,
    footprint: Vec<report::Footprint>,
}
