//! `checker class status CLASS`: how far judging has come.

use anyhow::Result;
use clap::{Arg, ArgAction, ArgMatches, Command};

use ::class::Plan;

use super::{folder, folder_argument};
use crate::exit::Exit;
use crate::report;

pub(super) fn make_command() -> Command {
    Command::new("status")
        .about("Tell how far judging has come, and which tasks are not done")
        .arg(folder_argument())
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print one JSON object"))
}

pub(super) fn execute(matches: &ArgMatches) -> Result<Exit> {
    let folder = folder(matches)?;
    let plan = Plan::load(&folder, None)?;
    let merged = ::class::merge(&folder)?;
    let state = plan.state(&merged.outcomes);
    report::class_state(&plan, &state, &merged, matches.get_flag("json"));
    Ok(if state.is_complete() { Exit::Passed } else { Exit::NotJudged })
}
