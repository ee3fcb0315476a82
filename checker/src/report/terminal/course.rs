//! The commands about the course: what there is, what is done, and help with it.

use std::ops::RangeInclusive;
use std::path::Path;

use owo_colors::OwoColorize;

use super::out::{eprintln, print, println};
use super::table::Table;
use super::text::{hang, paragraph, refill};
use crate::message;
use crate::progress::State;
use crate::registry::Entry;
use crate::report::{Examined, Health, Verified};
use crate::workspace::{Reset, Workspace};

fn mark(state: State) -> &'static str {
    match state {
        State::Untouched => "",
        State::Started => "started",
        State::Edited => "passed, edited since",
        State::Passed => "passed",
    }
}

pub(crate) fn status(states: &[(&Entry, State)], next: Option<&Entry>) {
    let passed = states.iter().filter(|(_, state)| state.has_passed()).count();
    println!("{}", format!("{passed} of {} exercises passed", states.len()).bold());
    for (entry, state) in states.iter().filter(|(_, state)| *state != State::Untouched) {
        println!("  {:02} {:<24} {}", entry.exercise.number, entry.exercise.slug, mark(*state));
    }
    println!();
    match next {
        None => println!("{}", "All done.".green().bold()),
        Some(entry) => {
            let exercise = &entry.exercise;
            println!("next: {:02} {}: {}", exercise.number, exercise.slug, exercise.title);
            println!("{}", paragraph(&format!("      {}", exercise.lesson), "      "));
            println!("      {}", message::command(&format!("{:02}", exercise.number)).bold());
        }
    }
}

pub(crate) fn list(states: &[(&Entry, State)]) {
    let mut table = Table::new(&["", "exercise", "what you learn", ""]);
    for (entry, state) in states {
        let exercise = &entry.exercise;
        table.row([
            format!("{:02}", exercise.number),
            exercise.slug.to_owned(),
            exercise.lesson.to_owned(),
            mark(*state).to_owned(),
        ]);
    }
    let lines = table.lines();
    println!("{}", lines[0].dimmed());
    lines[1..].iter().for_each(|line| println!("{line}"));
}

/// Shows hints `shown` (from 1), and says which are left.
pub(crate) fn hints(entry: &Entry, shown: RangeInclusive<usize>) {
    let exercise = &entry.exercise;
    let (count, last) = (exercise.hints.len(), *shown.end());
    for (index, hint) in exercise.hints.iter().enumerate().filter(|(index, _)| shown.contains(&(index + 1))) {
        println!(
            "{}",
            format!("{:02} {}, hint {} of {count}", exercise.number, exercise.slug, index + 1).bold()
        );
        println!("{}\n", refill(hint));
    }
    if last < count {
        println!("more help: {}", message::command(&format!("hint {:02} {}", exercise.number, last + 1)));
    }
}

pub(crate) fn reset(kernel: &Path, reset: &Reset) {
    let kernel = Workspace::shown(kernel);
    match reset {
        Reset::NothingToDo => println!("{kernel} is the stub already"),
        Reset::Done { backup } => {
            println!("{kernel} is the stub again; your kernel is kept in {}", Workspace::shown(backup));
        }
    }
}

/// Shows the reference solution. The path is a comment, so that all of it is a source file still.
pub(crate) fn solution(entry: &Entry) {
    println!("// solutions/{}/kernel.cu", entry.folder);
    print!("{}", entry.exercise.solution);
}

/// Says what to do first.
pub(crate) fn solution_withheld(entry: &Entry) {
    let number = entry.exercise.number;
    println!("{number:02} {} has not passed yet, and solving it is what teaches.", entry.exercise.slug);
    println!("judge it:  {}", message::command(&format!("{number:02}")));
    println!("a hint:    {}", message::command(&format!("hint {number:02}")));
    println!("show it all the same:  {}", message::command(&format!("solution {number:02} --force")));
}

pub(crate) fn repeated(repeat: usize, row: &Verified) {
    let timing = row.timing.map_or_else(String::new, |timing| {
        format!(", {:.4} ms, {:.2}x, p {:.3}", timing.median.student, timing.speedup(), timing.position)
    });
    let mark = if row.is_good { "ok" } else { "FAIL" };
    eprintln!("{mark} {} {}, repeat {repeat}: {}{timing}", row.folder, row.what, row.got);
}

pub(crate) fn verified(rows: &[Verified], seconds: f64) {
    let is_repeated = rows.iter().any(|row| row.same.1 > 1);
    let mut heading = vec!["", "exercise", "file", "expected", "got", "speed-up", "seconds"];
    heading.extend(is_repeated.then_some("same verdict"));
    let mut table = Table::new(&heading);
    for row in rows {
        let same = is_repeated.then(|| format!("{} of {}", row.same.0, row.same.1));
        let cells = [
            if row.is_good { "ok" } else { "FAIL" }.to_owned(),
            row.folder.to_owned(),
            row.what.clone(),
            row.expected.clone(),
            row.got.clone(),
            row.timing.map_or_else(String::new, |t| format!("{:.2}x, p {:.2}", t.speedup(), t.position)),
            format!("{:.2}", row.seconds),
        ];
        table.row(cells.into_iter().chain(same));
    }
    let lines = table.lines();
    println!("{}", lines[0].dimmed());
    for (line, row) in lines[1..].iter().zip(rows) {
        if row.is_good { println!("{line}") } else { println!("{}", line.red()) }
    }
    let bad = rows.iter().filter(|row| !row.is_good).count();
    println!();
    if bad == 0 {
        println!(
            "{} in {seconds:.1} s",
            format!("{} are as they should be", message::counted(rows.len(), "file")).green().bold()
        );
    } else {
        println!(
            "{} in {seconds:.1} s",
            format!("{bad} of {} files are not as they should be", rows.len()).red().bold()
        );
    }
}

pub(crate) fn examined(rows: &[Examined]) {
    for row in rows {
        let mark = match row.state {
            Health::Works => "ok  ".green().to_string(),
            Health::Absent => "-   ".dimmed().to_string(),
            Health::Broken => "FAIL".red().bold().to_string(),
        };
        println!("{mark} {:<10} {}", row.what, hang(&row.found, 16));
        if let Some(help) = &row.help {
            println!("{:16}{}", "", hang(help, 16).bold());
        }
    }
}
