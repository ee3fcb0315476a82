//! `checker hint 05`: help, a little at a time.

use anyhow::Result;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use crate::exit::Exit;
use crate::registry;
use crate::report;

pub(super) fn make_command() -> Command {
    Command::new("hint")
        .about("Show a hint: the first one, or the one of the given number")
        .arg(
            Arg::new("exercise")
                .value_name("EXERCISE")
                .required(true)
                .help("Its number, or any part of its name"),
        )
        .arg(
            Arg::new("number")
                .value_name("NUMBER")
                .value_parser(value_parser!(u64).range(1..=3))
                .default_value("1")
                .help("1 to 3; each helps more than the one before"),
        )
        .arg(
            Arg::new("all")
                .long("all")
                .action(ArgAction::SetTrue)
                .conflicts_with("number")
                .help("Show all three"),
        )
}

pub(super) fn execute(matches: &ArgMatches) -> Result<Exit> {
    let entry = registry::find(matches.get_one::<String>("exercise").map_or("", String::as_str))?;
    let number = matches.get_one::<u64>("number").map_or(1, |number| *number as usize);
    let shown = if matches.get_flag("all") { 1..=entry.exercise.hints.len() } else { number..=number };
    report::terminal::hints(entry, shown);
    Ok(Exit::Passed)
}
