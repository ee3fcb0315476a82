//! Running a launch: ranges of blocks in parallel, and one after another where that would not be the same.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use rayon::prelude::*;

use crate::exec::{Context, Machine, Stop};
use crate::fault::{Detail, Fault, FaultKind, Party, Severity, Space};
use crate::launch::{Checks, Launch};
use crate::memory::{Buffer, Device, View, Writes, commit, constant_memory, load};
use crate::name::Names;
use crate::observe::{self, InstructionFacts, Monitors, Object};
use crate::observer::{BadAccess, Observer, Site};
use crate::program::{Program, Step};
use crate::report::{Outcome, Report};

/// Ranges that a grid is cut into. It does not depend on the machine, so neither does anything else.
const RANGES: u64 = 16;

/// What a range of blocks came to.
struct Ran<'v, O> {
    view: View<'v>,
    observer: O,
    printed: Vec<u8>,
    executed: u64,
    stop: Option<Stop>,
}

/// What the whole launch came to.
struct Total<O> {
    writes: Vec<Writes>,
    observer: O,
    printed: Vec<u8>,
    stop: Option<Stop>,
}

/// An observer of one range; those of later ranges are appended to that of the first.
trait Mergeable: Observer {
    fn append(&mut self, later: Self);

    /// Frees what only further blocks would need.
    fn seal(&mut self) {}
}

impl Mergeable for Monitors {
    fn append(&mut self, later: Monitors) {
        self.merge(later);
    }

    fn seal(&mut self) {
        Monitors::seal(self);
    }
}

/// Bounds and alignment only.
struct Quiet(Monitors);

impl Observer for Quiet {
    const SILENT: bool = true;

    fn block_start(&mut self, block: u64) {
        self.0.block_start(block);
    }

    fn bad_access(&mut self, at: Site, bad: &BadAccess) {
        self.0.bad_access(at, bad);
    }
}

impl Mergeable for Quiet {
    fn append(&mut self, later: Quiet) {
        self.0.merge(later.0);
    }
}

/// Runs a launch that has been checked.
pub(crate) fn run(launch: &Launch, program: &Program, device: &mut Device, params: Vec<u8>) -> Report {
    let first_global = load(program, device);
    let start = Instant::now();
    let context = Context {
        program,
        grid_dim: launch.grid,
        block_dim: launch.block,
        shared_bytes: program.static_shared as u32 + launch.shared_bytes,
        dynamic_shared: launch.shared_bytes,
        params,
        constant: constant_memory(program, first_global),
        first_global,
        track_poison: launch.checks.init,
        deadline: start
            .checked_add(launch.wall_limit)
            .unwrap_or_else(|| start + std::time::Duration::from_secs(1 << 30)),
    };
    let watched = observe::Context {
        grid_dim: launch.grid,
        block_dim: launch.block,
        instructions: facts(program, context.shared_bytes),
    };
    let monitors = || Monitors::new(&watched, launch.checks).with_footprint_of(launch.footprint_of);
    let total = if launch.checks == Checks::NONE && launch.footprint_of.is_none() {
        let total = run_all(launch, &context, &device.buffers, || Quiet(monitors()));
        Total { writes: total.writes, observer: total.observer.0, printed: total.printed, stop: total.stop }
    } else {
        run_all(launch, &context, &device.buffers, monitors)
    };
    total.writes.iter().for_each(|w| w.apply(&mut device.buffers));
    let seconds = start.elapsed().as_secs_f64();

    let findings = total.observer.finish(&Names {
        program,
        buffers: &device.buffers,
        shared_bytes: u64::from(context.shared_bytes),
    });
    let mut faults = findings.faults;
    faults.extend(aliased_shared(program));
    let mut outcome = Outcome::Completed;
    if let Some(stop) = total.stop {
        outcome = if matches!(stop, Stop::Fuel { .. } | Stop::Wall { .. }) {
            Outcome::Timeout
        } else {
            Outcome::Aborted
        };
        // Why it ended comes first, unless something went wrong on the way there.
        let position = faults.iter().position(|f| f.severity == Severity::Warning).unwrap_or(faults.len());
        faults.splice(position..position, stop_fault(&context, stop));
    }
    Report {
        outcome,
        faults,
        counters: findings.counters,
        lines: findings.lines,
        worst: findings.worst,
        footprint: findings.footprint,
        printed: String::from_utf8_lossy(&total.printed).into_owned(),
        seconds,
    }
}

/// What observers need to know of the instructions.
fn facts(program: &Program, shared_bytes: u32) -> Vec<InstructionFacts> {
    let object = |number: u32| {
        let variable = &program.shared[number as usize];
        Object { number, start: variable.offset, end: variable.end(shared_bytes.into()) }
    };
    let facts = program.facts.iter().zip(&program.code);
    facts
        .map(|(facts, inst)| InstructionFacts {
            fp32_flops: u32::from(facts.fp32_flops),
            is_fp64: facts.is_fp64,
            is_counted_barrier: matches!(inst.step, Step::Barrier(barrier) if barrier.counted),
            element_bytes: program.memory_of(inst).map_or(0, |memory| memory.bytes),
            object: facts.object.map(object),
        })
        .collect()
}

