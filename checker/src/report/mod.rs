//! Telling people and programs what came out. Nothing else in the checker prints.

mod json;
pub(crate) mod terminal;

use serde::Serialize;
use warpsim::Counters;

use crate::compile::{Rejection, Resources};
use crate::engine::Contents;
use crate::finding::Finding;
use crate::judge::timing::Timing;
use crate::progress::State;
use crate::registry::Entry;
use crate::submission::Submission;
use crate::trial::Trial;

/// A judged submission.
pub(crate) struct Judged<'a> {
    pub(crate) entry: &'a Entry,
    pub(crate) submission: &'a Submission,
    pub(crate) trial: &'a Trial,
    pub(crate) seed: u64,
    /// Whether the stub was put there just now.
    pub(crate) is_fresh: bool,
    /// What it was judged on, for people.
    pub(crate) machine: &'a str,
    /// The same for programs: `sim`, `sim+gpu` or `gpu`.
    pub(crate) engine: &'static str,
    /// The exercise to do after this one.
    pub(crate) next: Option<&'a Entry>,
}

/// What `checker run` found.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) verdict: RunVerdict,
    /// Why nothing ran, if nothing did.
    pub(crate) rejection: Option<Rejection>,
    pub(crate) findings: Vec<Finding>,
    /// For each argument that is a buffer, what it holds.
    pub(crate) buffers: Vec<Option<Contents>>,
    /// `None` if they were not asked for, or nothing ran.
    pub(crate) counters: Option<Counters>,
    pub(crate) resources: Resources,
    pub(crate) printed: String,
    /// For the launch alone.
    pub(crate) seconds: f64,
}

/// The verdict of `checker run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunVerdict {
    Clean,
    Faults,
    CompileError,
    LaunchError,
    Timeout,
    Unsupported,
}

impl Run {
    /// A kernel that never ran.
    pub(crate) fn rejected(rejection: Rejection) -> Run {
        Run {
            verdict: match rejection {
                Rejection::Diagnostics(_) | Rejection::Refused { .. } => RunVerdict::CompileError,
                Rejection::Launch(_) => RunVerdict::LaunchError,
                Rejection::Unsupported { .. } => RunVerdict::Unsupported,
            },
            rejection: Some(rejection),
            findings: Vec::new(),
            buffers: Vec::new(),
            counters: None,
            resources: Resources::default(),
            printed: String::new(),
            seconds: 0.0,
        }
    }
}

/// One thing that `verify` looked at.
pub(crate) struct Verified {
    /// The exercise's folder.
    pub(crate) folder: &'static str,
    /// `stub.cu`, `solution`, `mistakes/no_guard.cu`.
    pub(crate) what: String,
    /// What it had to be.
    pub(crate) expected: String,
    /// What it was.
    pub(crate) got: String,
    pub(crate) is_good: bool,
    /// Times on a GPU, if it got that far.
    pub(crate) timing: Option<Timing>,
    /// For all of it.
    pub(crate) seconds: f64,
}

/// One thing that `doctor` looked at.
#[derive(Serialize)]
pub(crate) struct Examined {
    pub(crate) what: &'static str,
    pub(crate) state: Health,
    /// What was found.
    pub(crate) found: String,
    /// What would help.
    pub(crate) help: Option<String>,
}

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Health {
    Works,
    /// Not there, and not needed.
    Absent,
    Broken,
}

/// Tells the verdict on an exercise.
pub(crate) fn judged(judged: &Judged<'_>, as_json: bool) {
    if as_json { json::judged(judged) } else { terminal::judged(judged) }
}

/// Tells what a run found.
pub(crate) fn run(submission: &Submission, run: &Run, as_json: bool) {
    if as_json { json::run(submission, run) } else { terminal::run(submission, run) }
}

/// Tells what is done and what is next.
pub(crate) fn status(states: &[(&Entry, State)], next: Option<&Entry>, as_json: bool) {
    if as_json { json::status(states, next) } else { terminal::status(states, next) }
}

/// Lists the exercises.
pub(crate) fn list(states: &[(&Entry, State)], as_json: bool) {
    if as_json { json::list(states) } else { terminal::list(states) }
}

/// Tells what `verify` found.
pub(crate) fn verified(rows: &[Verified], seconds: f64, as_json: bool) {
    if as_json { json::verified(rows, seconds) } else { terminal::verified(rows, seconds) }
}

/// Tells what `doctor` found.
pub(crate) fn examined(rows: &[Examined], as_json: bool) {
    if as_json { json::examined(rows) } else { terminal::examined(rows) }
}
