//! `checker gradescope`: an autograder for Gradescope, where a GPU course is graded without GPUs.

mod pack;
mod run;

use anyhow::Result;
use clap::{ArgMatches, Command};

use crate::exit::Exit;

pub(super) fn make_command() -> Command {
    Command::new("gradescope")
        .about("Grade on Gradescope: pack an autograder, and run as one")
        .subcommand_required(true)
        .disable_help_subcommand(true)
        .subcommand(pack::make_command())
        .subcommand(run::make_command())
}

pub(super) fn execute(matches: &ArgMatches) -> Result<Exit> {
    match matches.subcommand() {
        Some(("pack", matches)) => pack::execute(matches),
        Some(("run", matches)) => run::execute(matches),
        _ => Ok(Exit::Usage),
    }
}
