//! The verdict on an exercise, from what was judged to the one next step.

use cuda::nvrtc::Diagnostic;
use owo_colors::OwoColorize;

use super::excerpt::{self, Source};
use super::out::println;
use super::table::Table;
use super::text::{paragraph, printable};
use crate::compile::{self, Rejection};
use crate::finding::Finding;
use crate::judge::{CaseJudgement, CaseVerdict, RequirementJudgement, Verdict, Wrong};
use crate::message;
use crate::report::Judged;
use crate::trial::{Foretold, Launched};
use crate::workspace::Workspace;

pub(crate) fn judged(judged: &Judged<'_>) {
    let path = Workspace::shown(&judged.submission.path);
    let source = Source { path: &path, text: &judged.submission.text };
    let exercise = &judged.entry.exercise;
    println!("{}", format!("{:02} {}: {}", exercise.number, exercise.slug, exercise.title).bold());
    println!("  {path}, on {}", judged.machine);
    if let Some(launched) = &judged.trial.launched {
        println!("  {}", launch(launched));
    }
    println!();
    match &judged.trial.rejection {
        Some(rejection) => self::rejection(rejection, source),
        None => cases(judged, source),
    }
    requirements(judged);
    if let (Some(timing), Some(speed)) = (&judged.trial.timing, exercise.speed) {
        println!("{}", paragraph(&format!("  {}", message::timing(timing, speed.baseline.name)), "  "));
        if let Some(rates) = &judged.trial.rates {
            println!("{}", paragraph(&format!("  {}", message::rates(rates, timing.median.student)), "  "));
        }
        println!();
    }
    match &judged.trial.foretold {
        Some(Ok(foretold)) => forecast(foretold, judged),
        Some(Err(why)) => println!("{}\n", paragraph(&format!("  speed is not predicted: {why}"), "  ")),
        None => {}
    }
    if let Some(why) = &judged.trial.not_timed {
        println!("{}\n", paragraph(&format!("  not timed: {why}"), "  "));
    }
    conclusion(judged);
}

/// What is predicted, and what stands out.
fn forecast(foretold: &Foretold, judged: &Judged<'_>) {
    let baseline = judged.entry.exercise.speed.map_or("the baseline", |speed| speed.baseline.name);
    println!("{}", paragraph(&format!("  {}", message::forecast::times(foretold, baseline)), "  "));
    println!("{}", paragraph(&format!("  {}", message::forecast::bound(&foretold.prediction)), "  "));
    println!("{}\n", paragraph(&format!("  {}", message::forecast::worth(foretold)), "  ").dimmed());
    if judged.trial.verdict == Verdict::Passed {
        return;
    }
    let remarks = message::forecast::remarks(foretold);
    remarks.iter().for_each(|remark| println!("{}", paragraph(&format!("  - {remark}"), "    ")));
    if !remarks.is_empty() {
        println!();
    }
}

fn launch(launched: &Launched) -> String {
    let [x, y, z] = launched.spec.block;
    let resources = launched.resources;
    let shared = resources.static_shared_bytes + launched.spec.shared_bytes;
    let spills = match resources.spill_bytes {
        0 => String::new(),
        bytes => format!(", {bytes} bytes of spills"),
    };
    format!(
        "{x} x {y} x {z} threads per block, {} registers per thread, {shared} bytes of shared memory{spills}",
        resources.registers_per_thread
    )
}

/// Why a kernel never ran.
pub(super) fn rejection(rejection: &Rejection, source: Source<'_>) {
    match rejection {
        Rejection::Diagnostics(diagnostics) => self::diagnostics(diagnostics, source),
        Rejection::Refused { line, message } | Rejection::Unsupported { line, message } => {
            println!("{}\n", excerpt::message(message, *line, source));
        }
        Rejection::Launch(message) => println!("{}\n", excerpt::message(message, None, source)),
    }
}

/// The first errors; those after them mostly follow from them. Warnings only where there is room.
fn diagnostics(diagnostics: &[Diagnostic], source: Source<'_>) {
    const MOST: usize = 3;
    let (errors, warnings): (Vec<_>, Vec<_>) =
        diagnostics.iter().partition(|diagnostic| compile::is_error(diagnostic));
    for diagnostic in errors.iter().chain(&warnings).take(MOST) {
        println!("{}\n", excerpt::diagnostic(diagnostic, source));
    }
    if let Some(more) = errors.len().checked_sub(MOST).filter(|more| *more > 0) {
        println!("  and {}\n", message::counted(more, "more error"));
    }
}

fn cases(judged: &Judged<'_>, source: Source<'_>) {
    let size = |case: &CaseJudgement| message::size(&judged.entry.exercise, case.size);
    for case in &judged.trial.cases {
        let size = size(case);
        let mark = match case.verdict {
            CaseVerdict::Right => "ok  ".green().to_string(),
            CaseVerdict::NotRun => "-   ".dimmed().to_string(),
            _ => "FAIL".red().bold().to_string(),
        };
        match case.verdict {
            CaseVerdict::Right => println!("  {mark} {size}"),
            verdict => println!("  {mark} {size}  {}", message::case(verdict)),
        }
    }
    println!();
    if let Some(case) = judged.trial.cases.iter().find(|case| !case.printed.is_empty()) {
        printed(&case.printed, &size(case));
    }
    // One thing at a time: wrong values often follow from a fault, and warnings are for kernels without errors.
    if let Some((case, finding)) = first_error(&judged.trial.cases) {
        println!("{}\n", excerpt::finding(finding, Some(&size(case)), source));
        others(case, finding);
        return;
    }
    if let Some((case, wrong)) = first_wrong(&judged.trial.cases) {
        let head = format!("wrong values at {}:", size(case));
        println!("{}\n", paragraph(&format!("{} {}", head.red().bold(), message::wrong(wrong)), ""));
    }
    for warning in &judged.trial.warnings {
        println!("{}\n", excerpt::diagnostic(warning, source));
    }
    for (case, warning) in warnings(&judged.trial.cases) {
        println!("{}\n", excerpt::finding(warning, Some(&size(case)), source));
    }
}

