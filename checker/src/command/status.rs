//! `checker` alone: what is done, and what is next.

use anyhow::Result;
use clap::{Arg, ArgAction, ArgMatches, Command};

use super::course;
use crate::exit::Exit;
use crate::progress::Progress;
use crate::registry;
use crate::report;

pub(super) fn make_command() -> Command {
    Command::new("status")
        .about("Say what is done and what is next; so does no command at all")
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print one JSON object"))
}

pub(super) fn execute(matches: &ArgMatches) -> Result<Exit> {
    let workspace = course::open()?;
    let progress = Progress::load(&workspace);
    let states: Vec<_> =
        registry::all().iter().map(|entry| (entry, progress.state(&workspace, entry))).collect();
    report::status(&states, progress.next(&workspace), matches.get_flag("json"));
    Ok(Exit::Passed)
}
