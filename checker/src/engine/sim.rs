//! warpsim, on the CPU.

use warpsim::{
    BufferId, Detail, Device, Fault, FaultKind, Footprint, Launch, LaunchError, Party, Program, Severity,
    Sink, Space, Touch,
};

use super::{Again, Arg, Contents, Observation, Outcome, Task};
use crate::finding::{Finding, Line, Site};

/// Runs `task` on a fresh device.
///
/// # Errors
/// If no device could start such a launch.
pub(crate) fn run(program: &Program, task: &Task) -> Result<Observation, LaunchError> {
    let Stage { mut device, launch, buffers } = set(task);
    let (mut first, _) = observe(program, &launch, &mut device, &buffers)?;
    let is_done = first.outcome == Outcome::Completed && !first.findings.iter().any(|f| f.is_error);
    if task.relaunch && is_done {
        let variables = device.changed_variables(program);
        if !variables.is_empty() {
            for (arg, id) in task.args.iter().zip(&buffers) {
                if let (Arg::Buffer { contents, .. }, Some(id)) = (arg, id) {
                    device.reset(*id, contents.as_deref());
                }
            }
            let (second, _) = observe(program, &launch, &mut device, &buffers)?;
            first.again = Some(Again { variables, observation: Box::new(second) });
        }
    }
    Ok(first)
}

/// Runs `task` once on a fresh device, and records what `block`, if one is named, does to global memory: nothing if the
/// grid has no such block.
///
/// # Errors
/// If no device could start such a launch.
pub(crate) fn run_with_footprint(
    program: &Program,
    task: &Task,
    block: Option<[u32; 3]>,
) -> Result<(Observation, Vec<Footprint>), LaunchError> {
    let Stage { mut device, mut launch, buffers } = set(task);
    launch.footprint_of = block;
    observe(program, &launch, &mut device, &buffers)
}

/// Everything that a launch needs.
struct Stage {
    device: Device,
    launch: Launch,
    /// For each argument that is one.
    buffers: Vec<Option<BufferId>>,
}

fn set(task: &Task) -> Stage {
    let mut device = Device::new();
    let mut launch = Launch::new(task.grid, task.block);
    launch.shared_bytes = task.shared_bytes;
    launch.checks = task.checks;
    launch.fuel = task.fuel;
    launch.wall_limit = task.wall_limit;
    let mut buffers = Vec::with_capacity(task.args.len());
    for arg in &task.args {
        let (arg, buffer) = match arg {
            Arg::Value(bytes) => (warpsim::Arg::Bytes(bytes.clone()), None),
            Arg::Buffer { name, bytes, contents } => {
                let id = match contents {
                    Some(contents) => device.alloc_from(name, contents.clone()),
                    None => device.alloc(name, *bytes),
                };
                (warpsim::Arg::Buffer(id), Some(id))
            }
        };
        launch.args.push(arg);
        buffers.push(buffer);
    }
    Stage { device, launch, buffers }
}

fn observe(
    program: &Program,
    launch: &Launch,
    device: &mut Device,
    buffers: &[Option<BufferId>],
) -> Result<(Observation, Vec<Footprint>), LaunchError> {
    let report = launch.run(program, device)?;
    let observation = Observation {
        outcome: match report.outcome {
            warpsim::Outcome::Completed => Outcome::Completed,
            warpsim::Outcome::Aborted => Outcome::Aborted,
            warpsim::Outcome::Timeout => Outcome::Timeout,
        },
        buffers: buffers
            .iter()
            .map(|id| id.map(|id| Contents { bytes: device.read(id), written: device.written(id) }))
            .collect(),
        findings: report.faults.iter().map(finding).collect(),
        counters: report.counters,
        worst: report.worst,
        printed: report.printed,
        seconds: report.seconds,
        again: None,
    };
    Ok((observation, report.footprint))
}

fn finding(fault: &Fault) -> Finding {
    let (here, there) = labels(fault);
    Finding {
        kind: kind_name(fault.kind),
        is_error: fault.severity == Severity::Error,
        message: fault.to_string(),
        space: fault.space.map(space_name),
        site: Some(site(&fault.party, here)),
        other: fault.other.as_ref().map(|party| site(party, there)),
        count: fault.count,
    }
}

fn site(party: &Party, label: &'static str) -> Site {
    let line = party.at.as_ref().map(|at| Line { file: at.file.clone(), number: at.line });
    Site { line, thread: party.thread, block: party.block, label }
}

/// What to write beside the two lines of a fault.
fn labels(fault: &Fault) -> (&'static str, &'static str) {
    let touched = |touch: &Touch| match touch {
        Touch::Read => "read here",
        Touch::Write => "written here",
        Touch::Atomic => "updated atomically here",
    };
    match &fault.detail {
        Detail::Access { touch, .. } => (touched(touch), "also here"),
        Detail::Race { touch, other, .. } => (touched(touch), touched(other)),
        Detail::Uninitialized { sink, .. } => {
            let used = match sink {
                Sink::Branch => "decides here",
                Sink::Address => "part of this address",
                Sink::Store => "stored here",
            };
            // The place of the read comes first, if it is known.
            if fault.other.is_some() { ("read here, never written", used) } else { (used, "also here") }
        }
        Detail::Barrier { .. } => ("some threads wait here", "others are here"),
        Detail::AliasedShared { .. } => ("one array here", "the other here"),
        Detail::Assert { .. } => ("fails here", "also here"),
        Detail::Timeout { .. } => ("still running here", "also here"),
        Detail::Refused(_) | Detail::None => ("here", "also here"),
    }
}

fn kind_name(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::OutOfBounds => "out_of_bounds",
        FaultKind::Misaligned => "misaligned",
        FaultKind::Race => "race",
        FaultKind::UninitializedRead => "uninitialized_read",
        FaultKind::BarrierDivergence => "barrier_divergence",
        FaultKind::AliasedShared => "aliased_shared",
        FaultKind::Trap => "trap",
        FaultKind::Assert => "assert",
        FaultKind::StackOverflow => "stack_overflow",
        FaultKind::Timeout => "timeout",
    }
}

fn space_name(space: Space) -> &'static str {
    match space {
        Space::Global => "global",
        Space::Shared => "shared",
        Space::Local => "local",
        Space::Constant => "constant",
        Space::Param => "param",
    }
}
