//! A class's results.

use std::path::Path;

use owo_colors::OwoColorize;

use super::out::{eprintln, println};
use super::table::Table;
use super::text::{paragraph, printable};
use crate::grade::{LeftOut, MISSING, Record};
use crate::message::{self, grading};
use crate::report::Graded;

/// One more result, as it comes.
pub(crate) fn graded_one(done: usize, of: usize, record: &Record) {
    let Record { student, exercise, verdict, seconds, .. } = record;
    eprintln!("[{done}/{of}] {student} {exercise}: {verdict} ({seconds:.1} s)");
}

/// Says that somebody else's results lie in the folder.
pub(crate) fn strange_results(count: usize) {
    eprintln!("{}", grading::strange_results(count));
}

/// Says that the grader was asked to end, and what is left of its work.
pub(crate) fn grading_stopped(done: usize, of: usize, out: &Path) {
    eprintln!(
        "stopped: {done} of {of} are judged and kept in {}; give the same command again to go on",
        out.display()
    );
}

/// The table: a row for each student, a column for each exercise.
pub(crate) fn graded(graded: &Graded<'_>) {
    let exercises = graded.exercises();
    let mut heading = vec!["student"];
    heading.extend(exercises.iter().map(|folder| folder.get(..2).unwrap_or(folder)));
    heading.push("score");
    let mut table = Table::new(&heading);
    for student in &graded.class.students {
        let records: Vec<Option<&Record>> =
            exercises.iter().map(|exercise| graded.record(student, exercise)).collect();
        // Not `sum`, which is -0 for nothing.
        let total = records.iter().flatten().fold(0.0, |total, record| total + record.score);
        let mut row = vec![student.clone()];
        row.extend(records.iter().map(|record| record.map_or(MISSING.into(), cell)));
        row.push(format!("{total:.2} of {}", exercises.len()));
        table.row(row);
    }
    let lines = table.lines();
    println!("{}", lines[0].dimmed());
    lines[1..].iter().for_each(|line| println!("{line}"));
    println!();
    for record in graded.records {
        if let Some(message) = &record.message {
            let first: String = printable(message.lines().next().unwrap_or_default());
            let line = format!("{} {}: {first}", record.student, record.exercise);
            println!("{}", paragraph(&line, "    "));
        }
    }
    for LeftOut { name, why } in &graded.class.left_out {
        println!("{}", paragraph(&format!("left out {name}: {}", grading::trouble(why)), "    "));
    }
    if !graded.class.strangers.is_empty() {
        println!("{}", paragraph(&grading::strangers(&graded.class.strangers), "    "));
    }
    let passed = graded.records.iter().filter(|record| record.verdict == "passed").count();
    println!(
        "{}",
        format!("{passed} of {} passed", message::counted(graded.records.len(), "submission")).bold()
    );
}

/// The verdict as it is called everywhere, with the score where it is a part of one.
fn cell(record: &Record) -> String {
    let is_part = record.score > 0.0 && record.score < 1.0;
    if is_part { format!("{} {:.2}", record.verdict, record.score) } else { record.verdict.clone() }
}
