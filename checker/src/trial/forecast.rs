//! Predicting what a candidate would take on a GPU that is not here, beside the baseline and the reference.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use clock::{Argument, BUDGET, Gpu, Obstacle, Prediction, Resources, Work};
use cuda::nvrtc::{Arch, Toolchain};
use exercise::{Arg, Exercise, Scalar, Size, Speed};

use super::candidate::{Candidate, prepare};
use crate::compile::Rejection;
use crate::judge::forecast::{Forecast, foretell};
use crate::judge::timing::Round;
use crate::message;

/// What is predicted of a submission.
#[derive(Clone, Debug)]
pub(crate) struct Foretold {
    /// The GPU's name for people.
    pub(crate) gpu: String,
    /// What predictions for it were compared with, if they were.
    pub(crate) check: Option<clock::Check>,
    pub(crate) forecast: Forecast,
    /// Where the kernel's time goes.
    pub(crate) prediction: Prediction,
    /// Where the reference's goes.
    pub(crate) reference: Prediction,
}

/// Baseline and reference of an exercise on a GPU.
#[derive(Clone, Debug)]
struct Rivals {
    baseline: f64,
    reference: Prediction,
}

/// Why there is no prediction.
type Excuse = String;

/// What was predicted of an exercise's own kernels in this process: exercise, size and GPU.
type Known = HashMap<(u8, Size, String), Arc<Result<Rivals, Excuse>>>;
static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);

/// Predicts the time of a source at the size at which its exercise is timed.
///
/// # Errors
/// The outer one if the machine is to blame; the inner one says why nothing is predicted. `None` if speed is not judged.
pub(super) fn predict(
    toolchain: &Toolchain,
    exercise: &Exercise,
    source: &str,
    name: &str,
    gpu: &Gpu,
) -> anyhow::Result<Result<Option<Foretold>, Excuse>> {
    let Some(speed) = exercise.speed else { return Ok(Ok(None)) };
    if !is_judged_on(gpu, &speed) {
        return Ok(Err(message::forecast::too_old(&gpu.name, speed.min_capability)));
    }
    let (own, rivals) = rayon::join(
        || of_source(toolchain, exercise, source, name, speed.size, gpu),
        || rivals(toolchain, exercise, &speed, gpu),
    );
    let (own, rivals) = (own?, rivals?);
    let (prediction, rivals) = match (own, rivals.as_ref()) {
        (Ok(own), Ok(rivals)) => (own, rivals.clone()),
        (Err(excuse), _) => return Ok(Err(excuse)),
        (_, Err(excuse)) => return Ok(Err(excuse.clone())),
    };
    let times = Round {
        baseline: rivals.baseline,
        reference: rivals.reference.milliseconds,
        student: prediction.milliseconds,
    };
    let Some(forecast) = foretell(speed.goal, times, gpu.checked.is_some()) else {
        return Ok(Err(message::forecast::no_lead(&gpu.name, times.baseline / times.reference)));
    };
    let (gpu, check) = (gpu.name.clone(), gpu.checked.clone());
    Ok(Ok(Some(Foretold { gpu, check, forecast, prediction, reference: rivals.reference })))
}

/// Predicts one source by itself.
///
/// # Errors
/// The outer one if the machine is to blame; the inner one says why nothing is predicted.
pub(crate) fn of_source(
    toolchain: &Toolchain,
    exercise: &Exercise,
    source: &str,
    name: &str,
    size: Size,
    gpu: &Gpu,
) -> anyhow::Result<Result<Prediction, Excuse>> {
    let (major, minor) = gpu.sm.capability;
    let candidate = match prepare(toolchain, exercise, source, name, Arch::new(major, minor))? {
        Ok(candidate) => candidate,
        Err(rejection) => return Ok(Err(message::rejection(&rejection))),
    };
    let predicted = work(exercise, &candidate, size).map_err(|rejection| message::rejection(&rejection));
    Ok(predicted.and_then(|work| clock::predict(&work, gpu, BUDGET).map_err(|obstacle| excuse(&obstacle))))
}

fn excuse(obstacle: &Obstacle) -> Excuse {
    obstacle.to_string()
}

fn work<'a>(exercise: &Exercise, candidate: &'a Candidate, size: Size) -> Result<Work<'a>, Rejection> {
    let extent = exercise.problem.extent(size);
    let grid = candidate.spec.grid(extent).map_err(|error| Rejection::Launch(error.to_string()))?;
    let argument = |arg: &Arg| match arg {
        Arg::Buffer(buffer) => {
            Argument::Buffer { name: buffer.name.to_owned(), bytes: 4 * buffer.len as u64 }
        }
        Arg::Scalar(Scalar::Int(value)) => Argument::Value(value.to_le_bytes().to_vec()),
        Arg::Scalar(Scalar::Float(value)) => Argument::Value(value.to_le_bytes().to_vec()),
    };
    let resources = candidate.resources;
    Ok(Work {
        module: &candidate.unit.module,
        kernel: &candidate.symbol,
        resources: Resources {
            registers_per_thread: resources.registers_per_thread,
            static_shared_bytes: resources.static_shared_bytes,
            spill_bytes: resources.spill_bytes,
        },
        grid,
        block: candidate.spec.block,
        dynamic_shared_bytes: candidate.spec.shared_bytes,
        arguments: exercise.problem.layout(size).iter().map(argument).collect(),
    })
}

fn rivals(
    toolchain: &Toolchain,
    exercise: &Exercise,
    speed: &Speed,
    gpu: &Gpu,
) -> anyhow::Result<Arc<Result<Rivals, Excuse>>> {
    let key = (exercise.number, speed.size, gpu.key.clone());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(rivals) = known().get(&key) {
        return Ok(Arc::clone(rivals));
    }
    let baseline = Exercise { kernel: speed.baseline.kernel, ..*exercise };
    let (baseline, reference) = rayon::join(
        || of_source(toolchain, &baseline, speed.baseline.source, "baseline.cu", speed.size, gpu),
        || of_source(toolchain, exercise, exercise.solution, "solution.cu", speed.size, gpu),
    );
    let rivals = match (baseline?, reference?) {
        (Ok(baseline), Ok(reference)) => Ok(Rivals { baseline: baseline.milliseconds, reference }),
        (Err(excuse), _) => Err(format!("the baseline: {excuse}")),
        (_, Err(excuse)) => Err(format!("the reference: {excuse}")),
    };
    let rivals = Arc::new(rivals);
    known().insert(key, Arc::clone(&rivals));
    Ok(rivals)
}

/// Whether the GPU has what the exercise is about.
fn is_judged_on(gpu: &Gpu, speed: &Speed) -> bool {
    let (major, minor) = gpu.sm.capability;
    major * 10 + minor >= speed.min_capability
}
