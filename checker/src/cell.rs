//! One cell of a planned grading, judged in a process of its own and told as [`class::Outcome`].

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};
use cuda::nvrtc::Toolchain;
use serde_json::Value;

use crate::grade::{self, Bench, Record, Terms};
use crate::machine::Machine;
use crate::registry::Entry;
use crate::submission::Submission;

/// The course as the crate `class` takes it.
pub(crate) fn course() -> class::Course {
    let exercise = |entry: &Entry| class::Exercise {
        number: entry.exercise.number,
        slug: entry.exercise.slug.to_owned(),
        title: entry.exercise.title.to_owned(),
        stub: entry.exercise.stub.to_owned(),
    };
    class::Course { exercises: crate::registry::all().iter().map(exercise).collect() }
}

/// What judges here: this very program, and the compiler that it found, on the engine and within the limits
/// (seconds, and MiB; 0: as much as there is) of a plan.
///
/// # Errors
/// If one of their files cannot be read.
pub(crate) fn judge_here(
    toolchain: &Toolchain,
    engine: &str,
    limit: u64,
    memory: u64,
) -> Result<class::Judge> {
    // Whichever GPU judges stands with each result; the plan may be made where there is none.
    let Terms { checker, compiler, .. } = Terms::new(
        toolchain,
        &Machine::choose("sim", None)?,
        Duration::from_secs(limit),
        Some(memory << 20),
    )?;
    Ok(class::Judge { checker, compiler, engine: engine.to_owned(), limit, memory })
}

/// Who judges, for the record.
pub(crate) struct Station {
    /// This machine.
    pub(crate) host: String,
    /// The GPU that kernels are timed on, if they are.
    pub(crate) gpu: Option<String>,
    /// How often the task had been started before.
    pub(crate) attempt: u32,
}

/// A result, and the judgement that it was read from, without what students must not see.
pub(crate) struct Judged {
    pub(crate) outcome: class::Outcome,
    pub(crate) judgement: Option<Value>,
}

/// Judges a cell's text, which is read from the class's folder and must be the one that was imported. `None`
/// if the process is to end.
///
/// # Errors
/// If this machine is to blame.
pub(crate) fn judge(
    folder: &Path,
    bench: &Bench,
    station: &Station,
    cell: &class::Cell,
) -> Result<Option<Judged>> {
    let entry = crate::registry::all().iter().find(|entry| entry.folder == cell.exercise);
    let Some(entry) = entry else { bail!("there is no exercise {}", cell.exercise) };
    let bytes = class::Class::text(folder, &cell.sha256)?;
    let record = match Submission::from_bytes(Path::new("kernel.cu"), bytes) {
        Err(error) => Record::unjudged("unreadable", Some(error.to_string())),
        Ok(submission) => match grade::judge(bench, entry, &submission.text)? {
            Some(record) => record,
            None => return Ok(None),
        },
    };
    Ok(Some(Judged::new(record, cell, station)))
}

impl Judged {
    fn new(mut record: Record, cell: &class::Cell, station: &Station) -> Judged {
        let judgement = record.judgement.take().map(without_secrets);
        let is_timed = judgement.as_ref().is_some_and(|judgement| judgement["timing"].is_object());
        let criteria = record.criteria.into_iter();
        let outcome = class::Outcome {
            key: cell.key.clone(),
            exercise: cell.exercise.clone(),
            verdict: record.verdict,
            criteria: criteria.map(|c| class::Criterion { key: c.key, met: c.met, yours: c.yours }).collect(),
            message: record.message,
            gpu: station.gpu.clone().filter(|_| is_timed),
            attempt: station.attempt,
            host: station.host.clone(),
            seconds: record.seconds,
        };
        Judged { outcome, judgement }
    }
}

/// A judgement without the seed, and without where the file lay.
fn without_secrets(mut judgement: Value) -> Value {
    if let Some(object) = judgement.as_object_mut() {
        for name in ["seed", "file", "next"] {
            object.remove(name);
        }
    }
    judgement
}

/// The picture of `checker look` of a kernel, drawn in a process of its own; `None` if there is none to draw.
///
/// # Errors
/// If no process can be started.
pub(crate) fn picture(kernel: &Path, exercise: &str) -> Result<Option<String>> {
    grade::draw(kernel, exercise)
}
