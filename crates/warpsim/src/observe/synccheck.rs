//! Finds barriers that not all threads reach, and warp-level synchronisation with a wrong mask.
//!
//! `bar.sync` is `.aligned`: all lanes of a warp that have not returned must execute it together. Threads that
//! returned earlier don't count at a barrier (CUDA C++ Programming Guide, "Synchronization Functions"), so a
//! barrier after an early return is only a warning: it is defined, and nearly always a mistake all the same,
//! because those threads have not done their share before it. Threads that come to a barrier in a loop less often than
//! others, or whose barriers pair up with other ones, break the rule that all threads of a block come to the same
//! `__syncthreads()`: the hardware counts arrivals and goes on, with one side a barrier ahead of the other.

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
    /// Where lanes left: the first one of them.
    exits: Vec<(Witness, u32)>,
    /// Who has arrived since the last completion, by barrier: one for each instruction that they came to.
    arrivals: [Vec<Witness>; BARRIERS],
    /// For each instruction of a barrier the lanes that have come to it, by warp.
    passed: Vec<(u32, Vec<u32>)>,
    /// The first barrier of the block that completed from two instructions.
    mixed: Option<(Witness, Witness)>,
    /// Whether this block has met a divergent barrier: that it then waits for ever is no news.
    diverged: bool,
}

impl Synccheck {
    pub(super) fn new(present: Vec<u32>) -> Synccheck {
        Synccheck {
            findings: FindingSet::default(),
            exited: vec![0; present.len()],
            present,
            exits: Vec::new(),
            arrivals: Default::default(),
            passed: Vec::new(),
            mixed: None,
            diverged: false,
        }
    }

    pub(super) fn block_start(&mut self) {
        self.exited.fill(0);
        self.exits.clear();
        self.arrivals.iter_mut().for_each(Vec::clear);
        self.passed.clear();
        self.mixed = None;
        self.diverged = false;
    }

    pub(super) fn exit(&mut self, at: Site, mask: u32) {
        self.exited[at.warp as usize] |= mask;
        self.exits.push((witness(at, mask), mask));
    }

    #[inline]
    pub(super) fn barrier_arrive(&mut self, at: Site, id: u32, mask: u32, alive: u32, aligned: bool) {
        let arrivals = &mut self.arrivals[id as usize % BARRIERS];
        match arrivals.iter_mut().find(|arrival| arrival.pc == at.pc) {
            // The last one tells best who was waited for.
            Some(arrival) => *arrival = witness(at, mask),
            None => arrivals.push(witness(at, mask)),
        }
        let passed = match self.passed.iter().position(|(pc, _)| *pc == at.pc) {
            Some(index) => &mut self.passed[index].1,
            None => {
                self.passed.push((at.pc, vec![0; self.present.len()]));
                let last = self.passed.len() - 1;
                &mut self.passed[last].1
            }
        };
        passed[at.warp as usize] |= mask;
        if aligned && mask != alive {
            self.diverged = true;
            let missing = (alive & !mask).count_ones();
            self.report(Severity::Error, BarrierProblem::DivergentWarp, at, mask, missing, None);
        }
    }

    /// `is_counted` is whether an instruction, by its number, is for a number of threads that it gives.
    pub(super) fn barrier_complete(
        &mut self,
        id: u32,
        arrived: &[u32],
        waited: &[u32],
        is_counted: impl Fn(u32) -> bool,
    ) {
        let mut arrivals = std::mem::take(&mut self.arrivals[id as usize % BARRIERS]);
        // With a thread count, `bar.sync` is for some warps only, and its other side may be elsewhere in the code; those that
        // returned may never have been meant. `bar.arrive` has one always.
        let whole_block = (self.present.iter().zip(arrived).zip(&self.exited))
            .all(|((&present, &arrived), &exited)| present & !(arrived | exited) == 0);
        if whole_block && arrived == waited && !arrivals.iter().any(|arrival| is_counted(arrival.pc)) {
            self.compare(&arrivals, arrived);
        }
        arrivals.clear();
        self.arrivals[id as usize % BARRIERS] = arrivals;
    }

    /// Looks at a barrier of the whole block: who came to it from where, and who is not there any more.
    fn compare(&mut self, arrivals: &[Witness], arrived: &[u32]) {
        let Some(&last) = arrivals.last() else { return };
        let present = arrived.iter().map(|lanes| lanes.count_ones()).sum();
        if let [first, second, ..] = *arrivals {
            self.mixed.get_or_insert((first, second));
            let mixed = barrier(Severity::Warning, BarrierProblem::Mixed, first, Some(second), present, 0);
            self.findings.report(mixed, 1);
        }
        let missing = |warp: usize| self.exited[warp] & !arrived[warp];
        let count: u32 = (0..arrived.len()).map(|warp| missing(warp).count_ones()).sum();
        if count == 0 {
            return;
        }
        if let Some((first, second)) = self.mixed {
            let problem = BarrierProblem::OutOfStep;
            self.findings.report(barrier(Severity::Error, problem, first, Some(second), present, count), 1);
            return;
        }
        let passed = self.passed.iter().find(|(pc, _)| *pc == last.pc).map(|(_, lanes)| lanes);
        let left_later = self.exits.iter().find(|(exit, lanes)| {
            let warp = exit.thread as usize / 32;
            passed.is_some_and(|passed| passed[warp] & missing(warp) & lanes != 0)
        });
        let (severity, problem, exit) = match left_later {
            Some((exit, _)) => (Severity::Error, BarrierProblem::LeftLoop, Some(*exit)),
            None => {
                let first = self.exits.first().map(|(exit, _)| *exit);
                (Severity::Warning, BarrierProblem::ExitedEarlier, first)
            }
        };
        self.findings.report(barrier(severity, problem, last, exit, present, count), 1);
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
