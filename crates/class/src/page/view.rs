//! What a judgement says, as far as a student may know it.

use serde_json::Value;
use trust::text;

use crate::label::clean;

/// Lines of source shown before and after the one in question.
const AROUND: usize = 3;
/// Faults and diagnostics on a page; the first ones are what a learner needs.
const MOST_FINDINGS: usize = 8;

/// The facts of a page.
#[derive(Debug, Default, PartialEq)]
pub(super) struct View {
    /// Size and verdict.
    pub(super) cases: Vec<(String, String)>,
    pub(super) findings: Vec<Finding>,
    pub(super) requirements: Vec<Requirement>,
    pub(super) timing: Option<Timing>,
}

/// Something that is wrong, or a warning.
#[derive(Debug, PartialEq)]
pub(super) struct Finding {
    /// `race`, `compile error`, `wrong values`.
    pub(super) kind: String,
    pub(super) message: String,
    /// Lines of the source, each with its number and whether it is the one.
    pub(super) excerpt: Vec<(usize, String, bool)>,
}

/// A row of the table.
#[derive(Debug, PartialEq)]
pub(super) struct Requirement {
    pub(super) name: String,
    pub(super) yours: String,
    pub(super) needed: String,
    pub(super) reference: String,
    pub(super) is_met: bool,
}

/// Speed on a GPU.
#[derive(Debug, PartialEq)]
pub(super) struct Timing {
    pub(super) speedup: String,
    pub(super) needed: String,
    pub(super) reference: String,
}

impl View {
    pub(super) fn of(judgement: &Value, source: Option<&str>) -> View {
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let cases = list(&judgement["cases"]);
        let mut view = View {
            cases: cases.iter().map(|case| (size(case), said(&case["verdict"]))).collect(),
            requirements: list(&judgement["requirements"]).iter().map(requirement).collect(),
            timing: timing(&judgement["timing"]),
            ..View::default()
        };
        let mut add = |finding: Finding| {
            if view.findings.len() < MOST_FINDINGS && !view.findings.contains(&finding) {
                view.findings.push(finding);
            }
        };
        for diagnostic in list(&judgement["diagnostics"]) {
            let kind = format!("compiler {}", said(&diagnostic["severity"]));
            add(Finding {
                kind,
                message: said(&diagnostic["message"]),
                excerpt: excerpt(source, &diagnostic["line"]),
            });
        }
        for case in &cases {
            for fault in list(&case["faults"]) {
                let excerpt = excerpt(source, &fault["line"]);
                add(Finding { kind: said(&fault["kind"]), message: said(&fault["message"]), excerpt });
            }
            let wrong = &case["wrong"];
            if wrong.is_object() {
                let count = |name: &str| wrong[name].as_u64().unwrap_or(0);
                let pattern =
                    wrong["pattern"].as_str().map(|pattern| format!(": {pattern}")).unwrap_or_default();
                let message = format!(
                    "{}: {} of {} elements of {} are wrong{pattern}",
                    size(case),
                    count("wrong"),
                    count("of"),
                    said(&wrong["buffer"]),
                );
                add(Finding { kind: "wrong values".into(), message: clean(&message), excerpt: Vec::new() });
            }
        }
        view
    }
}

/// The size of a case; of one that students don't know, only that it is one.
fn size(case: &Value) -> String {
    if case["hidden"] == true {
        return "a size that is not published".into();
    }
    let object = case["size"].as_object();
    let pairs: Vec<String> =
        object.into_iter().flatten().map(|(name, extent)| format!("{name} {extent}")).collect();
    pairs.join(", ")
}

fn requirement(row: &Value) -> Requirement {
    let needed = match (row["needed"]["at_most"].as_f64(), row["needed"]["at_least"].as_f64()) {
        (Some(most), _) => format!("at most {most}"),
        (_, Some(least)) => format!("at least {least}"),
        _ => String::new(),
    };
    Requirement {
        name: said(&row["name"]),
        yours: figure(&row["yours"]),
        needed,
        reference: figure(&row["reference"]),
        is_met: row["met"] == true,
    }
}

fn timing(timing: &Value) -> Option<Timing> {
    timing["speedup"].as_f64()?;
    let times = |value: &Value| value.as_f64().map(|times| format!("{times:.2}x")).unwrap_or_default();
    Some(Timing {
        speedup: times(&timing["speedup"]),
        needed: times(&timing["needed"]),
        reference: times(&timing["reference"]),
    })
}

fn figure(value: &Value) -> String {
    value.as_f64().map(|figure| format!("{figure:.2}")).unwrap_or_else(|| "-".into())
}

/// What the judging wrote, some of which came from the student: what a kernel prints, names of buffers.
fn said(value: &Value) -> String {
    value.as_str().map(text::lines).unwrap_or_default()
}

fn excerpt(source: Option<&str>, line: &Value) -> Vec<(usize, String, bool)> {
    let (Some(source), Some(line)) = (source, line.as_u64().and_then(|line| usize::try_from(line).ok()))
    else {
        return Vec::new();
    };
    let first = line.saturating_sub(AROUND).max(1);
    let lines = source.lines().enumerate().map(|(index, text)| (index + 1, text));
    let lines =
        lines.skip_while(|(number, _)| *number < first).take_while(|(number, _)| *number <= line + AROUND);
    lines.map(|(number, text)| (number, printable(text), number == line)).collect()
}

/// A line of source as it is, but for characters that would change how it is read.
fn printable(line: &str) -> String {
    text::lines(&line.chars().take(200).collect::<String>()).replace('\t', "    ")
}
