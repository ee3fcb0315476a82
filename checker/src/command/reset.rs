//! `checker reset 05`: brings the stub back, and keeps what was there.

use anyhow::Result;
use clap::{Arg, ArgMatches, Command};

use super::course;
use crate::exit::Exit;
use crate::progress::Progress;
use crate::registry;
use crate::report;

pub(super) fn make_command() -> Command {
    Command::new("reset").about("Bring an exercise's stub back; your kernel is kept beside it").arg(
        Arg::new("exercise")
            .value_name("EXERCISE")
            .required(true)
            .help("Its number, or any part of its name"),
    )
}

pub(super) fn execute(matches: &ArgMatches) -> Result<Exit> {
    let entry = registry::find(matches.get_one::<String>("exercise").map_or("", String::as_str))?;
    let workspace = course::open()?;
    let reset = workspace.reset(entry)?;
    // The state follows from the file; only a stale pass of the very stub must go.
    let _ = Progress::record(&workspace, entry, entry.exercise.stub, false);
    report::terminal::reset(&workspace.kernel(entry), &reset);
    Ok(Exit::Passed)
}
