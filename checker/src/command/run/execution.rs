//! The launch itself, on either engine.

use std::time::Duration;

use anyhow::{Context, Result};
use clap::ArgMatches;
use exercise::{BlockResources, GpuModel};
use warpsim::Checks;

use super::program::Chosen;
use crate::argument::Dims;
use crate::compile::{Rejection, Resources};
use crate::engine::gpu::{self, Gpu};
use crate::engine::{self, Observation, Task, sim};
use crate::exit::Exit;
use crate::kernel;
use crate::report::{Run, RunVerdict};

/// Longest run before it is stopped.
const WALL_LIMIT: Duration = Duration::from_secs(30);

/// Runs the kernel as the command line says.
///
/// # Errors
/// If the machine is to blame.
pub(super) fn launch(
    matches: &ArgMatches,
    chosen: &Chosen,
    gpu: Option<&Gpu>,
    args: Vec<engine::Arg>,
) -> Result<Run> {
    let dims = |name: &str| {
        let dims = matches.get_one::<Dims>(name).context("clap requires it")?;
        Ok::<_, anyhow::Error>(dims.to_launch(name))
    };
    let resources = chosen.unit.resources_of(&chosen.symbol);
    let rejected = |rejection| Run { resources, ..Run::rejected(rejection) };
    let (grid, block) = match (dims("grid")?, dims("block")?) {
        (Ok(grid), Ok(block)) => (grid, block),
        (Err(message), _) | (_, Err(message)) => return Ok(rejected(Rejection::Launch(message))),
    };
    let counters = gpu.is_none() && !matches.get_flag("no-counters");
    let checks = if matches.get_flag("no-checks") { Checks::NONE } else { Checks::ALL };
    let task = Task {
        grid,
        block,
        shared_bytes: matches.get_one("shared").copied().unwrap_or(0),
        args,
        checks: Checks { counters, ..checks },
        fuel: matches.get_one("fuel").copied().unwrap_or(1 << 32),
        wall_limit: WALL_LIMIT,
        relaunch: false,
    };
    let observed = match gpu {
        Some(gpu) => {
            let code = gpu::Code { image: &chosen.unit.image, symbol: &chosen.symbol };
            gpu.run(code, &task, &[], gpu::LIMIT)?
        }
        None => simulate(chosen, &task),
    };
    let occupancy = matches.get_one::<GpuModel>("occupancy").map(|&gpu| {
        let block = BlockResources {
            threads: block.iter().product(),
            registers_per_thread: resources.registers_per_thread,
            shared_bytes: resources.static_shared_bytes.saturating_add(task.shared_bytes),
        };
        (gpu, gpu.sm.occupancy(block))
    });
    Ok(match observed {
        Ok(observation) => {
            let gpu = gpu.map(|gpu| gpu.info.name.clone());
            Run { gpu, occupancy, ..finished(observation, resources, counters) }
        }
        Err(rejection) => rejected(rejection),
    })
}

fn simulate(chosen: &Chosen, task: &Task) -> Result<Observation, Rejection> {
    let program = kernel::lower(&chosen.unit.module, &chosen.symbol)?;
    let threads = task.block.iter().fold(1_u32, |product, dim| product.saturating_mul(*dim));
    kernel::check_registers(chosen.unit.resources_of(&chosen.symbol), threads).map_err(Rejection::Launch)?;
    sim::run(&program, task).map_err(|error| Rejection::Launch(error.to_string()))
}

fn finished(observation: Observation, resources: Resources, has_counters: bool) -> Run {
    let verdict = match observation.outcome {
        engine::Outcome::Timeout => RunVerdict::Timeout,
        engine::Outcome::Aborted => RunVerdict::Faults,
        engine::Outcome::Completed if observation.findings.iter().any(|finding| finding.is_error) => {
            RunVerdict::Faults
        }
        engine::Outcome::Completed => RunVerdict::Clean,
    };
    Run {
        verdict,
        rejection: None,
        findings: observation.findings,
        buffers: observation.buffers,
        counters: has_counters.then_some(observation.counters),
        resources,
        occupancy: None,
        printed: observation.printed,
        seconds: observation.seconds,
        gpu: None,
        notes: Vec::new(),
    }
}

pub(super) fn exit(verdict: RunVerdict) -> Exit {
    match verdict {
        RunVerdict::Clean => Exit::Passed,
        RunVerdict::Unsupported => Exit::NotJudged,
        RunVerdict::Faults | RunVerdict::CompileError | RunVerdict::LaunchError | RunVerdict::Timeout => {
            Exit::KernelAtFault
        }
    }
}
