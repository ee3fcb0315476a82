//! `checker class import SRC --into CLASS`: takes in what was downloaded.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Arg, ArgMatches, Command, value_parser};

use ::class::import::{self, ImportError, Options, System};

use super::{file_argument, path, roster};
use crate::cell;
use crate::exit::{Exit, UsageError};
use crate::registry;
use crate::report;

pub(super) fn make_command() -> Command {
    Command::new("import")
        .about("Take in a zip or folder from Canvas, Gradescope or Moodle, or one folder for each student")
        .after_help(
            "Zips are read in memory; nothing but .cu files is written. What became of each file is in \
             CLASS/import.csv. Importing again adds what is new, and replaces what was handed in \
             again.\n\n\
             The exercise is told by the number that a name begins with (05, 5-transpose, \
             05_transpose_coalescing.cu) or by its whole short name, of a .cu file or of a folder. With \
             --exercise, whatever names none is for that one. Of several files for one exercise, kernel.cu \
             comes first, then one named for the exercise, then the only one; of kernel.cu, kernel-1.cu \
             and kernel (2).cu the latest. Zips that students handed in are looked into.",
        )
        .arg(
            Arg::new("source")
                .value_name("SRC")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("The zip or the folder"),
        )
        .arg(
            Arg::new("into")
                .long("into")
                .value_name("CLASS")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("The class's folder, made if need be"),
        )
        .arg(
            Arg::new("exercise")
                .long("exercise")
                .value_name("EXERCISE")
                .help("All of it is for this exercise"),
        )
        .arg(
            Arg::new("from")
                .long("from")
                .value_name("SYSTEM")
                .value_parser(System::NAMES)
                .help("Where it is from; found out if left out"),
        )
        .arg(file_argument("roster", "The gradebook or roster, for names that can be read in two ways"))
}

pub(super) fn execute(matches: &ArgMatches) -> Result<Exit> {
    let (source, folder) = (path(matches, "source"), path(matches, "into"));
    let course = cell::course();
    let only = matches.get_one::<String>("exercise").map(|name| registry::find(name)).transpose()?;
    let only = only.and_then(|entry| course.in_folder(entry.folder));
    let known = roster(matches, &folder)?.map(|roster| roster.ids()).unwrap_or_default();
    let system = matches.get_one::<String>("from").and_then(|name| System::named(name));
    let options = Options { course: &course, only, system, known: &known };
    let imported = import::import(&source, &folder, &options).map_err(|error| match error {
        ImportError::Store(error) => anyhow::Error::from(error),
        error => UsageError(error.to_string()).into(),
    })?;
    let class = ::class::Class::load(&folder)?;
    let table = folder.join("import.csv");
    ::class::write_whole(&table, import::csv(&imported.rows).as_bytes())?;
    report::terminal::imported(&imported, &class, &table);
    Ok(Exit::Passed)
}
