//! Running a kernel once to see what it does, not to judge it.

use cuda::nvrtc::{Arch, Toolchain};
use exercise::Exercise;
use warpsim::{Checks, Counters, WorstAccess};

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
}

/// Runs `source` on the simulator at the size at which requirements are counted.
///
/// # Errors
/// The outer one if the machine is to blame, the inner one if the kernel does not get to its end.
pub(crate) fn survey(
    toolchain: &Toolchain,
    exercise: &Exercise,
    source: &str,
    name: &str,
    seed: u64,
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
    let observation = match sim::run(&program, &task) {
        Ok(observation) => observation,
        Err(error) => return Ok(Err(Rejection::Launch(error.to_string()))),
    };
    let first_fault = observation.findings.iter().find(|finding| finding.is_error);
    Ok(match (observation.outcome, first_fault) {
        (Outcome::Completed, None) => Ok(Survey { counters: observation.counters, worst: observation.worst }),
        (_, fault) => {
            let message = fault.map_or("the kernel does not finish", |fault| fault.message.as_str());
            Err(Rejection::Launch(message.to_owned()))
        }
    })
}
