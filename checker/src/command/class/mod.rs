//! `checker class`: grading a class, from what Canvas, Gradescope or Moodle exports to marks, on one machine
//! or many.

mod collect;
mod export;
mod import;
mod plan;
mod report;
mod status;
mod work;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use crate::exit::{Exit, UsageError, usage};
use crate::registry;

/// What a command takes, and what it does.
type Step = (fn() -> Command, fn(&ArgMatches) -> Result<Exit>);

/// The steps of grading, in their order.
const STEPS: &[Step] = &[
    (import::make_command, import::execute),
    (plan::make_command, plan::execute),
    (work::make_command, work::execute),
    (status::make_command, status::execute),
    (collect::make_command, collect::execute),
    (report::make_command, report::execute),
    (export::make_command, export::execute),
];

pub(super) fn make_command() -> Command {
    let command = Command::new("class")
        .about("Grade a class: import hand-ins, judge them on one machine or a cluster, collect marks")
        .after_help(
            "The steps, for one machine:\n checker class import submissions.zip --into CLASS --exercise \
             05\n checker class plan CLASS\n checker class work CLASS\n checker class collect CLASS \
             --format canvas --roster gradebook.csv --title \"Transpose\" --output marks.csv\n\
             On a cluster, `sbatch CLASS/job.sbatch` takes the place of `class work`.\n\n\
             All of a class is in one folder: what was handed in, the plans, the results. policy.toml and \
             roster.csv in it are used if they are there. secret.json holds the seed of the inputs; \
             students must not see it.",
        )
        .subcommand_required(true)
        .disable_help_subcommand(true);
    STEPS.iter().fold(command, |command, (make, _)| command.subcommand(make()))
}

pub(super) fn execute(matches: &ArgMatches) -> Result<Exit> {
    let Some((name, matches)) = matches.subcommand() else { return Ok(Exit::Usage) };
    let step = STEPS.iter().find(|(make, _)| make().get_name() == name);
    step.map_or(Ok(Exit::Usage), |(_, execute)| execute(matches))
}

/// The argument CLASS.
fn folder_argument() -> Arg {
    Arg::new("class")
        .value_name("CLASS")
        .required(true)
        .value_parser(value_parser!(PathBuf))
        .help("The folder that `class import` made")
}

/// The folder that CLASS means.
///
/// # Errors
/// If it is none.
fn folder(matches: &ArgMatches) -> Result<PathBuf> {
    let folder = path(matches, "class");
    if !folder.join("class.json").is_file() {
        return usage(format!("{} is no class; `class import` makes one", folder.display()));
    }
    Ok(folder)
}

fn path(matches: &ArgMatches, name: &str) -> PathBuf {
    matches.get_one::<PathBuf>(name).cloned().unwrap_or_default()
}

fn file_argument(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("FILE").value_parser(value_parser!(PathBuf)).help(help)
}

/// The option `--exercise`, which can be given several times.
fn exercises_argument(help: &'static str) -> Arg {
    Arg::new("exercise").long("exercise").value_name("EXERCISE").action(ArgAction::Append).help(help)
}

/// The folders of the exercises that were named.
///
/// # Errors
/// If one is not known.
fn exercises(matches: &ArgMatches) -> Result<Vec<String>> {
    let names = matches.get_many::<String>("exercise").into_iter().flatten();
    let mut folders: Vec<String> =
        names.map(|name| Ok(registry::find(name)?.folder.to_owned())).collect::<Result<_>>()?;
    folders.sort();
    folders.dedup();
    Ok(folders)
}

/// The roster that was given, else the one in the class's folder, if any.
///
/// # Errors
/// If it cannot be used.
fn roster(matches: &ArgMatches, folder: &std::path::Path) -> Result<Option<::class::Roster>> {
    let given = matches.get_one::<PathBuf>("roster").cloned();
    let path = given.or_else(|| Some(folder.join("roster.csv")).filter(|path| path.is_file()));
    let read =
        |path: PathBuf| ::class::Roster::read(&path).map_err(|error| UsageError(error.to_string()).into());
    path.map(read).transpose()
}

/// The policy that was given, else the one in the class's folder, else the plainest.
///
/// # Errors
/// If it cannot be used.
fn policy(matches: &ArgMatches, folder: &std::path::Path) -> Result<::class::Policy> {
    let given = matches.get_one::<PathBuf>("policy").cloned();
    let path = given.or_else(|| Some(folder.join("policy.toml")).filter(|path| path.is_file()));
    let Some(path) = path else { return Ok(::class::Policy::default()) };
    ::class::Policy::read(&path, &crate::cell::course()).map_err(|error| UsageError(error.to_string()).into())
}
