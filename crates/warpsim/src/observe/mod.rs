//! The observers: each turns what the executor tells into faults or counters, and knows nothing of the others.
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

mod copycheck;
mod divergence;
mod finding;
mod footprint;
mod initcheck;
mod memcheck;
mod racecheck;
mod synccheck;
mod traffic;
mod worst;

use crate::counters::Counters;
use crate::fault::{self, BarrierProblem, Fault, Sink, SourceLine, Space};
use crate::launch::Checks;
use crate::observer::{Access, BadAccess, Observer, Repeats, Scope, Site};
use crate::report::{self, LineCounters, WorstAccess};

use copycheck::Copycheck;
use divergence::Divergence;
use footprint::Footprint;
use initcheck::Initcheck;
use memcheck::Memcheck;
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

/// The observers that a launch asked for, as one. Executing blocks in several ranges takes one `Monitors` for each;
/// [`Monitors::merge`] joins them afterwards.
#[derive(Debug)]
pub struct Monitors {
    context: Context,
    memcheck: Memcheck,
    racecheck: Option<Racecheck>,
    copycheck: Option<Copycheck>,
    initcheck: Option<Initcheck>,
    synccheck: Option<Synccheck>,
    traffic: Option<Traffic>,
    divergence: Option<Divergence>,
    footprint: Option<Footprint>,
}

impl Monitors {
    /// Observers that have seen nothing. Bounds and alignment are always checked.
    pub fn new(context: &Context, checks: Checks) -> Monitors {
        let instructions = context.instructions.len();
        Monitors {
            memcheck: Memcheck::default(),
            racecheck: checks.race.then(|| Racecheck::new(&context.present_lanes())),
            copycheck: (checks.race || checks.init).then(Copycheck::default),
            initcheck: checks.init.then(|| Initcheck::new(instructions)),
            synccheck: checks.sync.then(|| Synccheck::new(context.present_lanes())),
            traffic: checks.counters.then(|| Traffic::new(instructions)),
            divergence: checks.counters.then(|| Divergence::new(instructions)),
            footprint: None,
            context: context.clone(),
        }
    }

    /// Has what `block` does to global memory recorded.
    #[must_use]
    pub fn with_footprint_of(mut self, block: Option<[u32; 3]>) -> Monitors {
        self.footprint = block.and_then(|block| self.context.linear_block(block)).map(Footprint::of);
        self
    }

    /// Frees what only further blocks would need: call it after the last block of a range, for the shadow of memory
    /// may be large.
    pub fn seal(&mut self) {
        if let Some(racecheck) = &mut self.racecheck {
            racecheck.forget();
        }
    }

    /// Appends what was observed of later blocks of the same launch.
    ///
    /// Each range of blocks must have been independent of the others: a race between blocks is only found by
    /// the `Monitors` that saw both.
    pub fn merge(&mut self, later: Monitors) {
        self.memcheck.findings.merge(later.memcheck.findings);
        if let (Some(own), Some(later)) = (&mut self.racecheck, later.racecheck) {
            own.findings.merge(later.findings);
        }
        if let (Some(own), Some(later)) = (&mut self.copycheck, later.copycheck) {
            own.findings.merge(later.findings);
        }
        if let (Some(own), Some(later)) = (&mut self.initcheck, later.initcheck) {
            own.findings.merge(later.findings);
        }
        if let (Some(own), Some(later)) = (&mut self.synccheck, later.synccheck) {
            own.findings.merge(later.findings);
        }
        if let (Some(own), Some(later)) = (&mut self.traffic, &later.traffic) {
            own.merge(later);
        }
        if let (Some(own), Some(later)) = (&mut self.divergence, &later.divergence) {
            own.merge(later);
        }
        if let (Some(own), Some(later)) = (&mut self.footprint, later.footprint) {
            own.merge(later);
        }
    }

    /// Names what was found, and adds up what was counted.
    pub fn finish(mut self, resolver: &dyn Resolver) -> Findings {
        if let Some(divergence) = &mut self.divergence {
            divergence.settle();
        }
        if let Some(traffic) = &mut self.traffic {
            traffic.settle();
        }
        let mut counters = Counters::default();
        let mut lines: BTreeMap<SourceLine, Counters> = BTreeMap::new();
        for (pc, facts) in self.context.instructions.iter().enumerate() {
            let at_pc = self.count(pc, facts);
            if at_pc != Counters::default() {
                counters += at_pc;
                if let Some(line) = resolver.line(pc as u32) {
                    *lines.entry(line).or_default() += at_pc;
                }
            }
        }
        let sets = [
            Some(self.memcheck.findings),
            self.racecheck.map(|check| check.findings),
            self.copycheck.map(|check| check.findings),
            self.initcheck.map(|check| check.findings),
            self.synccheck.map(|check| check.findings),
        ];
        let faults =
            sets.into_iter().flatten().flat_map(|set| set.resolve(&self.context, resolver)).collect();
        let worst = self.traffic.map(|traffic| traffic.into_worst().resolve(&self.context, resolver));
        Findings {
            faults: fault::arrange(faults),
            counters,
            lines: lines.into_iter().map(|(at, counters)| LineCounters { at, counters }).collect(),
            worst: worst.unwrap_or_default(),
            footprint: self.footprint.map(|footprint| footprint.resolve(resolver)).unwrap_or_default(),
        }
    }

    /// The variable of shared memory that an instruction is to keep to.
    #[inline]
    fn object_of(&self, pc: u32, space: Space) -> Option<Object> {
        if space != Space::Shared {
            return None;
        }
        self.context.instructions[pc as usize].object
    }

