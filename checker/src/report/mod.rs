//! Telling people and programs what came out. Nothing else in the checker prints.

mod csv;
mod json;
mod map;
mod picture;
mod svg;
pub(crate) mod terminal;

pub(crate) use map::CloseUp;

use exercise::{GpuModel, Occupancy};
use serde::Serialize;
use warpsim::{Counters, Space, WorstAccess};

use crate::ceiling::Probed;
use crate::compile::{Rejection, Resources};
use crate::engine::Contents;
use crate::finding::Finding;
use crate::gpu_table::Gpu;
use crate::grade::{Class, Record};
use crate::judge::timing::Timing;
use crate::progress::State;
use crate::registry::Entry;
use crate::source::Aside;
use crate::submission::Submission;
use crate::trial::{Foretold, Rates, Survey, Trial};

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
    /// How many blocks fit an SM of the GPU that was asked about.
    pub(crate) occupancy: Option<(GpuModel, Occupancy)>,
    pub(crate) printed: String,
    /// For the launch alone.
    pub(crate) seconds: f64,
    /// The GPU that it ran on; `None` for the simulator.
    pub(crate) gpu: Option<String>,
    pub(crate) notes: Vec<Note>,
}

/// What is worth knowing beside a run's verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// Host code that was set aside.
    HostCode(Vec<Aside>),
    /// Headers that are not here and were passed over.
    LeftOut(Vec<String>),
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
            occupancy: None,
            printed: String::new(),
            seconds: 0.0,
            gpu: None,
            notes: Vec::new(),
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
    /// The verdict's name for programs.
    pub(crate) verdict: &'static str,
    /// Whether another verdict next time would be no surprise.
    pub(crate) may_vary: bool,
    /// How many of how many repeats came to that verdict.
    pub(crate) same: (usize, usize),
    /// Times on a GPU, if it got that far; of repeats, those of the first.
    pub(crate) timing: Option<Timing>,
    /// What is predicted where nothing was timed.
    pub(crate) foretold: Option<Foretold>,
    /// What the timed kernel moves and computes.
    pub(crate) rates: Option<Rates>,
    /// The size that is timed, in words.
    pub(crate) size: Option<String>,
    /// The position between baseline (0) and reference (1) in each repeat that was timed.
    pub(crate) positions: Vec<f64>,
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

/// What a kernel does, and the reference.
pub(crate) struct Looked<'a> {
    pub(crate) entry: &'a Entry,
    /// The block whose work is looked at.
    pub(crate) block: [u32; 3],
    pub(crate) yours: &'a Survey,
    /// `None` if the reference does not run here.
    pub(crate) reference: Option<&'a Survey>,
}

impl Looked<'_> {
    /// For shared and for global memory, your costliest request and the reference's.
    fn pairs(&self) -> [(Space, Option<&WorstAccess>, Option<&WorstAccess>); 2] {
        let yours = &self.yours.worst;
        let reference = self.reference.map_or(&[][..], |reference| &reference.worst);
        [
            (Space::Shared, picture::worst_shared(yours), picture::worst_shared(reference)),
            (Space::Global, picture::worst_global(yours), picture::worst_global(reference)),
        ]
    }
}

/// Where a kernel's predicted time goes, and the reference's.
pub(crate) struct Explained<'a> {
    pub(crate) entry: &'a Entry,
    pub(crate) submission: &'a Submission,
    pub(crate) gpu: &'a clock::Gpu,
    /// The size that is timed, in words.
    pub(crate) size: String,
    pub(crate) yours: &'a clock::Prediction,
    /// `None` if it cannot be predicted for this GPU.
    pub(crate) reference: Option<clock::Prediction>,
}

/// Kernels under the roof of a GPU.
pub(crate) struct Placed<'a> {
    pub(crate) gpu: &'a Gpu,
    pub(crate) kernels: &'a [PlacedKernel],
}

/// A kernel with what its place follows from.
pub(crate) struct PlacedKernel {
    pub(crate) name: String,
    /// A few letters to write at its dot.
    pub(crate) short: String,
    pub(crate) is_reference: bool,
    /// Bytes that must cross the memory bus: each input once, each output once.
    pub(crate) least_bytes: u64,
    /// `None` if it does not run to its end.
    pub(crate) counters: Option<Counters>,
}

