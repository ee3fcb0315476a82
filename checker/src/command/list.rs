//! `checker list`: all exercises.

use anyhow::Result;
use clap::{Arg, ArgAction, ArgMatches, Command};

use super::course;
use crate::exit::Exit;
use crate::progress::{Progress, State};
use crate::registry;
use crate::report;

pub(super) fn make_command() -> Command {
    Command::new("list")
        .about("List the exercises, and what each one teaches")
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print one JSON array"))
}

pub(super) fn execute(matches: &ArgMatches) -> Result<Exit> {
    let workspace = course::open().ok();
    let state = |entry| {
        let workspace = workspace.as_ref()?;
        Some(Progress::load(workspace).state(workspace, entry))
    };
    let states: Vec<_> =
        registry::all().iter().map(|entry| (entry, state(entry).unwrap_or(State::Untouched))).collect();
    report::list(&states, matches.get_flag("json"));
    Ok(Exit::Passed)
}