/// What the kernel printed in one case: the beginning, for thousands of threads may have done so.
fn printed(text: &str, size: &str) {
    const MOST: usize = 12;
    println!("  {} at {size}:", "printed by the kernel".bold());
    let mut lines = text.lines();
    lines.by_ref().take(MOST).for_each(|line| println!("    {}", printable(line)));
    match lines.count() {
        0 => println!(),
        more => println!("    and {}\n", message::counted(more, "more line")),
    }
}

/// The first fault of the first case that has one; where the kernel does not finish, that comes first.
fn first_error(cases: &[CaseJudgement]) -> Option<(&CaseJudgement, &Finding)> {
    cases.iter().find_map(|case| {
        let mut errors = case.findings.iter().filter(|finding| finding.is_error);
        let endless = errors.clone().find(|finding| finding.kind == "timeout");
        Some((case, endless.or_else(|| errors.next())?))
    })
}

/// Says how much more there is; the first fault is the one to mend first. A warning that threads were missing at a
/// barrier may be the cause of it.
fn others(case: &CaseJudgement, shown: &Finding) {
    let more: Vec<String> = case
        .findings
        .iter()
        .filter(|finding| finding.is_error || finding.kind == "barrier_divergence")
        .filter(|finding| !std::ptr::eq(*finding, shown))
        .map(|finding| match finding.site.as_ref().and_then(|site| site.line.as_ref()) {
            Some(line) => format!("{} at line {}", finding.kind, line.number),
            None => finding.kind.to_owned(),
        })
        .collect();
    if !more.is_empty() {
        println!("  also in this case: {}\n", more.join(", "));
    }
}

/// Wrong values, unless a fault of the same case explains them.
fn first_wrong(cases: &[CaseJudgement]) -> Option<(&CaseJudgement, &Wrong)> {
    let case = cases.iter().find(|case| case.verdict == CaseVerdict::WrongValues)?;
    Some((case, case.wrong.as_ref()?))
}

/// Warnings by their line, each with the first case that it turns up in.
fn warnings(cases: &[CaseJudgement]) -> Vec<(&CaseJudgement, &Finding)> {
    let mut seen: Vec<(&CaseJudgement, &Finding)> = Vec::new();
    let all = cases.iter().flat_map(|case| case.findings.iter().map(move |finding| (case, finding)));
    for (case, finding) in all.filter(|(_, finding)| !finding.is_error) {
        let same = |(_, other): &(_, &Finding)| {
            other.kind == finding.kind
                && other.site.as_ref().map(|site| &site.line) == finding.site.as_ref().map(|site| &site.line)
        };
        if !seen.iter().any(same) {
            seen.push((case, finding));
        }
    }
    seen
}

fn requirements(judged: &Judged<'_>) {
    let rows = &judged.trial.requirements;
    if rows.is_empty() {
        return;
    }
    let counted = message::counted_at(&judged.entry.exercise);
    let mut table = Table::new(&[&counted, "yours", "needed", "reference", ""]);
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), message::quantity);
    for row in rows {
        let met = match row.met {
            Some(true) => "met",
            Some(false) => "not met",
            None => "not judged",
        };
        table.row([
            message::metric(row.requirement.metric).to_owned(),
            number(row.yours),
            message::bound(row.requirement.bound),
            number(row.reference),
            met.to_owned(),
        ]);
    }
    let lines = table.lines();
    println!("{}", lines[0].dimmed());
    for (line, row) in lines[1..].iter().zip(rows) {
        match row.met {
            Some(true) => println!("{}", line.green()),
            Some(false) => println!("{}", line.red()),
            None => println!("{line}"),
        }
    }
    println!();
    for row in rows.iter().filter(|row| row.met == Some(false)) {
        advice(row);
    }
}

fn advice(row: &RequirementJudgement) {
    let text = format!("{} {}", format!("{}:", row.requirement.key).yellow().bold(), row.advice);
    println!("{}\n", paragraph(&text, ""));
}

fn conclusion(judged: &Judged<'_>) {
    let verdict = message::forecast::verdict(judged.trial);
    match judged.trial.verdict {
        Verdict::Passed => println!("{}", verdict.green().bold()),
        Verdict::Unsupported | Verdict::NotJudged | Verdict::Inconclusive => {
            println!("{}", verdict.yellow().bold())
        }
        _ => println!("{}", verdict.red().bold()),
    }
    let is_predicted = matches!(judged.trial.foretold, Some(Ok(_)));
    let not_judged_here = judged.entry.exercise.not_judged_here.filter(|_| !is_predicted);
    if let (Verdict::Passed, Some(why)) = (judged.trial.verdict, not_judged_here) {
        println!("{}", paragraph(&format!("speed: not judged here ({why})"), ""));
    }
    println!("next: {}", message::next_step(judged));
}
