//! One JSON value on standard output, for programs. Names and their order are part of the interface.

use clock::Prediction;
use cuda::nvrtc::Diagnostic;
use exercise::{Bound, Exercise, GpuModel, Limit, Occupancy, Size};
use serde::Serialize;
use serde_json::{Map, Value, json};
use trust::text;
use warpsim::{Counters, Space, TouchedWord, WorstAccess};

use super::{Examined, Explained, Graded, Judged, Looked, Placed, PlacedKernel, Run, RunVerdict, Verified};
use crate::ceiling::Probed;
use crate::compile::{self, Rejection, Resources};
use crate::finding::{Finding, Site};
use crate::grade::LeftOut;
use crate::judge::forecast::Forecast;
use crate::judge::timing::{Round, Timing};
use crate::judge::{CaseJudgement, RequirementJudgement, Wrong};
use crate::message;
use crate::progress::State;
use crate::registry::Entry;
use crate::submission::Submission;
use crate::trial::{Foretold, Rates, Survey, Territory};

pub(super) fn judged(judged: &Judged<'_>) {
    print(&judgement(judged));
}

pub(super) fn run(submission: &Submission, run: &Run) {
    print(&RunObject::new(submission, run));
}

pub(super) fn status(states: &[(&Entry, State)], next: Option<&Entry>) {
    let passed = states.iter().filter(|(_, state)| state.has_passed()).count();
    print(&json!({"passed": passed, "of": states.len(), "next": next.map(|entry| entry.folder)}));
}

pub(super) fn list(states: &[(&Entry, State)]) {
    let row = |(entry, state): &(&Entry, State)| {
        let Exercise { number, slug, title, lesson, .. } = entry.exercise;
        json!({"number": number, "slug": slug, "title": title, "lesson": lesson, "state": state_name(*state)})
    };
    print(&states.iter().map(row).collect::<Vec<_>>());
}

pub(super) fn verified(machine: &str, rows: &[Verified], seconds: f64) {
    let row = |row: &Verified| {
        let timing = row.timing.as_ref().map(|timing| timed(timing, row.rates.as_ref()));
        json!({"exercise": row.folder, "file": row.what, "expected": row.expected, "got": row.got,
               "good": row.is_good, "verdict": row.verdict, "same_verdict": row.same.0, "repeats": row.same.1,
               "size": row.size, "timing": timing, "forecast": row.foretold.as_ref().map(forecast), "positions": row.positions, "seconds": row.seconds})
    };
    let is_good = rows.iter().all(|row| row.is_good);
    print(&json!({"good": is_good, "machine": machine, "seconds": seconds,
                  "files": rows.iter().map(row).collect::<Vec<_>>()}));
}

pub(super) fn examined(rows: &[Examined]) {
    print(&rows);
}

pub(super) fn probed(probed: &Probed, kept: &anyhow::Result<std::path::PathBuf>) {
    let Probed { device, ceilings } = probed;
    let peak = |rate: f64| if rate > 0.0 { Some(rate) } else { None };
    print(&json!({
        "gpu": device.name,
        "compute_capability": format!("{}.{}", device.compute_capability.0, device.compute_capability.1),
        "copy_bytes_per_second": ceilings.copy_bytes_per_second,
        "fma_flops_per_second": ceilings.fma_flops_per_second,
        "peak_bytes_per_second": peak(device.peak_bandwidth()),
        "peak_flops_per_second": peak(device.peak_flops()),
        "kept_in": kept.as_ref().ok().map(|file| file.display().to_string()),
    }));
}

pub(super) fn graded(graded: &Graded<'_>) {
    let left_out = |left: &LeftOut| json!({"name": left.name, "why": message::grading::trouble(&left.why)});
    print(&json!({
        "students": graded.class.students,
        "results": graded.records,
        "left_out": graded.class.left_out.iter().map(left_out).collect::<Vec<_>>(),
        "not_on_roster": graded.class.strangers,
    }));
}

pub(super) fn class_state(plan: &class::Plan, state: &class::PlanState<'_>, merged: &class::Merged) {
    print(&json!({"plan": plan.number, "tasks": plan.shards, "complete": state.is_complete(),
                  "exercises": state.exercises, "unfinished_tasks": state.unfinished,
                  "torn_lines": merged.torn_lines, "alarms": merged.alarms}));
}

