//! Predicts how long a CUDA kernel takes on a named GPU, without having one.
//!
//! [`predict`] runs a few blocks of a kernel on warpsim, at the real size of the problem; writes down which instructions their
//! warps execute and which memory they touch; brings the instructions into the order in which the assembler would have them; and
//! replays them through one SM of the GPU with its schedulers, units, caches and its share of memory bandwidth. What one SM takes
//! for its blocks is what the GPU takes for the grid.
//!
//! Every figure of a GPU is in a data file, with its source; see [`Gpu`]. The modules are the parts of the machine:
//!
//! - `code`: the kernel as the assembler would write it;
//! - `trace`: what warps of a few blocks do, by an observer of warpsim's;
//! - `sm`: the replay, and the account of where its time goes;
//! - `grid`: which blocks, and from a few waves to all.

mod code;
mod gpu;
mod grid;
mod prediction;
mod remark;
mod sm;
mod trace;
mod work;

#[cfg(test)]
mod testing;

pub use gpu::{Check, Figure, Gpu, GpuError, GpuFile};
pub use prediction::{Flaw, Obstacle, Part, Prediction, Remark, Shares};
pub use sm::Cause;
pub use work::{Argument, Resources, Work};

use code::{Class, Code};
use grid::Grid;
use sm::{NOBODY, QUARTERS, Replay, Replayed};
use trace::Trace;

/// Instructions to replay at most, unless asked otherwise: about a fifth of a second.
pub const BUDGET: u64 = 2_000_000;

/// Predicts the time of one launch on inputs that no cache holds. `budget` is the most instructions to replay; with fewer, more
/// is extrapolated.
///
/// # Errors
/// [`Obstacle`] if the GPU could not run it, or if a few of its blocks do not tell what all would do.
pub fn predict(work: &Work<'_>, gpu: &Gpu, budget: u64) -> Result<Prediction, Obstacle> {
    let grid = Grid::new(work, gpu)?;
    let program = trace::program(work.module, work.kernel)?;
    let offset =
        |name: &str| program.shared_variables().find(|(known, ..)| *known == name).map(|(_, at, _)| at);
    let code = Code::new(work.module, work.kernel, work.resources.registers_per_thread, &offset, gpu);
    let trace = trace::sample(work, &program, &code, &grid.sample(work, gpu))?;
    let footprint = grid.footprint(&trace);
    let replay = Replay {
        gpu,
        code: &code,
        trace: &trace,
        footprint: &footprint,
        l1_bytes: grid.l1_bytes,
        resident: grid.resident,
        most_issued: budget,
    };
    let instructions_per_block = ops_per_block(&code, &trace);
    let (cycles, replayed) = grid.time(&replay, instructions_per_block);
    let parts = parts(&replayed, &trace);
    Ok(Prediction {
        milliseconds: cycles / (gpu.clock_mhz * 1e3) + gpu.launch_microseconds / 1e3,
        remarks: remark::find(work, gpu, &grid, &code, &trace, &parts),
        parts,
        resident_blocks: grid.resident,
        resident_warps: grid.resident * work.warps_per_block() as usize,
        instructions_per_block,
        blocks_per_sm: grid.blocks as f64 / gpu.sms,
    })
}

/// Instructions that the warps of a block issue, on average over those sampled.
fn ops_per_block(code: &Code, trace: &Trace) -> u64 {
    let of_region: Vec<u64> = code
        .regions
        .iter()
        .map(|region| region.ops.iter().filter(|op| op.class != Class::Free).count() as u64)
        .collect();
    let runs = trace.blocks.iter().flatten().flat_map(|warp| &warp.runs);
    runs.map(|run| of_region[*run as usize]).sum::<u64>() / trace.blocks.len().max(1) as u64
}

/// The account by line of the source, as shares.
fn parts(replayed: &Replayed, trace: &Trace) -> Vec<Part> {
    let whole = (replayed.end * QUARTERS as f64).max(1.0);
    let mut parts: Vec<Part> = Vec::new();
    for (at, cause, cycles) in replayed.account.entries() {
        let line = if at == NOBODY { None } else { trace.source_lines.get(at as usize).copied() };
        let line = line.filter(|line| *line > 0);
        match parts.iter_mut().find(|part| part.line == line && part.cause == cause) {
            Some(part) => part.share += cycles / whole,
            None => parts.push(Part { line, cause, share: cycles / whole }),
        }
    }
    parts.sort_by(|a, b| b.share.total_cmp(&a.share));
    parts
}
