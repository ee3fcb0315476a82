//! `checker class collect CLASS`: from results and policy to a file that a gradebook takes.

use std::path::Path;

use anyhow::{Result, bail};
use clap::{Arg, ArgAction, ArgMatches, Command};

use ::class::gradebook::{self, Gradebook, Sources};
use ::class::{Class, Merged, Plan, Policy, Roster};

use super::{exercises, exercises_argument, file_argument, folder, folder_argument, policy, roster};
use crate::exit::{Exit, UsageError};
use crate::report;

pub(super) fn make_command() -> Command {
    Command::new("collect")
        .about("Write marks: CSV, a file for Canvas or Moodle, JUnit XML, or JSON")
        .after_help(
            "Points, weights and late days are those of policy.toml; a change of it costs no judging. \
             Canvas takes its own gradebook export as --roster and gets one assignment, --title, back: the \
             sum of the exercises that are collected. Who is in the roster and handed in nothing has a \
             row.\n\n\
             Where something has no verdict, nothing is written and the exit code is 3; with --partial \
             such a mark is left empty (in Canvas, as it was).",
        )
        .arg(folder_argument())
        .arg(
            Arg::new("format")
                .long("format")
                .value_name("FORMAT")
                .value_parser(["csv", "canvas", "moodle", "junit", "json"])
                .default_value("csv")
                .help("What is written"),
        )
        .arg(exercises_argument("Collect only this exercise; can be given several times"))
        .arg(file_argument("roster", "Everybody; CLASS/roster.csv if left out and there"))
        .arg(file_argument("policy", "Points and late days; CLASS/policy.toml if left out and there"))
        .arg(
            Arg::new("title")
                .long("title")
                .value_name("TITLE")
                .default_value("Warplings")
                .help("The assignment's name in Canvas or Moodle"),
        )
        .arg(file_argument("output", "Write to this file; to standard output if left out"))
        .arg(
            Arg::new("partial")
                .long("partial")
                .action(ArgAction::SetTrue)
                .help("Write although marks are missing"),
        )
}

/// A class with all that its marks follow from.
pub(super) struct Collection {
    pub(super) class: Class,
    pub(super) plan: Plan,
    pub(super) merged: Merged,
    pub(super) roster: Option<Roster>,
    policy: Policy,
    only: Vec<String>,
}

impl Collection {
    /// Reads it.
    ///
    /// # Errors
    /// If something is damaged, or there is no plan.
    pub(super) fn load(matches: &ArgMatches, folder: &Path) -> Result<Collection> {
        Ok(Collection {
            class: Class::load(folder)?,
            plan: Plan::load(folder, None)?,
            merged: ::class::merge(folder)?,
            roster: roster(matches, folder)?,
            policy: policy(matches, folder)?,
            only: exercises(matches)?,
        })
    }

    /// The marks.
    pub(super) fn gradebook(&self) -> Gradebook {
        Gradebook::new(Sources {
            class: &self.class,
            plan: &self.plan,
            outcomes: &self.merged.outcomes,
            roster: self.roster.as_ref(),
            policy: &self.policy,
            only: &self.only,
        })
    }
}

pub(super) fn execute(matches: &ArgMatches) -> Result<Exit> {
    let folder = folder(matches)?;
    let collection = Collection::load(matches, &folder)?;
    let book = collection.gradebook();
    let is_sound = report::terminal::obstacles(&book, &collection.merged.alarms);
    if !is_sound && !matches.get_flag("partial") {
        bail!("nothing was written; `class work` judges what is open, --partial leaves it out");
    }
    let title = matches.get_one::<String>("title").map_or("Warplings", String::as_str);
    let text = match matches.get_one::<String>("format").map_or("csv", String::as_str) {
        "canvas" => gradebook::canvas(&book, collection.roster.as_ref(), title)
            .map_err(|error| UsageError(error.to_string()))?,
        "moodle" => {
            let (text, left_out) = gradebook::moodle(&book, title);
            report::terminal::without_address(&left_out);
            text
        }
        "junit" => gradebook::junit(&book),
        "json" => serde_json::to_string_pretty(&gradebook::json(&book))? + "\n",
        _ => gradebook::csv(&book),
    };
    match matches.get_one::<std::path::PathBuf>("output") {
        Some(path) => ::class::write_whole(path, text.as_bytes())?,
        None => report::file(&text),
    }
    Ok(Exit::Passed)
}
