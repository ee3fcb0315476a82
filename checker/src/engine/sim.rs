//! warpsim, on the CPU.

use warpsim::{
    BarrierProblem, BufferId, Detail, Device, Fault, FaultKind, Footprint, Launch, LaunchError, Party,
    Program, Report, Severity, Sink, Source, Space, Touch,
};

use super::{Again, Arg, Contents, Observation, Outcome, Task};
use crate::finding::{Finding, Line, Site};
use crate::message::{self, OutOfTime};

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
        findings: report
            .faults
            .iter()
            .map(|fault| finding(fault, sentence(fault, launch, &report)))
            .collect(),
        counters: report.counters,
        worst: report.worst,
        printed: report.printed,
        seconds: report.seconds,
        again: None,
    };
    Ok((observation, report.footprint))
}

/// What a fault is told in. Fuel runs out at the same instruction everywhere; where it is time that runs out, that must be
/// said, for another machine gets further or less far.
fn sentence(fault: &Fault, launch: &Launch, report: &Report) -> String {
    match fault.detail {
        Detail::Timeout { executed, waits_for_block: false } if executed < launch.fuel => {
            let [across, down, deep] = launch.grid.map(u64::from);
            let [x, y, z] = fault.party.block.map(u64::from);
            message::out_of_time(&OutOfTime {
                limit: launch.wall_limit,
                instructions: report.counters.warp_instructions.max(executed),
                // Those before this one in linear order.
                ended: x + across * (y + down * z),
                blocks: across * down * deep,
                line: fault.party.at.as_ref().map(|at| at.line),
            })
        }
        _ => fault.to_string(),
    }
}

fn finding(fault: &Fault, message: String) -> Finding {
    let (here, there) = labels(fault);
    Finding {
        kind: kind_name(fault.kind),
        is_error: fault.severity == Severity::Error,
        message,
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
        Detail::Copy { is_async: true, .. } => ("copied to again here", "being copied to since here"),
        Detail::Copy { touch, .. } => (touched(touch), "being copied to since here"),
        Detail::Uninitialized { sink, source } => {
            let used = match sink {
                Sink::Branch => "decides here",
                Sink::Address => "part of this address",
                Sink::Store => "stored here",
            };
            // The place of the read comes first, if it is known.
            match &fault.other {
                // An atomic: it reads and stores at once.
                Some(other) if other.pc == fault.party.pc => {
                    ("updated here, never written before", "also here")
                }
                Some(_) if matches!(source, Source::Lane { .. }) => ("asks a lane that is not there", used),
                Some(_) => ("read here, never written", used),
                None => (used, "also here"),
            }
        }
        Detail::Barrier { problem: BarrierProblem::PartOfWarp, .. } => {
            ("only some threads of a warp get here", "others are here")
        }
        Detail::Barrier { problem: BarrierProblem::Mixed | BarrierProblem::OutOfStep, .. } => {
            ("some threads wait here", "others wait here")
        }
        Detail::Barrier { problem: BarrierProblem::LeftLoop, .. } => {
            ("the others come here again", "some threads left here")
        }
        Detail::Barrier { problem: BarrierProblem::ExitedEarlier, .. } => {
            ("the others meet here", "some threads left here")
        }
        Detail::Barrier {
            problem: BarrierProblem::CallerNotInMask | BarrierProblem::NamedLaneElsewhere,
            ..
        } => ("some lanes get here", "others are here"),
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
        FaultKind::CopyNotAwaited => "copy_not_awaited",
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use warpsim::Checks;

    use super::*;

    /// Each block counts to `n`: none of them for ever.
    const COUNTS: &str = "
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .loc 1 2 0
    ld.param.u32 %r1, [n];
    mov.u32 %r2, 0;
$AGAIN:
    .loc 1 7 9
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, %r1;
    @%p1 bra $AGAIN;
    .loc 1 9 1
    ret;
}
.file 1 \"kernel.cu\"
";

    fn stopped(blocks: u32, n: u32, fuel: u64, wall_limit: Duration) -> String {
        let module = ptx::parse(COUNTS).expect("well formed");
        let program = Program::new(&module, "k").expect("lowers");
        let task = Task {
            grid: [blocks, 1, 1],
            block: [32, 1, 1],
            shared_bytes: 0,
            args: vec![Arg::Value(n.to_le_bytes().to_vec())],
            checks: Checks { counters: true, ..Checks::NONE },
            fuel,
            wall_limit,
            relaunch: false,
        };
        let observation = run(&program, &task).expect("legal");
        assert_eq!(observation.outcome, Outcome::Timeout);
        let finding = observation.findings.into_iter().next().expect("why it was stopped");
        assert_eq!(finding.kind, "timeout");
        finding.message
    }

    #[test]
    fn when_time_runs_out_that_is_said_and_how_far_the_kernel_got() {
        let (short, no_end) = (Duration::from_millis(50), u64::MAX);
        let endless = stopped(3, u32::MAX, no_end, short);
        assert!(endless.starts_with("time ran out: stopped after 0.05 s"), "{endless}");
        assert!(endless.contains("a slower machine stops it sooner"), "{endless}");
        assert!(endless.contains("none of 3 blocks had ended") && endless.contains("line 7"), "{endless}");
        assert!(endless.contains("can become false"), "{endless}");
        let slow = stopped(1 << 20, 10_000, no_end, short);
        assert!(slow.contains("of 1048576 blocks had ended"), "{slow}");
        assert!(slow.contains("too slow rather than endless") && !slow.contains("none of"), "{slow}");
    }

    #[test]
    fn fuel_runs_out_without_a_word_of_time() {
        let message = stopped(1, u32::MAX, 100_000, Duration::from_secs(60));
        assert!(message.starts_with("stopped after 100000 warp instructions"), "{message}");
        assert!(!message.contains("time"), "{message}");
    }
}
