//! The instructor's page: how it went, what goes wrong most, and who has no mark and why.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use maud::html;

use super::html::document;
use super::markdown::plain;
use crate::gradebook::{Entry, Gradebook, number};
use crate::label::file_safe;
use crate::mark::Standing;

/// Rows of a list of faults.
const MOST_FAULTS: usize = 12;

/// The figures of a class.
#[derive(Debug, PartialEq)]
pub struct Overview {
    /// For each exercise, how many have which verdict.
    pub verdicts: BTreeMap<String, BTreeMap<String, usize>>,
    /// For each exercise, how many score within each tenth of the points; the last has all of them.
    pub tenths: BTreeMap<String, [usize; 11]>,
    /// What was found most: exercise, what, how many students.
    pub faults: Vec<(String, String, usize)>,
    /// Who has no mark, or none for what was handed in.
    pub unjudged: Vec<Unjudged>,
    students: Vec<(String, String)>,
}

/// A cell that a person should look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unjudged {
    /// Name and id.
    pub student: String,
    /// The exercise's folder; empty for the whole student.
    pub exercise: String,
    /// The verdict's name and what is known.
    pub why: String,
}

impl Overview {
    /// Counts. `faults` says what was found in a cell's kernel, by the key of its result.
    pub fn new(gradebook: &Gradebook, faults: &BTreeMap<String, Vec<String>>) -> Overview {
        let mut overview = Overview {
            verdicts: BTreeMap::new(),
            tenths: BTreeMap::new(),
            faults: Vec::new(),
            unjudged: Vec::new(),
            students: Vec::new(),
        };
        let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
        for student in &gradebook.students {
            let shown = format!("{} ({})", student.person.name, student.person.id);
            overview.students.push((shown.clone(), file_safe(&student.person.id)));
            if !student.is_listed {
                let (student, why) = (shown.clone(), "not in the roster".to_owned());
                overview.unjudged.push(Unjudged { student, exercise: String::new(), why });
            }
            for (exercise, entry) in gradebook.exercises.iter().zip(&student.entries) {
                let verdicts = overview.verdicts.entry(exercise.clone()).or_default();
                *verdicts.entry(entry.mark.verdict.clone()).or_default() += 1;
                if let Some(score) = entry.mark.score.filter(|_| entry.mark.points > 0.0) {
                    let tenth = (score / entry.mark.points * 10.0).floor().clamp(0.0, 10.0) as usize;
                    overview.tenths.entry(exercise.clone()).or_insert([0; 11])[tenth] += 1;
                }
                let key = entry.outcome.as_ref().map(|outcome| &outcome.key);
                for fault in key.and_then(|key| faults.get(key)).into_iter().flatten() {
                    *counts.entry((exercise.clone(), fault.clone())).or_default() += 1;
                }
                if matches!(entry.mark.standing, Standing::Open | Standing::Unreadable) {
                    let (student, exercise) = (shown.clone(), exercise.clone());
                    overview.unjudged.push(Unjudged { student, exercise, why: why(entry) });
                }
            }
        }
        overview.faults =
            counts.into_iter().map(|((exercise, fault), count)| (exercise, fault, count)).collect();
        overview.faults.sort_by(|a, b| b.2.cmp(&a.2).then_with(|| (&a.0, &a.1).cmp(&(&b.0, &b.1))));
        overview.faults.truncate(MOST_FAULTS);
        overview
    }

    /// The page as HTML, with links to `students/STUDENT/index.html`.
    pub fn html(&self) -> String {
        let body = html! {
            h1 { "The class" }
            @for (exercise, verdicts) in &self.verdicts {
                h2 { (exercise) }
                table { @for (verdict, count) in verdicts { tr { td { (verdict) } td { (count) } } } }
                @if let Some(tenths) = self.tenths.get(exercise) {
                    p { "Points, in tenths of what there is:" }
                    pre { (histogram(tenths)) }
                }
            }
            @if !self.faults.is_empty() {
                h2 { "Found most" }
                table {
                    tr { th { "exercise" } th { "what" } th { "students" } }
                    @for (exercise, fault, count) in &self.faults {
                        tr { td { (exercise) } td { (fault) } td { (count) } }
                    }
                }
            }
            @if !self.unjudged.is_empty() {
                h2 { "To look at" }
                table {
                    tr { th { "student" } th { "exercise" } th { "why" } }
                    @for row in &self.unjudged {
                        tr { td { (row.student) } td { (row.exercise) } td { (row.why) } }
                    }
                }
            }
            h2 { "Students" }
            ul {
                @for (name, folder) in &self.students {
                    li { a href=(format!("students/{folder}/index.html")) { (name) } }
                }
            }
        };
        document("The class", &body)
    }

    /// The page as Markdown.
    pub fn markdown(&self) -> String {
        let mut text = "# The class\n".to_owned();
        // Writing to a text cannot fail.
        for (exercise, verdicts) in &self.verdicts {
            let _ = writeln!(text, "\n## {}\n\n| verdict | students |\n|---|---|", plain(exercise));
            for (verdict, count) in verdicts {
                let _ = writeln!(text, "| {} | {count} |", plain(verdict));
            }
            if let Some(tenths) = self.tenths.get(exercise) {
                let _ = write!(
                    text,
                    "\nPoints, in tenths of what there is:\n\n```text\n{}```\n",
                    histogram(tenths)
                );
            }
        }
        if !self.faults.is_empty() {
            text += "\n## Found most\n\n| exercise | what | students |\n|---|---|---|\n";
            for (exercise, fault, count) in &self.faults {
                let _ = writeln!(text, "| {} | {} | {count} |", plain(exercise), plain(fault));
            }
        }
        if !self.unjudged.is_empty() {
            text += "\n## To look at\n\n| student | exercise | why |\n|---|---|---|\n";
            for row in &self.unjudged {
                let _ = writeln!(
                    text,
                    "| {} | {} | {} |",
                    plain(&row.student),
                    plain(&row.exercise),
                    plain(&row.why)
                );
            }
        }
        text
    }
}

fn why(entry: &Entry) -> String {
    let problem = entry.handin.as_ref().and_then(|handin| handin.problem.clone());
    let message = entry.outcome.as_ref().and_then(|outcome| outcome.message.clone());
    match problem.or(message) {
        Some(text) => format!("{}: {}", entry.mark.verdict, text.lines().next().unwrap_or_default()),
        None => entry.mark.verdict.clone(),
    }
}

fn histogram(tenths: &[usize; 11]) -> String {
    let most = tenths.iter().max().copied().unwrap_or(0).max(1);
    let bar = |count: usize| "#".repeat((count * 40).div_ceil(most));
    let row = |(tenth, count): (usize, &usize)| {
        let from = if tenth == 10 { "all".to_owned() } else { number(tenth as f64 / 10.0) };
        format!("{from:>4} {count:>5} {}\n", bar(*count))
    };
    tenths.iter().enumerate().map(row).collect()
}
