//! Counts instructions, the lanes that take part in them, branches and barriers, by instruction.

use super::{Check, Launched, Tally};
use crate::observer::{Arrival, Detail, Observer, Site};

/// Executions by instruction.
#[derive(Clone, Debug)]
pub(super) struct Divergence {
    by_pc: Vec<Executions>,
    /// By instruction: by how many more full warps it was executed, as part of a run, than the one before it.
    runs: Vec<i64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Executions {
    warps: u64,
    lanes: u64,
    branches: u64,
    divergent: u64,
    barriers: u64,
}

impl Divergence {
    pub(super) fn new(instructions: usize) -> Divergence {
        Divergence { by_pc: vec![Executions::default(); instructions], runs: vec![0; instructions + 1] }
    }
}

impl Check for Divergence {
    fn merge(&mut self, later: Divergence) {
        for (executions, later) in self.by_pc.iter_mut().zip(&later.by_pc) {
            executions.warps += later.warps;
            executions.lanes += later.lanes;
            executions.branches += later.branches;
            executions.divergent += later.divergent;
            executions.barriers += later.barriers;
        }
        self.runs.iter_mut().zip(&later.runs).for_each(|(change, later)| *change += later);
    }

    fn report(self, launched: &Launched<'_>, tally: &mut Tally) {
        let mut in_runs = 0;
        let instructions = self.by_pc.iter().zip(&self.runs).zip(&launched.context.instructions);
        for (((executions, change), facts), counters) in instructions.zip(&mut tally.counters) {
            in_runs += change;
            let warps = executions.warps + in_runs as u64;
            let lanes = executions.lanes + 32 * in_runs as u64;
            counters.warp_instructions = warps;
            counters.thread_instructions = lanes;
            counters.branches = executions.branches;
            counters.divergent_branches = executions.divergent;
            counters.barriers = executions.barriers;
            counters.fp32_flops = lanes * u64::from(facts.fp32_flops);
            counters.fp64_instructions = if facts.is_fp64 { warps } else { 0 };
        }
    }
}

impl Observer for Divergence {
    fn detail() -> Detail {
        Detail::Grouped
    }

    #[inline]
    fn issue(&mut self, at: Site, mask: u32) {
        let executions = &mut self.by_pc[at.pc as usize];
        executions.warps += 1;
        // Not every CPU that this is built for counts bits in one instruction.
        executions.lanes += if mask == u32::MAX { 32 } else { u64::from(mask.count_ones()) };
    }

    #[inline]
    fn issue_run(&mut self, at: Site, count: u32) {
        self.runs[at.pc as usize] += 1;
        self.runs[(at.pc + count) as usize] -= 1;
    }

    #[inline]
    fn branch(&mut self, at: Site, active: u32, taken: u32) {
        let executions = &mut self.by_pc[at.pc as usize];
        executions.branches += 1;
        executions.divergent += u64::from(taken != 0 && taken != active);
    }

    #[inline]
    fn barrier_arrive(&mut self, at: Site, _arrival: Arrival) {
        self.by_pc[at.pc as usize].barriers += 1;
    }
}