/// Runs all blocks, in parallel if that gives the same as one after another.
fn run_all<O: Mergeable>(
    launch: &Launch,
    context: &Context<'_>,
    buffers: &[Buffer],
    observer: impl Fn() -> O + Sync,
) -> Total<O> {
    let blocks = context.blocks();
    // A single worker takes the same way: how often a race between blocks is seen depends on how the grid is cut.
    if blocks > 1 && !context.program.communicates {
        let parallel = || run_ranges(context, buffers, launch.fuel, &observer);
        let ran = match launch.threads.map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build()) {
            Some(Ok(pool)) => pool.install(parallel),
            _ => parallel(),
        };
        if let Some(total) = merge(ran, launch.fuel) {
            return total;
        }
    }
    let ran = run_range(context, buffers, launch.fuel, observer(), 0..blocks, false, &|| false);
    let writes = commit(vec![ran.view]).unwrap_or_default();
    Total { writes, observer: ran.observer, printed: ran.printed, stop: ran.stop }
}

fn run_ranges<'v, O: Mergeable>(
    context: &Context<'_>,
    buffers: &'v [Buffer],
    fuel: u64,
    observer: &(impl Fn() -> O + Sync),
) -> Vec<Ran<'v, O>> {
    let blocks = context.blocks();
    let ranges = blocks.min(RANGES);
    // The first range that ended early: what comes after it would not have run.
    let first_stop = AtomicUsize::new(usize::MAX);
    (0..ranges as usize)
        .into_par_iter()
        .with_max_len(1)
        .map(|i| {
            let bound = |i: u64| (u128::from(blocks) * u128::from(i) / u128::from(ranges)) as u64;
            let range = bound(i as u64)..bound(i as u64 + 1);
            let cancelled = || first_stop.load(Ordering::Relaxed) < i;
            let ran = run_range(context, buffers, fuel, observer(), range, true, &cancelled);
            if ran.stop.is_some() {
                first_stop.fetch_min(i, Ordering::Relaxed);
            }
            ran
        })
        .collect()
}

fn run_range<'v, O: Mergeable>(
    context: &Context<'_>,
    buffers: &'v [Buffer],
    fuel: u64,
    observer: O,
    range: Range<u64>,
    track: bool,
    cancelled: &dyn Fn() -> bool,
) -> Ran<'v, O> {
    let mut view = View::new(buffers, track);
    let mut machine = Machine::new(context, &mut view, observer, fuel);
    let stop = if cancelled() { Some(Stop::Cancelled) } else { machine.run(range, cancelled).err() };
    let (mut observer, printed, executed) = machine.finish();
    observer.seal();
    Ran { view, observer, printed, executed, stop }
}

/// Puts ranges together as if they had run one after another; `None` if that would have been different.
fn merge<O: Mergeable>(mut ran: Vec<Ran<'_, O>>, fuel: u64) -> Option<Total<O>> {
    if let Some(first) = ran.iter().position(|r| r.stop.is_some()) {
        ran.truncate(first + 1);
    }
    let executed = ran.iter().fold(0u64, |sum, r| sum.saturating_add(r.executed));
    let out_of_time = matches!(ran.last().and_then(|r| r.stop.as_ref()), Some(Stop::Wall { .. }));
    if executed > fuel && ran.len() > 1 && !out_of_time {
        return None;
    }
    let mut views = Vec::new();
    let mut rest = Vec::new();
    for r in ran {
        views.push(r.view);
        rest.push((r.observer, r.printed, r.stop));
    }
    let writes = commit(views).ok()?;
    let mut rest = rest.into_iter();
    let (observer, printed, stop) = rest.next()?;
    let mut total = Total { writes, observer, printed, stop };
    for (observer, printed, stop) in rest {
        total.observer.append(observer);
        total.printed.extend(printed);
        total.stop = stop;
    }
    Some(total)
}

/// Two `extern __shared__` arrays in one kernel are the same memory.
fn aliased_shared(program: &Program) -> Option<Fault> {
    let [first, second, ..] = program.dynamic_shared.as_slice() else { return None };
    let at = [first, second].iter().find_map(|(_, pc)| *pc);
    Some(Fault {
        kind: FaultKind::AliasedShared,
        severity: Severity::Warning,
        space: Some(Space::Shared),
        party: Party {
            at: at.and_then(|pc| program.source_line(pc)).cloned(),
            pc: at.unwrap_or(0),
            thread: [0; 3],
            block: [0; 3],
        },
        other: None,
        count: 1,
        detail: Detail::AliasedShared { first: first.0.clone(), second: second.0.clone() },
    })
}

/// Why a launch ended early, as a fault; deadlocks are told by the observers.
fn stop_fault(context: &Context<'_>, stop: Stop) -> Option<Fault> {
    let more_blocks = |at: Site| at.block + 1 < context.blocks();
    let (kind, at, lane, detail) = match stop {
        Stop::Trap(at, lane) => (FaultKind::Trap, at, lane, Detail::None),
        Stop::Refused(at, lane, refused) => (FaultKind::Trap, at, lane, Detail::Refused(refused)),
        Stop::Assert(at, lane, message) => (FaultKind::Assert, at, lane, Detail::Assert { message }),
        Stop::StackOverflow(at, lane) => (FaultKind::StackOverflow, at, lane, Detail::None),
        Stop::Fuel { at, lane, executed, polling } | Stop::Wall { at, lane, executed, polling } => {
            let detail = Detail::Timeout { executed, waits_for_block: polling && more_blocks(at) };
            (FaultKind::Timeout, at, lane, detail)
        }
        Stop::Deadlock | Stop::Cancelled => return None,
    };
    Some(Fault {
        kind,
        severity: Severity::Error,
        space: None,
        party: Party {
            at: context.program.source_line(at.pc).cloned(),
            pc: at.pc,
            thread: context.thread_index(at.warp * 32 + lane),
            block: context.block_index(at.block),
        },
        other: None,
        count: 1,
        detail,
    })
}
