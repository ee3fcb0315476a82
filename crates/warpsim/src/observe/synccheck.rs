//! Finds barriers that not all threads reach, and warp-level synchronisation with a wrong mask.
//!
//! `bar.sync` is `.aligned`: all lanes of a warp that have not returned must execute it together. Threads that
//! returned earlier don't count at a barrier (CUDA C++ Programming Guide, "Synchronization Functions"), so a
//! barrier after an early return is only a warning: it is defined, and nearly always a mistake all the same,
//! because those threads have not done their share before it.

use super::finding::{Facts, Finding, FindingSet, Witness};
use crate::fault::{BarrierProblem, FaultKind, Severity};
use crate::observer::Site;
use crate::pattern::lanes;

/// Barriers that a block can use.
const BARRIERS: usize = 16;

/// `barrier_divergence`.
#[derive(Clone, Debug)]
pub(super) struct Synccheck {
    pub(super) findings: FindingSet,
    /// Lanes that the block has, by warp.
    present: Vec<u32>,
    exited: Vec<u32>,
    first_exit: Option<Witness>,
    /// Who arrived last, by barrier.
    last_arrival: [Option<Witness>; BARRIERS],
    /// Whether this block has met a divergent barrier: that it then waits for ever is no news.
    diverged: bool,
}

impl Synccheck {
    pub(super) fn new(present: Vec<u32>) -> Synccheck {
        Synccheck {
            findings: FindingSet::default(),
            exited: vec![0; present.len()],
            present,
            first_exit: None,
            last_arrival: [None; BARRIERS],
            diverged: false,
        }
    }

    pub(super) fn block_start(&mut self) {
        self.exited.fill(0);
        self.first_exit = None;
        self.last_arrival = [None; BARRIERS];
        self.diverged = false;
    }

    pub(super) fn exit(&mut self, at: Site, mask: u32) {
        self.exited[at.warp as usize] |= mask;
        self.first_exit.get_or_insert(witness(at, mask));
    }

    #[inline]
    pub(super) fn barrier_arrive(&mut self, at: Site, id: u32, mask: u32, alive: u32, aligned: bool) {
        self.last_arrival[id as usize % BARRIERS] = Some(witness(at, mask));
        if aligned && mask != alive {
            self.diverged = true;
            let missing = (alive & !mask).count_ones();
            self.report(Severity::Error, BarrierProblem::DivergentWarp, at, mask, missing, None);
        }
    }

    pub(super) fn barrier_complete(&mut self, id: u32, arrived: &[u32]) {
        let Some(exit) = self.first_exit else { return };
        // With a thread count, `bar.sync` is for some warps only; those that returned may never have been meant.
        let whole_block = (self.present.iter().zip(arrived).zip(&self.exited))
            .all(|((&present, &arrived), &exited)| present & !(arrived | exited) == 0);
        let Some(arrival) = self.last_arrival[id as usize % BARRIERS].filter(|_| whole_block) else { return };
        let present = arrived.iter().map(|lanes| lanes.count_ones()).sum();
        // Those that arrived, without waiting, and then returned have done their share.
        let missing =
            self.exited.iter().zip(arrived).map(|(exited, arrived)| (exited & !arrived).count_ones()).sum();
        if missing == 0 {
            return;
        }
        let finding =
            barrier(Severity::Warning, BarrierProblem::ExitedEarlier, arrival, Some(exit), present, missing);
        self.findings.report(finding, 1);
    }

    pub(super) fn bad_warp_sync(&mut self, at: Site, mask: u32, problem: BarrierProblem) {
        self.report(Severity::Error, problem, at, mask, 0, None);
    }

    /// `waiting`: (warp, pc, lanes, barrier id).
    pub(super) fn deadlock(&mut self, block: u64, waiting: &[(u32, u32, u32, u32)]) {
        let Some(&(warp, pc, mask, id)) = waiting.first().filter(|_| !self.diverged) else { return };
        let elsewhere = waiting.iter().find(|other| other.3 != id);
        let problem = match elsewhere {
            Some(_) => BarrierProblem::DifferentBarriers,
            None => BarrierProblem::NeverComplete,
        };
        let other = elsewhere.map(|&(warp, pc, mask, _)| witness(Site { block, warp, pc }, mask));
        let at = Site { block, warp, pc };
        let present = waiting.iter().filter(|other| other.3 == id).map(|other| other.2.count_ones()).sum();
        let threads: u32 = self.present.iter().map(|lanes| lanes.count_ones()).sum();
        let finding = barrier(Severity::Error, problem, witness(at, mask), other, present, threads - present);
        self.findings.report(finding, 1);
    }

    fn report(
        &mut self,
        severity: Severity,
        problem: BarrierProblem,
        at: Site,
        mask: u32,
        missing: u32,
        other: Option<Witness>,
    ) {
        let finding = barrier(severity, problem, witness(at, mask), other, mask.count_ones(), missing);
        self.findings.report(finding, 1);
    }
}

/// The first thread in `mask`.
fn witness(at: Site, mask: u32) -> Witness {
    Witness { pc: at.pc, thread: 32 * at.warp + lanes(mask).next().unwrap_or(0), block: at.block }
}

fn barrier(
    severity: Severity,
    problem: BarrierProblem,
    party: Witness,
    other: Option<Witness>,
    present: u32,
    missing: u32,
) -> Finding {
    let facts = Facts::Barrier { problem, present, missing };
    Finding { kind: FaultKind::BarrierDivergence, severity, party, other, facts }
}
