//! Text for people. Colour only on a terminal, and not where `NO_COLOR` is set.

mod course;
mod excerpt;
mod fetch;
mod judgement;
mod run;
mod table;

pub(super) use course::{examined, list, status, verified};
pub(crate) use course::{hints, reset};
pub(crate) use fetch::FetchProgress;
pub(super) use judgement::judged;
pub(super) use run::run;

use owo_colors::OwoColorize;

/// Prints an error that kept a command from being done.
pub(crate) fn error(error: &anyhow::Error) {
    // Errors that wrap others often repeat them; each message is said once.
    let mut said = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !said.contains(&cause) {
            said = format!("{said}: {cause}");
        }
    }
    anstream::eprintln!("{} {said}", "error:".red().bold());
}
