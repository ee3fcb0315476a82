//! Running a candidate at every size, on the simulator or on a GPU.

use std::time::Duration;

use cuda::nvrtc::{Arch, Toolchain};
use exercise::{Exercise, Size};
use warpsim::{Checks, Counters};

use super::candidate::{Candidate, case_seed, prepare, task};
use crate::compile::Rejection;
use crate::engine::gpu::{Code, Gpu};
use crate::engine::{Observation, Outcome, Task, sim};
use crate::judge::{self, CaseJudgement, CaseVerdict, Measured};
use crate::kernel;

/// The outcome of running all cases.
pub(super) struct Tried {
    pub(super) cases: Vec<CaseJudgement>,
    /// The counted case, if the kernel was right everywhere.
    pub(super) measured: Option<Measured>,
}

/// Runs all cases on the simulator, and the counted one with them if anything is required of the counters.
pub(super) fn simulate(
    exercise: &Exercise,
    candidate: &Candidate,
    seed: u64,
) -> anyhow::Result<Result<Tried, Rejection>> {
    let program = match kernel::lower(&candidate.unit.module, &candidate.symbol) {
        Ok(program) => program,
        Err(rejection) => return Ok(Err(rejection)),
    };
    let counted = (!exercise.requirements.is_empty()).then_some(exercise.counted.size);
    run_all(exercise, candidate, seed, counted, |task| {
        Ok(sim::run(&program, task).map_err(|error| Rejection::Launch(error.to_string())))
    })
}

/// Cases take microseconds on a GPU.
const GPU_LIMIT: Duration = Duration::from_secs(3);

/// Runs all cases on a GPU.
pub(super) fn run_on(
    gpu: &Gpu,
    exercise: &Exercise,
    candidate: &Candidate,
    seed: u64,
) -> anyhow::Result<Result<Tried, Rejection>> {
    let code = Code { image: &candidate.unit.image, symbol: &candidate.symbol };
    run_all(exercise, candidate, seed, None, |task| gpu.run(code, task, &candidate.variables, GPU_LIMIT))
}

/// After a timeout the rest is left out: nobody should wait for each.
fn run_all(
    exercise: &Exercise,
    candidate: &Candidate,
    seed: u64,
    counted: Option<Size>,
    run: impl Fn(&Task) -> anyhow::Result<Result<Observation, Rejection>>,
) -> anyhow::Result<Result<Tried, Rejection>> {
    let mut tried = Tried { cases: Vec::new(), measured: None };
    let mut give_up = false;
    let sizes = exercise.cases.iter().map(|case| (case.size, false));
    for (index, (size, is_counted)) in sizes.chain(counted.map(|size| (size, true))).enumerate() {
        if give_up {
            tried.cases.push(CaseJudgement::not_run(size));
            continue;
        }
        let instance = exercise.problem.instance(size, case_seed(seed, index));
        let task = match task(exercise, candidate, size, &instance) {
            Ok(task) => task,
            Err(rejection) => return Ok(Err(rejection)),
        };
        let observation = match run(&task)? {
            Ok(observation) => observation,
            Err(rejection) => return Ok(Err(rejection)),
        };
        let hangs = |observation: &Observation| observation.outcome == Outcome::Timeout;
        give_up =
            hangs(&observation) || observation.again.as_ref().is_some_and(|again| hangs(&again.observation));
        let measured = measure(exercise, candidate, &task, size, observation.counters);
        tried.cases.push(judge::judge_case(size, &instance, observation));
        if is_counted && tried.cases.iter().all(|case| case.verdict == CaseVerdict::Right) {
            tried.measured = Some(measured);
        }
    }
    Ok(Ok(tried))
}

/// Counts what the reference solution does on the counted case; `None` if nothing is required there.
pub(super) fn measure_reference(
    toolchain: &Toolchain,
    exercise: &Exercise,
    seed: u64,
) -> anyhow::Result<Option<Measured>> {
    if exercise.requirements.is_empty() {
        return Ok(None);
    }
    let candidate = prepare(toolchain, exercise, exercise.solution, "solution.cu", Arch::SM_80)?;
    Ok(candidate.and_then(|candidate| count(exercise, &candidate, seed)).ok())
}

/// Runs the counted case without checks.
fn count(exercise: &Exercise, candidate: &Candidate, seed: u64) -> Result<Measured, Rejection> {
    let size = exercise.counted.size;
    let instance = exercise.problem.instance(size, case_seed(seed, exercise.cases.len()));
    let mut task = task(exercise, candidate, size, &instance)?;
    task.checks = Checks { counters: true, ..Checks::NONE };
    let program = kernel::lower(&candidate.unit.module, &candidate.symbol)?;
    let observation = sim::run(&program, &task).map_err(|error| Rejection::Launch(error.to_string()))?;
    Ok(measure(exercise, candidate, &task, size, observation.counters))
}

fn measure(
    exercise: &Exercise,
    candidate: &Candidate,
    task: &Task,
    size: Size,
    counters: Counters,
) -> Measured {
    Measured {
        counters,
        blocks: task.blocks(),
        threads: candidate.spec.threads(),
        dynamic_shared_bytes: candidate.spec.shared_bytes,
        resources: candidate.resources,
        elements: exercise.problem.extent(size).iter().map(|extent| *extent as u64).product(),
        flops: exercise.problem.flops(size),
    }
}
