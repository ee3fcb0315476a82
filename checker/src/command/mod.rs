//! The commands, one file each, with the same two functions: what it takes, and what it does.

mod class;
mod course;
mod doctor;
mod grade;
mod gradescope;
mod hint;
mod judge;
mod list;
mod look;
mod picture_file;
mod probe;
mod reset;
mod roofline;
mod run;
mod solution;
mod status;
mod toolchain;
mod verify;
mod watch;
mod why;

use anyhow::Result;
use clap::{ArgMatches, Command};

use crate::exit::Exit;
use crate::message;
use crate::report;

/// What a command takes.
type Make = fn() -> Command;
/// What it does.
type Execute = fn(&ArgMatches) -> Result<Exit>;

/// Every command by its name. `checker 05` is short for `checker judge 05`, `checker` for `checker status`.
const COMMANDS: &[(Make, Execute)] = &[
    (judge::make_command, judge::execute),
    (status::make_command, status::execute),
    (list::make_command, list::execute),
    (hint::make_command, hint::execute),
    (watch::make_command, watch::execute),
    (look::make_command, look::execute),
    (why::make_command, why::execute),
    (roofline::make_command, roofline::execute),
    (reset::make_command, reset::execute),
    (solution::make_command, solution::execute),
    (run::make_command, run::execute),
    (verify::make_command, verify::execute),
    (grade::make_command, grade::execute),
    (class::make_command, class::execute),
    (gradescope::make_command, gradescope::execute),
    (doctor::make_command, doctor::execute),
    (probe::make_command, probe::execute),
];

/// Reads the command line and does what it says.
///
/// # Errors
/// What kept the command from being done.
pub(crate) fn execute() -> Result<Exit> {
    let matches = make_command().get_matches();
    match matches.subcommand() {
        Some((name, matches)) => {
            let command = COMMANDS.iter().find(|(make, _)| make().get_name() == name);
            command.map_or(Ok(Exit::Usage), |(_, execute)| execute(matches))
        }
        None if matches.contains_id("exercise") => judge::execute(&matches),
        None => status::execute(&matches),
    }
}

fn make_command() -> Command {
    let top = judge::with_arguments(Command::new("checker"), false)
        .bin_name(message::command(""))
        .version(env!("CARGO_PKG_VERSION"))
        .about("Judges the Warplings exercises, and runs any CUDA kernel under checks, with or without a GPU")
        .override_usage(format!(
            "{} [EXERCISE] [OPTIONS]\n       {} <COMMAND>",
            message::command(""),
            message::command("")
        ))
        .after_help(format!(
            "`{}` says what is next, `{}` judges exercise 05 (a part of its name does too).\n\
             Exit codes: 0 passed or clean, 1 the kernel is at fault, 2 bad usage, 3 could not judge, 4 inconclusive.",
            message::command(""),
            message::command("05")
        ))
        .args_conflicts_with_subcommands(true)
        .disable_help_subcommand(true);
    // Without a terminal to ask for its width, as wide as other text.
    let top = top.max_term_width(report::terminal::MOST_COLUMNS);
    COMMANDS.iter().fold(top, |top, (make, _)| top.subcommand(make()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        make_command().debug_assert();
    }

    #[test]
    fn exercises_and_commands_are_told_apart() {
        let parse = |args: &[&str]| make_command().try_get_matches_from([&["checker"], args].concat());
        let judged = parse(&["05", "--json"]).expect("an exercise");
        assert_eq!(judged.get_one::<String>("exercise").map(String::as_str), Some("05"));
        assert_eq!(parse(&["list"]).expect("a command").subcommand_name(), Some("list"));
        assert!(parse(&["05", "06"]).is_err());
        assert!(parse(&["--frobnicate"]).is_err());
    }
}
