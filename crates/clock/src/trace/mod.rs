//! What the warps of a few blocks do: which stretches of code they run, and what each of their memory requests costs.

mod recorder;
mod request;

use ptx::Module;
use warpsim::{Checks, Device, Fault, Launch, Outcome, Program, Severity};

pub(crate) use request::Request;

use crate::code::Code;
use crate::prediction::Obstacle;
use crate::work::{Argument, Work};
use recorder::Recorder;

/// The most warp instructions that the sample may take: far more than the blocks of any exercise.
const FUEL: u64 = 60_000_000;
/// The longest it may take.
const WALL: std::time::Duration = std::time::Duration::from_secs(4);
/// No request: the instruction ran for no lane.
pub(crate) const NONE: u32 = u32::MAX;

/// What one warp does.
#[derive(Debug, Default)]
pub(crate) struct WarpTrace {
    /// Regions in the order in which it runs them.
    pub(crate) runs: Vec<u32>,
    /// For each op of those regions that may make one, its request, or [`NONE`].
    pub(crate) requests: Vec<u32>,
}

/// What the sampled blocks do.
#[derive(Debug)]
pub(crate) struct Trace {
    /// For each block its warps.
    pub(crate) blocks: Vec<Vec<WarpTrace>>,
    pub(crate) requests: Vec<Request>,
    /// The lines that requests touch, each with a bit for each of its four sectors; a request has a range of these.
    pub(crate) lines: Vec<(u64, u8)>,
    /// Where buffers begin, and their bytes.
    pub(crate) buffers: Vec<(u64, u64)>,
    /// For each instruction of the code, the line of the kernel's file that it is from; 0 if it is from none.
    pub(crate) source_lines: Vec<u32>,
    /// For each instruction, what it did.
    pub(crate) totals: Vec<Total>,
}

/// What all executions of an instruction did together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Total {
    /// By warps.
    pub(crate) executions: u64,
    /// Lanes that took part.
    pub(crate) lanes: u64,
    pub(crate) requests: u64,
    /// Turns in the load/store unit, and those that are needed at least.
    pub(crate) turns: u64,
    pub(crate) least_turns: u64,
    /// Bytes that lanes asked for.
    pub(crate) bytes: u64,
    /// Sectors of global memory.
    pub(crate) sectors: u64,
}

impl Trace {
    /// Threads of the sampled blocks, with whole warps.
    pub(crate) fn threads(&self) -> u64 {
        32 * self.blocks.iter().map(|warps| warps.len() as u64).sum::<u64>()
    }
}

/// Runs `blocks` (linear indices) of the kernel, on buffers of the real size that hold zeros and take memory only where they are
/// touched.
pub(crate) fn sample(
    work: &Work<'_>,
    program: &Program,
    code: &Code,
    blocks: &[u64],
) -> Result<Trace, Obstacle> {
    let mut device = Device::new();
    let mut launch = Launch::new(work.grid, work.block);
    launch.shared_bytes = work.dynamic_shared_bytes;
    (launch.fuel, launch.wall_limit) = (FUEL, WALL);
    (launch.checks, launch.blocks) = (Checks::NONE, Some(blocks.to_vec()));
    let mut buffers = Vec::new();
    for argument in &work.arguments {
        launch = match argument {
            Argument::Buffer { name, bytes } => {
                let buffer = device.alloc_from(name, vec![0; *bytes as usize]);
                buffers.push((device.address(buffer), *bytes));
                launch.arg(buffer)
            }
            Argument::Value(bytes) => {
                launch.args.push(warpsim::Arg::Bytes(bytes.clone()));
                launch
            }
        };
    }
    let mut recorder = Recorder::new(code, program, work.warps_per_block());
    let report = launch.run_with(program, &mut device, &mut recorder)?;
    let is_timeout = report.outcome == Outcome::Timeout;
    match report.faults.into_iter().find(|fault| fault.severity == Severity::Error) {
        Some(fault) if is_timeout => Err(endless(&fault)),
        Some(fault) if report.outcome == Outcome::Aborted => Err(Obstacle::Fault(Box::new(fault))),
        _ => Ok(Trace { buffers, ..recorder.finish() }),
    }
}

fn endless(fault: &Fault) -> Obstacle {
    Obstacle::Endless { line: fault.party.at.as_ref().map(|at| at.line) }
}

/// The kernel, decoded.
pub(crate) fn program(module: &Module, kernel: &str) -> Result<Program, Obstacle> {
    Ok(Program::new(module, kernel)?)
}
