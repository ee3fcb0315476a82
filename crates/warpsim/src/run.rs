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
use crate::observe::{self, Check, InstructionFacts, Launched, Memcheck, Monitors, Object};
use crate::observer::{Observer, Site};
use crate::program::{Program, Step};
use crate::report::{Outcome, Report};

/// Ranges that a grid is cut into. It does not depend on the machine, so neither does anything else.
const RANGES: u64 = 16;

/// What a range of blocks left.
struct Ran<'v, O> {
    view: View<'v>,
    observer: O,
    printed: Vec<u8>,
    executed: u64,
    stop: Option<Stop>,
}

/// What the whole launch left.
struct Total<O> {
    writes: Vec<Writes>,
    observer: O,
    printed: Vec<u8>,
    stop: Option<Stop>,
}

/// The blocks that a launch runs, in order.
#[derive(Clone, Copy)]
enum Blocks<'l> {
    All(u64),
    Only(&'l [u64]),
}

impl Blocks<'_> {
    fn count(self) -> u64 {
        match self {
            Blocks::All(count) => count,
            Blocks::Only(list) => list.len() as u64,
        }
    }

    /// Their linear indices, from one of them to another.
    fn range(self, range: Range<u64>) -> impl Iterator<Item = u64> {
        range.map(move |number| match self {
            Blocks::All(_) => number,
            Blocks::Only(list) => list[number as usize],
        })
    }
}

/// Runs a launch that has been checked, with a guest's observer beside the launch's own.
pub(crate) fn run(
    launch: &Launch,
    program: &Program,
    device: &mut Device,
    params: Vec<u8>,
    guest: Option<&mut dyn Observer>,
) -> Report {
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
    let blocks = launch.blocks.as_deref().map_or(Blocks::All(context.blocks()), Blocks::Only);
    let buffers = device.buffers.as_slice();
    let finish = Finish { context: &context, watched: &watched, start };
    match guest {
        Some(guest) => {
            // The guest's observer sees all blocks, one after another.
            let Total { writes, observer: (observer, _), printed, stop } =
                run_in_order(&context, buffers, launch.fuel, (monitors(), guest), blocks);
            finish.report(Total { writes, observer, printed, stop }, &mut device.buffers)
        }
        None if launch.checks == Checks::NONE && launch.footprint_of.is_none() => {
            let total = run_all(launch, &context, buffers, Memcheck::default, blocks);
            finish.report(total, &mut device.buffers)
        }
        None => {
            let total = run_all(launch, &context, buffers, monitors, blocks);
            finish.report(total, &mut device.buffers)
        }
    }
}

/// What a report needs besides what the blocks left.
struct Finish<'a> {
    context: &'a Context<'a>,
    watched: &'a observe::Context,
    start: Instant,
}

impl Finish<'_> {
    fn report<C: Check>(&self, total: Total<C>, buffers: &mut [Buffer]) -> Report {
        total.writes.iter().for_each(|w| w.apply(buffers));
        let seconds = self.start.elapsed().as_secs_f64();
        let Context { program, shared_bytes, .. } = *self.context;
        let names = Names { program, buffers, shared_bytes: u64::from(shared_bytes) };
        let findings = Launched { context: self.watched, resolver: &names }.finish(total.observer);
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
            let position =
                faults.iter().position(|f| f.severity == Severity::Warning).unwrap_or(faults.len());
            faults.splice(position..position, stop_fault(self.context, stop));
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
}

/// What observers need to know of the instructions.
fn facts(program: &Program, shared_bytes: u32) -> Vec<InstructionFacts> {
    let object = |number: u32| {
        let variable = &program.shared[number as usize];
        Object { number, start: variable.offset, end: variable.end(shared_bytes.into()) }
    };
    let instructions = program.instructions.iter().zip(&program.code);
    instructions
        .map(|(instruction, inst)| InstructionFacts {
            fp32_flops: instruction.fp32_flops,
            is_fp64: instruction.is_fp64,
            is_counted_barrier: matches!(inst.step, Step::Barrier(barrier) if barrier.counted),
            element_bytes: program.memory_of(inst).map_or(0, |memory| memory.bytes),
            object: instruction.object.map(object),
        })
        .collect()
}

/// Runs blocks one after another.
fn run_in_order<O: Observer>(
    context: &Context<'_>,
    buffers: &[Buffer],
    fuel: u64,
    observer: O,
    blocks: Blocks<'_>,
) -> Total<O> {
    let all = blocks.range(0..blocks.count());
    let Ran { view, observer, printed, stop, .. } =
        run_range(context, buffers, fuel, observer, all, false, &|| false);
    Total { writes: commit(vec![view]).unwrap_or_default(), observer, printed, stop }
}

/// Runs blocks, in parallel if that gives the same as one after another.
fn run_all<C: Check>(
    launch: &Launch,
    context: &Context<'_>,
    buffers: &[Buffer],
    observer: impl Fn() -> C + Sync,
    blocks: Blocks<'_>,
) -> Total<C> {
    // A single worker takes the same way: how often a race between blocks is seen depends on how the grid is cut.
    if blocks.count() > 1 && !context.program.communicates {
        let parallel = || run_ranges(context, buffers, launch.fuel, &observer, blocks);
        let ran = match launch.threads.map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build()) {
            Some(Ok(pool)) => pool.install(parallel),
            _ => parallel(),
        };
        if let Some(total) = merge(ran, launch.fuel) {
            return total;
        }
    }
    run_in_order(context, buffers, launch.fuel, observer(), blocks)
}

fn run_ranges<'v, C: Check>(
    context: &Context<'_>,
    buffers: &'v [Buffer],
    fuel: u64,
    observer: &(impl Fn() -> C + Sync),
    blocks: Blocks<'_>,
) -> Vec<Ran<'v, C>> {
    let count = blocks.count();
    let ranges = count.min(RANGES);
    // The first range that ended early: what comes after it would not have run.
    let first_stop = AtomicUsize::new(usize::MAX);
    (0..ranges as usize)
        .into_par_iter()
        .with_max_len(1)
        .map(|i| {
            let bound = |i: u64| (u128::from(count) * u128::from(i) / u128::from(ranges)) as u64;
            let range = blocks.range(bound(i as u64)..bound(i as u64 + 1));
            let cancelled = || first_stop.load(Ordering::Relaxed) < i;
            let mut ran = run_range(context, buffers, fuel, observer(), range, true, &cancelled);
            ran.observer.seal();
            if ran.stop.is_some() {
                first_stop.fetch_min(i, Ordering::Relaxed);
            }
            ran
        })
        .collect()
}

fn run_range<'v, O: Observer>(
    context: &Context<'_>,
    buffers: &'v [Buffer],
    fuel: u64,
    observer: O,
    blocks: impl Iterator<Item = u64>,
    track: bool,
    cancelled: &dyn Fn() -> bool,
) -> Ran<'v, O> {
    let mut view = View::new(buffers, track);
    let mut machine = Machine::new(context, &mut view, observer, fuel);
    let stop = if cancelled() { Some(Stop::Cancelled) } else { machine.run(blocks, cancelled).err() };
    let (observer, printed, executed) = machine.finish();
    Ran { view, observer, printed, executed, stop }
}

/// Puts ranges together as if they had run one after another; `None` if that would have been different.
fn merge<C: Check>(mut ran: Vec<Ran<'_, C>>, fuel: u64) -> Option<Total<C>> {
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
        total.observer.merge(observer);
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
