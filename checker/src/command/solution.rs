//! `checker solution 05`: the reference solution, once you have your own.

use anyhow::Result;
use clap::{Arg, ArgAction, ArgMatches, Command};

use super::course;
use crate::exit::Exit;
use crate::progress::Progress;
use crate::registry;
use crate::report;

pub(super) fn make_command() -> Command {
    Command::new("solution")
        .about("Show the reference solution of an exercise that you have passed")
        .arg(
            Arg::new("exercise")
                .value_name("EXERCISE")
                .required(true)
                .help("Its number, or any part of its name"),
        )
        .arg(Arg::new("force").long("force").action(ArgAction::SetTrue).help("Show it in any case"))
}

pub(super) fn execute(matches: &ArgMatches) -> Result<Exit> {
    let entry = registry::find(matches.get_one::<String>("exercise").map_or("", String::as_str))?;
    if !matches.get_flag("force") && !Progress::load(&course::open()?).has_passed(entry) {
        report::terminal::solution_withheld(entry);
        return Ok(Exit::KernelAtFault);
    }
    report::terminal::solution(entry);
    Ok(Exit::Passed)
}