pub(super) fn looked(looked: &Looked<'_>) {
    let request = |access: &WorstAccess| {
        let lanes: Map<String, Value> = access
            .lanes()
            .map(|lane| {
                let start = access.lanes().next().map_or(0, |first| access.addresses[first]);
                let offset = access.addresses[lane].wrapping_sub(start) as i64 + access.offset;
                (lane.to_string(), json!(offset))
            })
            .collect();
        json!({"line": access.at.as_ref().map(|at| at.line), "object": access.object, "bytes": access.bytes,
               "block": access.block, "warp": access.warp, "sectors": access.sectors,
               "wavefronts": access.wavefronts, "offsets": lanes})
    };
    let mut object = Map::new();
    for (space, yours, reference) in looked.pairs() {
        let name = if space == Space::Shared { "shared" } else { "global" };
        let pair = json!({"yours": yours.map(request), "reference": reference.map(request)});
        object.insert(name.to_owned(), pair);
    }
    let work = |survey: &Survey| {
        let buffer = |buffer: &Territory| {
            let count = |of: fn(&TouchedWord) -> u32| {
                let touched = buffer.words.iter().map(of).filter(|times| *times > 0);
                json!({"elements": touched.clone().count(), "times": touched.map(u64::from).sum::<u64>()})
            };
            json!({"name": buffer.name, "rows": buffer.shape[0], "columns": buffer.shape[1],
                   "reads": count(|word| word.reads), "writes": count(|word| word.writes)})
        };
        json!({"grid": survey.grid, "threads": survey.block,
               "buffers": survey.territory.iter().map(buffer).collect::<Vec<_>>()})
    };
    let pair =
        json!({"index": looked.block, "yours": work(looked.yours), "reference": looked.reference.map(work)});
    object.insert("block".to_owned(), pair);
    print(&object);
}

pub(super) fn explained(explained: &Explained<'_>) {
    print(&json!({
        "gpu": explained.gpu.name,
        "checked": explained.gpu.checked,
        "size": explained.size,
        "file": explained.submission.path.display().to_string(),
        "yours": whereabouts(explained.yours),
        "reference": explained.reference.as_ref().map(whereabouts),
    }));
}

pub(super) fn placed(placed: &Placed<'_>) {
    let gpu = placed.gpu;
    let row = |kernel: &PlacedKernel| {
        let intensity = kernel.counters.map(|_| kernel.intensity());
        json!({"name": kernel.name, "is_reference": kernel.is_reference, "runs": kernel.counters.is_some(),
               "flops": kernel.counters.map(|counters| counters.fp32_flops),
               "bytes_moved": kernel.counters.map(|_| kernel.moved_bytes()), "bytes_at_least": kernel.least_bytes,
               "intensity": intensity, "roof_flops_per_second": intensity.map(|intensity| gpu.roof(intensity))})
    };
    print(&json!({
        "gpu": {"name": gpu.name, "peak_flops_per_second": gpu.peak_flops, "bytes_per_second": gpu.bandwidth,
                "source": gpu.source},
        "kernels": placed.kernels.iter().map(row).collect::<Vec<_>>(),
    }));
}

fn print(value: &impl Serialize) {
    // Numbers, strings and maps with string keys can always be written.
    let json = serde_json::to_string_pretty(value).unwrap_or_default();
    anstream::println!("{}", text::json(&json));
}

fn state_name(state: State) -> &'static str {
    match state {
        State::Untouched => "untouched",
        State::Started => "started",
        State::Edited => "passed_edited",
        State::Passed => "passed",
    }
}

fn occupancy(gpu: GpuModel, occupancy: Occupancy) -> Value {
    let limit = match occupancy.limit {
        Limit::Warps => "warps",
        Limit::Blocks => "blocks",
        Limit::Registers => "registers",
        Limit::SharedMemory => "shared_memory",
    };
    json!({
        "gpu": gpu.name,
        "blocks_per_sm": occupancy.blocks_per_sm,
        "warps_per_sm": occupancy.warps_per_sm,
        "most_warps": occupancy.most_warps,
        "percent": occupancy.percent(),
        "limit": limit,
    })
}

