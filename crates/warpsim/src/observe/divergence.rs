//! Counts instructions, the lanes that take part in them, branches and barriers, by instruction.

use super::InstructionFacts;
use crate::counters::Counters;

/// Executions by instruction.
#[derive(Clone, Debug)]
pub(super) struct Divergence {
    by_pc: Vec<Executions>,
    /// Executions by full warps, of several instructions in a row: how many more (or fewer) this one has than the one
    /// before it.
    lines: Vec<i64>,
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
        Divergence { by_pc: vec![Executions::default(); instructions], lines: vec![0; instructions + 1] }
    }

    #[inline]
    pub(super) fn issue(&mut self, pc: u32, mask: u32) {
        let executions = &mut self.by_pc[pc as usize];
        executions.warps += 1;
        // Not every CPU that this is built for counts bits in one instruction.
        executions.lanes += if mask == u32::MAX { 32 } else { u64::from(mask.count_ones()) };
    }

    /// A full warp executes `count` instructions from `pc` on.
    #[inline]
    pub(super) fn issue_line(&mut self, pc: u32, count: u32) {
        self.lines[pc as usize] += 1;
        self.lines[(pc + count) as usize] -= 1;
    }

    /// Enters what was executed in a row; call it before [`Self::count`].
    pub(super) fn settle(&mut self) {
        let mut warps = 0;
        for (executions, change) in self.by_pc.iter_mut().zip(&mut self.lines) {
            warps += std::mem::take(change);
            executions.warps += warps as u64;
            executions.lanes += 32 * warps as u64;
        }
    }

    #[inline]
    pub(super) fn branch(&mut self, pc: u32, active: u32, taken: u32) {
        let executions = &mut self.by_pc[pc as usize];
        executions.branches += 1;
        executions.divergent += u64::from(taken != 0 && taken != active);
    }

    #[inline]
    pub(super) fn barrier(&mut self, pc: u32) {
        self.by_pc[pc as usize].barriers += 1;
    }

    /// Adds the counts of later blocks.
    pub(super) fn merge(&mut self, later: &Divergence) {
        for (executions, later) in self.by_pc.iter_mut().zip(&later.by_pc) {
            executions.warps += later.warps;
            executions.lanes += later.lanes;
            executions.branches += later.branches;
            executions.divergent += later.divergent;
            executions.barriers += later.barriers;
        }
        self.lines.iter_mut().zip(&later.lines).for_each(|(change, later)| *change += later);
    }

    /// Fills in the counters of instruction `pc`.
    pub(super) fn count(&self, pc: usize, facts: &InstructionFacts, counters: &mut Counters) {
        let executions = &self.by_pc[pc];
        counters.warp_instructions = executions.warps;
        counters.thread_instructions = executions.lanes;
        counters.branches = executions.branches;
        counters.divergent_branches = executions.divergent;
        counters.barriers = executions.barriers;
        counters.fp32_flops = executions.lanes * u64::from(facts.fp32_flops);
        counters.fp64_instructions = if facts.is_fp64 { executions.warps } else { 0 };
    }
}
