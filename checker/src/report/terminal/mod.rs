//! Text for people. Colour only on a terminal, and not where `NO_COLOR` is set.

mod class;
mod course;
mod excerpt;
mod fetch;
mod grade;
mod judgement;
mod keys;
mod look;
mod out;
mod probe;
mod roofline;
mod run;
mod table;
mod text;
mod why;

pub(super) use class::class_state;
pub(crate) use class::{
    CellProgress, exported, imported, obstacles, packed, planned, reported, without_address,
};
pub(super) use course::{examined, list, repeated, status, verified};
pub(crate) use course::{hints, reset, solution, solution_withheld};
pub(crate) use fetch::FetchProgress;
pub(super) use grade::graded;
pub(crate) use grade::{graded_one, grading_stopped, strange_results};
pub(super) use judgement::judged;
pub(crate) use keys::{Key, Keys, clear, was_last, watching};
pub(super) use look::looked;
pub(crate) use look::{not_drawn, wrote};
pub(super) use probe::probed;
pub(super) use roofline::placed;
pub(super) use run::run;
pub(super) use why::explained;
pub(crate) use why::not_predicted;

use std::path::Path;

use owo_colors::OwoColorize;

pub(crate) use text::MOST_COLUMNS;

use crate::message;
use text::paragraph;

/// Makes a panic read as what it is: a defect of this program, of which its authors want to know.
pub(crate) fn announce_bugs() {
    std::panic::set_hook(Box::new(|panic| {
        let payload = panic.payload();
        let what = payload.downcast_ref::<&str>().copied();
        let what =
            what.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
        let place = panic.location().map(|at| format!(" at {}:{}", at.file(), at.line())).unwrap_or_default();
        out::eprintln!(
            "{} {what}{place}\nThis is a bug in the checker, not in your kernel. Please report it with the kernel's source.",
            "internal error:".red().bold()
        );
    }));
}

/// Says, on standard error, which course is used where that is not plain.
pub(crate) fn course_elsewhere(root: &Path) {
    out::eprintln!("{}", paragraph(&format!("course: {}", message::course_elsewhere(root)), "  "));
}

/// Prints an error that kept a command from being done.
pub(crate) fn error(error: &anyhow::Error) {
    // Errors that wrap others often repeat them; each message is said once.
    let mut said = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !said.contains(&cause) {
            said = format!("{said}: {cause}");
        }
    }
    out::eprintln!("{}", paragraph(&format!("{} {said}", "error:".red().bold()), ""));
}
