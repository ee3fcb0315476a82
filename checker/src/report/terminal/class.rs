//! The steps of grading a class.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use owo_colors::OwoColorize;

use ::class::gradebook::Gradebook;
use ::class::import::{Fate, Imported};
use ::class::{Class, Exported, Merged, Outcome, Plan, PlanState};

use super::out::{eprintln, println};
use super::table::Table;
use super::text::{paragraph, printable};
use crate::message::{command, counted};

/// Rows of a list on a terminal; the file has all of them.
const MOST_ROWS: usize = 20;

/// What an import came to, with every file that a person should look at.
pub(crate) fn imported(imported: &Imported, class: &Class, table: &Path) {
    let system = format!("{:?}", imported.system);
    let of = |fate: Fate| imported.rows.iter().filter(move |row| row.fate == fate);
    println!(
        "{}: {} taken, {} left out, {} not understood, {} refused",
        system.bold(),
        counted(of(Fate::Taken).count(), "file"),
        of(Fate::LeftOut).count(),
        of(Fate::NotUnderstood).count(),
        of(Fate::Refused).count()
    );
    let rows: Vec<_> = of(Fate::NotUnderstood).chain(of(Fate::Refused)).collect();
    for row in rows.iter().take(MOST_ROWS) {
        println!("{}", paragraph(&format!("  {}: {}", printable(&row.file), printable(&row.why)), "    "));
    }
    if rows.len() > MOST_ROWS {
        println!("  and {} more", rows.len() - MOST_ROWS);
    }
    println!("what became of each file: {}", table.display());
    let (people, handins) = (class.people.len(), class.handins.len());
    println!("the class now has {} with {}", counted(people, "student"), counted(handins, "hand-in"));
}

/// A plan, and what to do with it.
pub(crate) fn planned(plan: &Plan, folder: &Path) {
    println!(
        "plan {}: {} to judge, in {}",
        plan.number,
        counted(plan.cells.len(), "different text"),
        counted(plan.shards as usize, "task")
    );
    let shown = folder.display();
    println!("on this machine: {}", command(&format!("class work {shown}")));
    println!("on Slurm:        sbatch {shown}/job.sbatch");
}

/// Cells as they are judged: a bar with the time that is left on a terminal, else a line each.
pub(crate) struct CellProgress {
    bar: Option<ProgressBar>,
    done: usize,
    of: usize,
}

impl CellProgress {
    /// Of `of` cells.
    pub(crate) fn new(of: usize) -> CellProgress {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:40} {pos}/{len}  {eta} left  {msg}");
            ProgressBar::new(of as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        CellProgress { bar, done: 0, of }
    }

    /// One more.
    pub(crate) fn show(&mut self, outcome: &Outcome) {
        self.done += 1;
        let Outcome { exercise, key, verdict, seconds, .. } = outcome;
        match &self.bar {
            Some(bar) => {
                bar.set_message(format!("{exercise}: {verdict}"));
                bar.inc(1);
            }
            None => {
                let key = key.get(..8).unwrap_or(key);
                eprintln!("[{}/{}] {exercise} {key}: {verdict} ({seconds:.1} s)", self.done, self.of);
            }
        }
    }

    /// Says how far it came.
    pub(crate) fn finish(self, was_interrupted: bool) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
        let state = if was_interrupted { "stopped" } else { "done" };
        eprintln!("{state}: {} of {} judged", self.done, self.of);
    }
}

/// How far judging has come.
pub(crate) fn class_state(plan: &Plan, state: &PlanState<'_>, merged: &Merged) {
    let mut table = Table::new(&["exercise", "judged", "cut short", "not judged", "open", "of"]);
    for (exercise, count) in &state.exercises {
        let figures = [count.judged, count.cut_short, count.not_judged, count.open, count.of];
        let cells = figures.iter().map(usize::to_string);
        table.row(std::iter::once((*exercise).to_owned()).chain(cells));
    }
    println!("plan {}, {}", plan.number, counted(plan.shards as usize, "task"));
    table.lines().iter().for_each(|line| println!("{line}"));
    if !state.unfinished.is_empty() {
        println!("tasks that are not done: {}", ranges(&state.unfinished));
    }
    if merged.torn_lines > 0 {
        let lines = counted(merged.torn_lines, "line");
        println!(
            "{lines} of the results cut short, by a kill or a full disk; what they were about is judged again"
        );
    }
    merged.alarms.iter().for_each(|alarm| println!("{} {}", "alarm:".red().bold(), printable(alarm)));
}

/// `0-3,7`, as `sbatch --array` takes it.
fn ranges(numbers: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => ranges.push((*number, *number)),
        }
    }
    let shown = ranges
        .iter()
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") });
    shown.collect::<Vec<_>>().join(",")
}

/// What stands in the way of marks, on standard error; `true` if nothing does.
pub(crate) fn obstacles(book: &Gradebook, alarms: &[String]) -> bool {
    let holes = book.holes();
    for (student, exercise, entry) in holes.iter().take(MOST_ROWS) {
        let message =
            entry.outcome.as_ref().and_then(|outcome| outcome.message.as_deref()).unwrap_or_default();
        let line = format!(
            "no mark: {} ({}) {exercise}: {} {message}",
            student.person.name, student.person.id, entry.mark.verdict
        );
        eprintln!("{}", paragraph(&printable(line.trim_end()), "    "));
    }
    if holes.len() > MOST_ROWS {
        eprintln!("no mark: {} more", holes.len() - MOST_ROWS);
    }
    let mixed: BTreeMap<&str, Vec<&str>> = book.mixed_gpus();
    for (exercise, gpus) in &mixed {
        eprintln!(
            "{exercise} was timed on different GPUs, whose times cannot be compared: {}",
            gpus.join(", ")
        );
    }
    alarms.iter().for_each(|alarm| eprintln!("{} {}", "alarm:".red().bold(), printable(alarm)));
    for student in book.students.iter().filter(|student| !student.is_listed) {
        eprintln!(
            "not in the roster: {} ({})",
            printable(&student.person.name),
            printable(&student.person.id)
        );
    }
    holes.is_empty() && mixed.is_empty() && alarms.is_empty()
}

/// Who is not in Moodle's file.
pub(crate) fn without_address(ids: &[&str]) {
    ids.iter().for_each(|id| eprintln!("left out, for want of an e-mail address: {}", printable(id)));
}

/// Where the pages are.
pub(crate) fn reported(pages: usize, into: &Path) {
    println!("{} in {}; begin with index", counted(pages, "page"), into.display());
}

/// What was exported, and the commands that take it.
pub(crate) fn exported(exported: &[Exported]) {
    for Exported { exercise, folder, base, files } in exported {
        println!("{} {} in {}", exercise.bold(), counted(*files, "file"), folder.display());
        println!("  java -jar jplag.jar -l cpp -bc {} {}", base.display(), folder.display());
        println!("  dolos run -f web -l cpp -i {}/stub.cpp {}/*.cpp", base.display(), folder.display());
    }
}

/// What to do with an autograder.
pub(crate) fn packed(path: &Path, bytes: usize) {
    println!("{}: {} MiB; upload it under Configure Autograder", path.display(), bytes >> 20);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_named_as_sbatch_takes_them() {
        assert_eq!(ranges(&[0, 1, 2, 3, 7, 9, 10]), "0-3,7,9-10");
    }
}