impl PlacedKernel {
    /// Bytes of all sectors that its requests move, as if no cache kept any.
    fn moved_bytes(&self) -> u64 {
        self.counters.map_or(0, |c| 32 * (c.global_load_sectors + c.global_store_sectors))
    }

    /// FLOP per byte moved.
    fn intensity(&self) -> f64 {
        self.per_byte(self.moved_bytes())
    }

    /// FLOP per byte if every byte were moved once only.
    fn best_intensity(&self) -> f64 {
        self.per_byte(self.least_bytes)
    }

    fn per_byte(&self, bytes: u64) -> f64 {
        let flops = self.counters.map_or(0, |c| c.fp32_flops);
        if bytes == 0 { 0.0 } else { flops as f64 / bytes as f64 }
    }
}

/// A graded class.
pub(crate) struct Graded<'a> {
    pub(crate) class: &'a Class,
    /// In the order of the hand-ins.
    pub(crate) records: &'a [Record],
}

impl Graded<'_> {
    /// The folders of all exercises that anybody handed in, in order.
    pub(crate) fn exercises(&self) -> Vec<&str> {
        let mut folders: Vec<&str> = self.records.iter().map(|record| record.exercise.as_str()).collect();
        folders.sort_unstable();
        folders.dedup();
        folders
    }

    /// What a student got for an exercise, if anything was handed in.
    pub(crate) fn record(&self, student: &str, exercise: &str) -> Option<&Record> {
        self.records.iter().find(|record| record.student == student && record.exercise == exercise)
    }
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

/// Tells, on standard error, what one repeat came to, so that a run that is cut short was not for nothing.
pub(crate) fn repeated(repeat: usize, row: &Verified) {
    terminal::repeated(repeat, row);
}

/// Tells what `verify` found.
pub(crate) fn verified(machine: &str, rows: &[Verified], seconds: f64, as_json: bool) {
    if as_json { json::verified(machine, rows, seconds) } else { terminal::verified(rows, seconds) }
}

/// Tells what `doctor` found.
pub(crate) fn examined(rows: &[Examined], as_json: bool) {
    if as_json { json::examined(rows) } else { terminal::examined(rows) }
}

/// Tells what a GPU reaches at best, and whether that could be kept.
pub(crate) fn probed(probed: &Probed, kept: &anyhow::Result<std::path::PathBuf>, as_json: bool) {
    if as_json { json::probed(probed, kept) } else { terminal::probed(probed, kept) }
}

/// Tells what a class got.
pub(crate) fn graded(graded: &Graded<'_>, as_json: bool, as_csv: bool) {
    if as_csv {
        csv::graded(graded);
    } else if as_json {
        json::graded(graded);
    } else {
        terminal::graded(graded);
    }
}

/// Tells how far a planned grading has come.
pub(crate) fn class_state(
    plan: &class::Plan,
    state: &class::PlanState<'_>,
    merged: &class::Merged,
    as_json: bool,
) {
    if as_json { json::class_state(plan, state, merged) } else { terminal::class_state(plan, state, merged) }
}

/// Writes a whole file to standard output.
pub(crate) fn file(text: &str) {
    anstream::print!("{text}");
}

/// Draws what the costliest requests touch, and where a block's work lies.
pub(crate) fn looked(looked: &Looked<'_>, as_json: bool) {
    if as_json { json::looked(looked) } else { terminal::looked(looked) }
}

/// Tells where a predicted time goes.
pub(crate) fn explained(explained: &Explained<'_>, as_json: bool) {
    if as_json { json::explained(explained) } else { terminal::explained(explained) }
}

/// The same as a picture.
pub(crate) fn why_svg(explained: &Explained<'_>) -> String {
    svg::why(explained)
}

/// The same picture, as SVG.
pub(crate) fn look_svg(looked: &Looked<'_>) -> String {
    svg::look(looked)
}

/// Tells where kernels stand under a roof.
pub(crate) fn placed(placed: &Placed<'_>, as_json: bool) {
    if as_json { json::placed(placed) } else { terminal::placed(placed) }
}

/// The same as a picture, SVG.
pub(crate) fn roofline_svg(placed: &Placed<'_>) -> String {
    svg::roofline(placed)
}