    fn count(&self, pc: usize, facts: &InstructionFacts) -> Counters {
        let mut counters = Counters::default();
        if let Some(traffic) = &self.traffic {
            traffic.count(pc, &mut counters);
        }
        if let Some(divergence) = &self.divergence {
            divergence.count(pc, facts, &mut counters);
        }
        counters
    }
}

impl Observer for Monitors {
    fn block_start(&mut self, block: u64) {
        if let Some(racecheck) = &mut self.racecheck {
            racecheck.block_start(block);
        }
        if let Some(copycheck) = &mut self.copycheck {
            copycheck.block_start();
        }
        if let Some(synccheck) = &mut self.synccheck {
            synccheck.block_start();
        }
    }

    #[inline]
    fn issue(&mut self, at: Site, mask: u32) {
        if let Some(divergence) = &mut self.divergence {
            divergence.issue(at.pc, mask);
        }
    }

    #[inline]
    fn issue_line(&mut self, at: Site, count: u32) {
        if let Some(divergence) = &mut self.divergence {
            divergence.issue_line(at.pc, count);
        }
    }

    #[inline]
    fn access(&mut self, at: Site, access: &Access<'_>) {
        if let Some(traffic) = &mut self.traffic {
            traffic.access(at, access);
        }
        if let Some(footprint) = &mut self.footprint {
            footprint.access(at, access);
        }
        if let Some(object) = self.object_of(at.pc, access.space) {
            self.memcheck.keep_to(object, at, access);
        }
        if let Some(initcheck) = &mut self.initcheck {
            initcheck.access(at.pc, access);
        }
        if let Some(racecheck) = &mut self.racecheck {
            racecheck.access(at, access);
        }
        if let Some(copycheck) = &mut self.copycheck {
            copycheck.access(at, access);
        }
    }

    fn loads(&mut self, at: Site, access: &Access<'_>, loads: &Repeats) {
        if let Some(traffic) = &mut self.traffic {
            traffic.loads(at, access, loads);
        }
        for (at, access) in loads.accesses(at, access) {
            if let Some(object) = self.object_of(at.pc, access.space) {
                self.memcheck.keep_to(object, at, &access);
            }
        }
        if let Some(initcheck) = &mut self.initcheck {
            initcheck.loads(at, access, loads);
        }
        if let Some(racecheck) = &mut self.racecheck {
            racecheck.loads(at, access, loads);
        }
        if let Some(copycheck) = &mut self.copycheck {
            copycheck.loads(at, access, loads);
        }
    }

    fn copy_arrived(&mut self, at: Site, access: &Access<'_>) {
        if let Some(racecheck) = &mut self.racecheck {
            racecheck.copy_arrived(at, access);
        }
        if let Some(copycheck) = &mut self.copycheck {
            copycheck.arrive(access);
        }
    }

    fn bad_access(&mut self, at: Site, bad: &BadAccess) {
        self.memcheck.bad_access(at, bad);
    }

    #[inline]
    fn branch(&mut self, at: Site, active: u32, taken: u32) {
        if let Some(divergence) = &mut self.divergence {
            divergence.branch(at.pc, active, taken);
        }
    }

    fn barrier_arrive(&mut self, at: Site, id: u32, mask: u32, alive: u32, aligned: bool) {
        if let Some(divergence) = &mut self.divergence {
            divergence.barrier(at.pc);
        }
        if let Some(synccheck) = &mut self.synccheck {
            synccheck.barrier_arrive(at, id, mask, alive, aligned);
        }
        if let Some(racecheck) = &mut self.racecheck {
            racecheck.barrier_arrive(at, id, mask);
        }
    }

    fn barrier_complete(&mut self, _block: u64, id: u32, arrived: &[u32], waited: &[u32]) {
        if let Some(synccheck) = &mut self.synccheck {
            let instructions = &self.context.instructions;
            synccheck
                .barrier_complete(id, arrived, waited, |pc| instructions[pc as usize].is_counted_barrier);
        }
        if let Some(racecheck) = &mut self.racecheck {
            racecheck.barrier_complete(id, arrived, waited);
        }
    }

    fn warp_sync(&mut self, at: Site, mask: u32) {
        if let Some(racecheck) = &mut self.racecheck {
            racecheck.warp_sync(at, mask);
        }
    }

    fn bad_warp_sync(&mut self, at: Site, mask: u32, problem: BarrierProblem) {
        if let Some(synccheck) = &mut self.synccheck {
            synccheck.bad_warp_sync(at, mask, problem);
        }
    }

    fn fence(&mut self, at: Site, mask: u32, scope: Scope) {
        if let Some(racecheck) = &mut self.racecheck {
            racecheck.fence(at, mask, scope);
        }
    }

    fn poison(&mut self, at: Site, mask: u32, sink: Sink, origin: Option<u32>) {
        if let Some(initcheck) = &mut self.initcheck {
            initcheck.poison(at, mask, sink, origin);
        }
    }

    fn exit(&mut self, at: Site, mask: u32) {
        if let Some(synccheck) = &mut self.synccheck {
            synccheck.exit(at, mask);
        }
        if let Some(racecheck) = &mut self.racecheck {
            racecheck.exit(at, mask);
        }
    }

    fn deadlock(&mut self, block: u64, waiting: &[(u32, u32, u32, u32)]) {
        if let Some(synccheck) = &mut self.synccheck {
            synccheck.deadlock(block, waiting);
        }
    }
}
