//! Running a kernel once to see what it does, not to judge it.

use cuda::nvrtc::{Arch, Toolchain};
use exercise::problem::{Arg, Role};
use exercise::{Exercise, Instance};
use warpsim::{Checks, Counters, Footprint, TouchedWord, WorstAccess};

use super::candidate::{case_seed, prepare, task};
use crate::compile::Rejection;
use crate::engine::{Outcome, sim};
use crate::kernel;

/// What one run at the exercise's counted size did.
#[derive(Clone, Debug)]
pub(crate) struct Survey {
    pub(crate) counters: Counters,
    /// The costliest request of each instruction.
    pub(crate) worst: Vec<WorstAccess>,
    /// Blocks in x, y and z.
    pub(crate) grid: [u32; 3],
    /// Threads per block in x, y and z.
    pub(crate) block: [u32; 3],
    /// What the block in question did to each argument that is a buffer.
    pub(crate) territory: Vec<Territory>,
}

/// What one block did to one buffer.
#[derive(Clone, Debug)]
pub(crate) struct Territory {
    pub(crate) name: &'static str,
    pub(crate) role: Role,
    /// Rows and columns.
    pub(crate) shape: [usize; 2],
    /// The elements that it touched, in order of address.
    pub(crate) words: Vec<TouchedWord>,
}

/// Runs `source` on the simulator at the size at which requirements are counted, with an eye on the block whose `blockIdx` is
/// `block`, if one is named.
///
/// # Errors
/// The outer one if the machine is to blame, the inner one if the kernel does not get to its end.
pub(crate) fn survey(
    toolchain: &Toolchain,
    exercise: &Exercise,
    source: &str,
    name: &str,
    seed: u64,
    block: Option<[u32; 3]>,
) -> anyhow::Result<Result<Survey, Rejection>> {
    let candidate = match prepare(toolchain, exercise, source, name, Arch::SM_80)? {
        Ok(candidate) => candidate,
        Err(rejection) => return Ok(Err(rejection)),
    };
    let size = exercise.counted.size;
    let instance = exercise.problem.instance(size, case_seed(seed, exercise.cases.len()));
    let mut task = match task(exercise, &candidate, size, &instance) {
        Ok(task) => task,
        Err(rejection) => return Ok(Err(rejection)),
    };
    task.checks = Checks { counters: true, ..Checks::NONE };
    let program = match kernel::lower(&candidate.unit.module, &candidate.symbol) {
        Ok(program) => program,
        Err(rejection) => return Ok(Err(rejection)),
    };
    let (observation, footprint) = match sim::run_with_footprint(&program, &task, block) {
        Ok(ran) => ran,
        Err(error) => return Ok(Err(Rejection::Launch(error.to_string()))),
    };
    let first_fault = observation.findings.iter().find(|finding| finding.is_error);
    Ok(match (observation.outcome, first_fault) {
        (Outcome::Completed, None) => Ok(Survey {
            counters: observation.counters,
            worst: observation.worst,
            grid: task.grid,
            block: task.block,
            territory: territory(&instance, footprint),
        }),
        (_, fault) => {
            let message = fault.map_or("the kernel did not finish", |fault| fault.message.as_str());
            Err(Rejection::Launch(message.to_owned()))
        }
    })
}

/// The footprint by argument. Memory of the module's own is left out.
fn territory(instance: &Instance, footprint: Vec<Footprint>) -> Vec<Territory> {
    let mut footprint: Vec<Option<Footprint>> = footprint.into_iter().map(Some).collect();
    let mut take = |name: &str| {
        let found =
            footprint.iter_mut().find(|print| print.as_ref().is_some_and(|print| print.object == name));
        found.and_then(Option::take).map_or_else(Vec::new, |print| print.words)
    };
    let buffers = instance.args.iter().filter_map(|arg| match arg {
        Arg::Buffer(buffer) => Some(buffer),
        Arg::Scalar(_) => None,
    });
    buffers
        .map(|buffer| Territory {
            name: buffer.name,
            role: buffer.role,
            shape: buffer.shape,
            words: take(buffer.name),
        })
        .collect()
}
