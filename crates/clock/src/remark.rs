//! What slows a kernel down, whether or not it decides its time here.

use std::collections::BTreeMap;

use crate::code::{Class, Code, Space};
use crate::gpu::Gpu;
use crate::grid::Grid;
use crate::prediction::{Flaw, Part, Remark};
use crate::sm::Cause;
use crate::trace::{Total, Trace};
use crate::work::Work;

/// Turns for each that is needed, and bytes for each that is asked for, from which on there is something to say: reading a row
/// that begins between two sectors costs 1.25.
const WASTE: f64 = 1.5;
/// Lanes at work in a loop, below which most of the warp waits for a few.
const LANES: f64 = 8.0;
/// Share of the instructions above which slow ones are worth a word.
const SLOW_SHARE: f64 = 0.003;
/// Warps of an SM that are few, if the time goes to waiting.
const FEW_WARPS: usize = 16;
/// Share of the time that goes to waiting then.
const WAITING: f64 = 0.3;
/// Share of the time of a line that is worth a word.
const LEAST_WEIGHT: f64 = 0.02;

/// The remarks on a kernel, the worst first.
pub(crate) fn find(
    work: &Work<'_>,
    gpu: &Gpu,
    grid: &Grid,
    code: &Code,
    trace: &Trace,
    parts: &[Part],
) -> Vec<Remark> {
    let mut found = by_flaw(of_lines(code, trace, parts));
    found.extend(of_launch(work, gpu, grid, parts));
    found.retain(|remark| remark.weight >= LEAST_WEIGHT);
    found.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    found
}

/// One remark for each flaw: it names the line to which most of the time goes, and weighs as much as all of them.
fn by_flaw(remarks: Vec<Remark>) -> Vec<Remark> {
    let mut found: BTreeMap<Flaw, (Remark, f64)> = BTreeMap::new();
    for remark in remarks {
        let (worst, weight) = found.entry(remark.flaw).or_insert((remark, 0.0));
        *weight += remark.weight;
        if remark.weight > worst.weight {
            *worst = remark;
        }
    }
    found.into_values().map(|(worst, weight)| Remark { weight, ..worst }).collect()
}

/// The share of the time that goes to a line.
fn weight_of(line: u32, parts: &[Part]) -> f64 {
    parts.iter().filter(|part| part.line == Some(line)).map(|part| part.share).sum()
}

/// What the instructions of each line did.
fn of_lines(code: &Code, trace: &Trace, parts: &[Part]) -> Vec<Remark> {
    let executed: u64 = trace.totals.iter().map(|total| total.executions).sum();
    let mut amounts: BTreeMap<(u32, Flaw), Tally> = BTreeMap::new();
    for (at, total) in trace.totals.iter().enumerate().filter(|(_, total)| total.executions > 0) {
        let mut tally = |flaw: Flaw, amount: f64, whole: f64| {
            let tally = amounts.entry((trace.source_lines[at], flaw)).or_default();
            (tally.amount, tally.whole) = (tally.amount + amount, tally.whole + whole);
        };
        let (turns, requests) = (total.turns as f64, total.requests as f64);
        match code.classes[at] {
            Class::Atomic(Space::Shared) => tally(Flaw::SharedAtomics, turns, requests),
            Class::Load(Space::Shared) | Class::Store(Space::Shared) => {
                tally(Flaw::BankConflicts, turns, total.least_turns as f64);
            }
            Class::Load(Space::Constant) => tally(Flaw::ConstantAddresses, turns, requests),
            Class::Load(Space::Local) | Class::Store(Space::Local) => {
                tally(Flaw::LocalMemory, total.bytes as f64, trace.threads() as f64);
            }
            Class::Load(Space::Global) | Class::Store(Space::Global) | Class::Copy => {
                tally(Flaw::Sectors, 32.0 * total.sectors as f64, total.bytes as f64);
                if code.traits[at].skips_l1 && code.classes[at] == Class::Load(Space::Global) {
                    tally(Flaw::PastL1, requests, executed as f64);
                }
            }
            _ => {}
        }
        let traits = code.traits[at];
        let (executions, whole) = (total.executions as f64, executed as f64);
        if traits.is_double {
            tally(Flaw::Doubles, executions, whole);
        }
        if traits.is_division && traits.in_loop {
            tally(Flaw::Divisions, executions, whole);
        }
        if traits.in_loop {
            tally(Flaw::FewLanes, total.lanes as f64, executions);
        }
    }
    let remark = |((line, flaw), tally): ((u32, Flaw), Tally)| {
        let amount = tally.amount / tally.whole.max(1.0);
        let is_bad = match flaw {
            Flaw::FewLanes => amount < LANES,
            Flaw::Doubles | Flaw::Divisions | Flaw::PastL1 => {
                tally.amount / executed.max(1) as f64 > SLOW_SHARE
            }
            Flaw::LocalMemory => amount > 0.0,
            _ => amount >= WASTE,
        };
        is_bad.then(|| Remark {
            line: Some(line).filter(|line| *line > 0),
            flaw,
            amount,
            weight: weight_of(line, parts),
        })
    };
    amounts.into_iter().filter_map(remark).collect()
}

/// A quantity and what it is held against.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    amount: f64,
    whole: f64,
}

/// What the launch and the compiler's figures tell.
fn of_launch(work: &Work<'_>, gpu: &Gpu, grid: &Grid, parts: &[Part]) -> Vec<Remark> {
    let mut found = Vec::new();
    let mut add = |flaw, amount, weight| found.push(Remark { line: None, flaw, amount, weight });
    if (grid.blocks as f64) < gpu.sms {
        add(Flaw::FewBlocks, grid.blocks as f64, 1.0 - grid.blocks as f64 / gpu.sms);
    }
    if work.resources.spill_bytes > 0 {
        add(Flaw::Spills, f64::from(work.resources.spill_bytes), 0.5);
    }
    let warps = grid.resident * work.warps_per_block() as usize;
    let is_waiting = |part: &&Part| {
        matches!(part.cause, Cause::Latency | Cause::Dependency | Cause::Barrier | Cause::Start)
    };
    let waiting: f64 = parts.iter().filter(is_waiting).map(|part| part.share).sum();
    if warps <= FEW_WARPS && waiting > WAITING {
        add(Flaw::FewWarps, warps as f64, waiting);
    }
    found
}

impl Total {
    /// Adds a request of `bytes` per lane.
    pub(crate) fn add(&mut self, request: &crate::trace::Request, bytes: u32, sectors: u32) {
        self.requests += 1;
        self.turns += u64::from(request.turns);
        self.least_turns += u64::from((bytes / 4).max(1)).min(u64::from(request.turns).max(1));
        self.bytes += u64::from(request.bytes);
        self.sectors += u64::from(sectors);
    }
}
