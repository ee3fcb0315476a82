//! Where the time of an SM goes.

use std::collections::BTreeMap;

use serde::Serialize;

/// What a quarter of an SM spends a cycle on: an instruction, or what the one it issues next has waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// An instruction is issued.
    #[default]
    Issue,
    /// The unit for the instruction is busy: integers, roots, double precision, matrices.
    Unit,
    /// The result of an arithmetic instruction is not there yet, and no other warp has anything to do.
    Dependency,
    /// The load/store unit is busy: shared memory, bank conflicts, many lines or sectors in a request.
    LoadStore,
    /// What was loaded is on its way, and no other warp has anything to do.
    Latency,
    /// L2 is busy.
    L2,
    /// DRAM is busy.
    Dram,
    /// Other warps of the block are not at the barrier yet.
    Barrier,
    /// A jump is taken, or a block is started.
    Start,
    /// There is no warp left: too few blocks, or the last ones.
    Idle,
}

impl Cause {
    /// All of them.
    pub const ALL: [Cause; 10] = [
        Cause::Issue,
        Cause::Unit,
        Cause::Dependency,
        Cause::LoadStore,
        Cause::Latency,
        Cause::L2,
        Cause::Dram,
        Cause::Barrier,
        Cause::Start,
        Cause::Idle,
    ];
}

/// Cycles by instruction and cause, summed over the quarters of an SM.
#[derive(Clone, Debug, Default)]
pub(crate) struct Account {
    cycles: BTreeMap<(u32, Cause), f64>,
}

/// The instruction of time that is nobody's.
pub(crate) const NOBODY: u32 = u32::MAX;

impl Account {
    pub(super) fn add(&mut self, at: u32, cause: Cause, cycles: f64) {
        if cycles > 0.0 {
            *self.cycles.entry((at, cause)).or_default() += cycles;
        }
    }

    /// Instruction, cause and cycles.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (u32, Cause, f64)> + '_ {
        self.cycles.iter().map(|(&(at, cause), &cycles)| (at, cause, cycles))
    }
}
