//! Finds barriers that not all threads reach, and warp-level synchronisation with a wrong mask.
//!
//! `bar.sync` is `.aligned`: all lanes of a warp that have not returned must execute it together. Threads that
//! returned earlier don't count at a barrier (CUDA C++ Programming Guide, "Synchronization Functions"), so a
//! barrier after an early return is only a warning: it is defined, and nearly always a mistake all the same,
//! because those threads have not done their share before it. Threads that come to a barrier in a loop less often than
//! others, or whose barriers pair up with other ones, break the rule that all threads of a block come to the same
//! `__syncthreads()`: the hardware counts arrivals and goes on, with one side a barrier ahead of the other.

use super::finding::{Facts, Finding, FindingSet, Witness};
use super::{Check, Context, Launched, Tally};
use crate::fault::{BarrierProblem, FaultKind, Severity};
use crate::observer::{Arrival, Detail, Observer, Site, Waiting};
use crate::pattern::lanes;

/// Barriers that a block can use.
const BARRIERS: usize = 16;

/// `barrier_divergence`.
#[derive(Clone, Debug)]
pub(super) struct Synccheck {
    findings: FindingSet,
    /// Lanes that the block has, by warp.
    present: Vec<u32>,
    /// By instruction, whether it is a barrier for a number of threads that it gives.
    is_counted: Vec<bool>,
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
    pub(super) fn new(context: &Context) -> Synccheck {
        let present = context.present_lanes();
        Synccheck {
            findings: FindingSet::default(),
            exited: vec![0; present.len()],
            present,
            is_counted: context.instructions.iter().map(|facts| facts.is_counted_barrier).collect(),
            exits: Vec::new(),
            arrivals: Default::default(),
            passed: Vec::new(),
            mixed: None,
            diverged: false,
        }
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

    fn find(&mut self, problem: BarrierProblem, at: Site, mask: u32, missing: u32) {
        let finding = barrier(Severity::Error, problem, witness(at, mask), None, mask.count_ones(), missing);
        self.findings.report(finding, 1);
    }
}

impl Check for Synccheck {
    fn merge(&mut self, later: Synccheck) {
        self.findings.merge(later.findings);
    }

    fn report(self, launched: &Launched<'_>, tally: &mut Tally) {
        self.findings.resolve(launched, &mut tally.faults);
    }
}

impl Observer for Synccheck {
    fn detail() -> Detail {
        Detail::Grouped
    }

    fn block_start(&mut self, _block: u64) {
        self.exited.fill(0);
        self.exits.clear();
        self.arrivals.iter_mut().for_each(Vec::clear);
        self.passed.clear();
        self.mixed = None;
        self.diverged = false;
    }

    fn exit(&mut self, at: Site, mask: u32) {
        self.exited[at.warp as usize] |= mask;
        self.exits.push((witness(at, mask), mask));
    }

    #[inline]
    fn barrier_arrive(&mut self, at: Site, arrival: Arrival) {
        let Arrival { barrier, mask, alive, aligned } = arrival;
        let arrivals = &mut self.arrivals[barrier as usize % BARRIERS];
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
            self.find(BarrierProblem::DivergentWarp, at, mask, missing);
        }
    }

    fn barrier_complete(&mut self, _block: u64, id: u32, arrived: &[u32], waited: &[u32]) {
        let mut arrivals = std::mem::take(&mut self.arrivals[id as usize % BARRIERS]);
        // With a thread count, `bar.sync` is for some warps only, and its other side may be elsewhere in the code; those that
        // returned may never have been meant. `bar.arrive` has one always.
        let whole_block = (self.present.iter().zip(arrived).zip(&self.exited))
            .all(|((&present, &arrived), &exited)| present & !(arrived | exited) == 0);
        let is_counted = arrivals.iter().any(|arrival| self.is_counted[arrival.pc as usize]);
        if whole_block && arrived == waited && !is_counted {
            self.compare(&arrivals, arrived);
        }
        arrivals.clear();
        self.arrivals[id as usize % BARRIERS] = arrivals;
    }

    fn bad_warp_sync(&mut self, at: Site, mask: u32, problem: BarrierProblem) {
        self.find(problem, at, mask, 0);
    }

    fn deadlock(&mut self, _block: u64, waiting: &[Waiting]) {
        let Some(first) = waiting.first().filter(|_| !self.diverged) else { return };
        let elsewhere = waiting.iter().find(|other| other.barrier != first.barrier);
        let problem = match elsewhere {
            Some(_) => BarrierProblem::DifferentBarriers,
            None => BarrierProblem::NeverComplete,
        };
        let other = elsewhere.map(|other| witness(other.at, other.mask));
        let beside = waiting.iter().filter(|other| other.barrier == first.barrier);
        let present = beside.map(|other| other.mask.count_ones()).sum();
        let threads: u32 = self.present.iter().map(|lanes| lanes.count_ones()).sum();
        let party = witness(first.at, first.mask);
        let finding = barrier(Severity::Error, problem, party, other, present, threads - present);
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