/// The object of `checker run`.
#[derive(Serialize)]
struct RunObject {
    verdict: RunVerdict,
    faults: Vec<FaultObject>,
    counters: Counters,
    resources: Resources,
    /// If it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    occupancy: Option<Value>,
    seconds: f64,
    /// Why nothing ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// What the compiler says.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    diagnostics: Vec<Value>,
    /// What device `printf` wrote.
    #[serde(skip_serializing_if = "String::is_empty")]
    printed: String,
    /// What is worth knowing beside the verdict.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

impl RunObject {
    fn new(submission: &Submission, run: &Run) -> RunObject {
        RunObject {
            verdict: run.verdict,
            faults: run
                .findings
                .iter()
                .map(|finding| FaultObject::new(finding, &submission.name()))
                .collect(),
            counters: run.counters.unwrap_or_default(),
            resources: run.resources,
            occupancy: run.occupancy.map(|(gpu, occupancy)| self::occupancy(gpu, occupancy)),
            seconds: run.seconds,
            message: run.rejection.as_ref().map(message::rejection),
            diagnostics: run.rejection.as_ref().map(diagnostics).unwrap_or_default(),
            printed: run.printed.clone(),
            notes: run.notes.iter().map(message::run::note).collect(),
        }
    }
}

#[derive(Serialize)]
struct FaultObject {
    kind: &'static str,
    severity: &'static str,
    message: String,
    file: String,
    line: Option<u32>,
    count: u64,
    space: Option<&'static str>,
    thread: Option<[u32; 3]>,
    block: Option<[u32; 3]>,
    other: Option<OtherObject>,
}

#[derive(Serialize)]
struct OtherObject {
    line: Option<u32>,
    thread: [u32; 3],
    block: [u32; 3],
}

impl FaultObject {
    fn new(finding: &Finding, file: &str) -> FaultObject {
        let line = |site: &Site| site.line.as_ref().map(|line| line.number);
        FaultObject {
            kind: finding.kind,
            severity: if finding.is_error { "error" } else { "warning" },
            message: finding.message.clone(),
            file: file.to_owned(),
            line: finding.site.as_ref().and_then(line),
            count: finding.count,
            space: finding.space,
            thread: finding.site.as_ref().map(|site| site.thread),
            block: finding.site.as_ref().map(|site| site.block),
            other: finding.other.as_ref().map(|site| OtherObject {
                line: line(site),
                thread: site.thread,
                block: site.block,
            }),
        }
    }
}

/// What the compiler said of a rejected source.
fn diagnostics(rejection: &Rejection) -> Vec<Value> {
    match rejection {
        Rejection::Diagnostics(all) => all.iter().map(diagnostic).collect(),
        Rejection::Refused { .. } | Rejection::Launch(_) | Rejection::Unsupported { .. } => Vec::new(),
    }
}

fn diagnostic(diagnostic: &Diagnostic) -> Value {
    let Diagnostic { file, line, column, message, notes, .. } = diagnostic;
    let severity = if compile::is_error(diagnostic) { "error" } else { "warning" };
    json!({"severity": severity, "message": message, "file": file, "line": line, "column": column, "notes": notes})
}

fn judgement(judged: &Judged<'_>) -> Value {
    let Judged { entry, submission, trial, seed, .. } = judged;
    let exercise = &entry.exercise;
    let name = submission.name();
    let mut object = json!({
        "verdict": trial.verdict.name(),
        "exercise": {"number": exercise.number, "slug": exercise.slug, "title": exercise.title},
        "file": submission.path.display().to_string(),
        "engine": judged.engine,
        "machine": judged.machine,
        "seed": seed,
        "launch": trial.launched.map(|launched| json!({
            "block": launched.spec.block,
            "shared_bytes": launched.spec.shared_bytes,
        })),
        "resources": trial.launched.map(|launched| launched.resources),
        "cases": trial.cases.iter().map(|c| case(exercise, c, &name)).collect::<Vec<_>>(),
        "requirements": trial.requirements.iter().map(requirement).collect::<Vec<_>>(),
        "timing": trial.timing.as_ref().map(|timing| timed(timing, trial.rates.as_ref())),
        "forecast": trial.foretold.as_ref().and_then(|foretold| foretold.as_ref().ok()).map(forecast),
        "not_predicted": trial.foretold.as_ref().and_then(|foretold| foretold.as_ref().err()),
        "not_timed": trial.not_timed,
        "not_judged_here": exercise.not_judged_here,
        "message": trial.rejection.as_ref().map(message::rejection),
        "diagnostics": match &trial.rejection {
            Some(rejection) => diagnostics(rejection),
            None => trial.warnings.iter().map(diagnostic).collect(),
        },
    });
    object["next"] = json!(message::next_step(judged));
    object
}

/// Predicted times, and what they go to.
fn forecast(foretold: &Foretold) -> Value {
    let Forecast { times, needed, position, margin, band, outlook } = foretold.forecast;
    json!({
        "gpu": foretold.gpu,
        "checked": foretold.check,
        "milliseconds": {"baseline": times.baseline, "reference": times.reference, "yours": times.student},
        "speedup": foretold.forecast.speedup(),
        "needed": needed,
        "reference_speedup": foretold.forecast.reference_speedup(),
        "position": position,
        "margin": margin,
        "error": band,
        "outlook": message::forecast::outlook_name(outlook),
        "yours": whereabouts(&foretold.prediction),
        "reference": whereabouts(&foretold.reference),
    })
}

/// Where a predicted time goes.
fn whereabouts(prediction: &Prediction) -> Value {
    let causes: Vec<Value> = prediction
        .by_cause()
        .into_iter()
        .map(|(cause, share)| json!({"cause": cause, "share": share}))
        .collect();
    json!({"milliseconds": prediction.milliseconds, "causes": causes, "parts": prediction.parts,
           "remarks": prediction.remarks, "resident_blocks": prediction.resident_blocks,
           "resident_warps": prediction.resident_warps})
}

/// Times with the rates that follow from them.
fn timed(timing: &Timing, rates: Option<&Rates>) -> Value {
    let mut object = self::timing(timing);
    let Some(rates) = rates else { return object };
    let per_second =
        |amount: u64, milliseconds: f64| (amount > 0).then(|| amount as f64 / (milliseconds * 1e-3));
    let of = |milliseconds: f64| {
        json!({"bytes_per_second": per_second(rates.bytes, milliseconds),
               "flops_per_second": per_second(rates.flops, milliseconds)})
    };
    let Round { baseline, reference, student } = timing.median;
    object["rates"] = json!({
        "bytes": rates.bytes, "flops": rates.flops,
        "baseline": of(baseline), "reference": of(reference), "yours": of(student),
        "ceilings": {"copy_bytes_per_second": rates.ceilings.copy_bytes_per_second,
                     "fma_flops_per_second": rates.ceilings.fma_flops_per_second,
                     "measured": rates.is_measured},
    });
    object["beside"] = json!(rates.beside.map(|beside| json!({
        "name": beside.name, "milliseconds": beside.milliseconds,
        "bytes_per_second": per_second(beside.bytes, beside.milliseconds),
        "flops_per_second": per_second(beside.flops, beside.milliseconds),
    })));
    object
}

fn timing(timing: &Timing) -> Value {
    json!({
        "milliseconds": {"baseline": timing.median.baseline, "reference": timing.median.reference,
                         "yours": timing.median.student},
        "speedup": timing.speedup(),
        "needed": timing.needed,
        "reference": timing.reference_speedup(),
        "position": timing.position,
        "margin": timing.margin,
        "interval": timing.interval,
        "rounds": timing.rounds,
        "decision": message::decision(timing.decision),
    })
}

fn case(exercise: &Exercise, case: &CaseJudgement, file: &str) -> Value {
    json!({
        "size": size(exercise, case.size),
        "verdict": case.verdict.name(),
        "faults": case.findings.iter().map(|finding| FaultObject::new(finding, file)).collect::<Vec<_>>(),
        "wrong": case.wrong.as_ref().map(wrong),
        "printed": case.printed,
    })
}

fn wrong(wrong: &Wrong) -> Value {
    let comparison = &wrong.comparison;
    let first = comparison.first.map(|(index, got, wanted)| {
        // JSON has no NaN; a text says which of the odd values it is.
        let got = if got.is_finite() { json!(got) } else { json!(got.to_string()) };
        json!({"index": index, "got": got, "wanted": wanted})
    });
    json!({
        "buffer": wrong.buffer,
        "wrong": comparison.wrong,
        "of": comparison.total,
        "first": first,
        "pattern": comparison.pattern.map(|pattern| pattern.to_string()),
    })
}

fn size(exercise: &Exercise, size: Size) -> Map<String, Value> {
    let dimensions = exercise.problem.dimensions().iter();
    dimensions.zip(size).map(|(name, extent)| ((*name).to_owned(), json!(extent))).collect()
}

fn requirement(row: &RequirementJudgement) -> Value {
    let needed = match row.requirement.bound {
        Bound::AtMost(most) => json!({"at_most": most}),
        Bound::AtLeast(least) => json!({"at_least": least}),
    };
    json!({
        "key": row.requirement.key,
        "name": message::metric(row.requirement.metric),
        "yours": row.yours,
        "needed": needed,
        "reference": row.reference,
        "met": row.met,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Line;

    fn submission() -> Submission {
        Submission { path: "some/kernel.cu".into(), text: String::new() }
    }

    fn race() -> Finding {
        let site = |line, x, label| Site {
            line: Some(Line { file: "kernel.cu".into(), number: line }),
            thread: [x, 0, 0],
            block: [0, 0, 0],
            label,
        };
        Finding {
            kind: "race",
            is_error: true,
            message: "two threads".into(),
            space: Some("shared"),
            site: Some(site(30, 0, "written here")),
            other: Some(site(35, 1, "read here")),
            count: 128,
        }
    }

    fn keys(value: &Value) -> Vec<&str> {
        value.as_object().map(|object| object.keys().map(String::as_str).collect()).unwrap_or_default()
    }

    #[test]
    fn a_run_has_the_documented_fields_in_their_order() {
        let run = Run {
            verdict: RunVerdict::Faults,
            rejection: None,
            findings: vec![race()],
            buffers: Vec::new(),
            counters: Some(Counters { barriers: 3, ..Counters::default() }),
            resources: Resources { registers_per_thread: 16, static_shared_bytes: 2048, spill_bytes: 0 },
            occupancy: None,
            printed: String::new(),
            seconds: 0.5,
            gpu: None,
            notes: Vec::new(),
        };
        let value = serde_json::to_value(RunObject::new(&submission(), &run)).expect("serialises");
        assert_eq!(keys(&value), ["verdict", "faults", "counters", "resources", "seconds"]);
        assert_eq!(
            keys(&value["faults"][0]),
            ["kind", "severity", "message", "file", "line", "count", "space", "thread", "block", "other"]
        );
        assert_eq!(
            value["faults"][0],
            json!({"kind": "race", "severity": "error", "message": "two threads", "file": "kernel.cu", "line": 30,
                   "count": 128, "space": "shared", "thread": [0, 0, 0], "block": [0, 0, 0],
                   "other": {"line": 35, "thread": [1, 0, 0], "block": [0, 0, 0]}})
        );
        assert_eq!(
            keys(&value["counters"]),
            [
                "warp_instructions",
                "thread_instructions",
                "global_load_requests",
                "global_load_sectors",
                "global_load_bytes",
                "global_store_requests",
                "global_store_sectors",
                "global_store_bytes",
                "global_atomic_requests",
                "shared_atomic_requests",
                "constant_load_requests",
                "shared_load_requests",
                "shared_load_wavefronts",
                "shared_load_bank_conflicts",
                "shared_store_requests",
                "shared_store_wavefronts",
                "shared_store_bank_conflicts",
                "branches",
                "divergent_branches",
                "barriers",
                "fp32_flops",
                "fp64_instructions"
            ]
        );
        assert_eq!(value["counters"]["barriers"], 3);
        assert_eq!(keys(&value["resources"]), ["registers_per_thread", "static_shared_bytes", "spill_bytes"]);
    }

    #[test]
    fn a_kernel_that_never_ran_has_the_same_fields_and_the_reason() {
        let run = Run::rejected(Rejection::Launch("the block is too large".into()));
        let value = serde_json::to_value(RunObject::new(&submission(), &run)).expect("serialises");
        assert_eq!(keys(&value), ["verdict", "faults", "counters", "resources", "seconds", "message"]);
        assert_eq!(
            (&value["verdict"], &value["message"]),
            (&json!("launch_error"), &json!("the block is too large"))
        );
    }
}
