//! `checker look 06`: draws what the costliest requests of a kernel do, beside those of the reference.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use super::picture_file::PictureFile;
use super::toolchain;
use crate::exit::{Exit, UsageError};
use crate::registry;
use crate::report::{self, Looked};
use crate::submission::Submission;
use crate::trial::{self, DEFAULT_SEED};
use crate::workspace::Workspace;

pub(super) fn make_command() -> Command {
    let command = Command::new("look")
        .about("Draw which banks and which sectors your kernel's costliest requests touch, beside the reference's")
        .arg(
            Arg::new("exercise")
                .value_name("EXERCISE")
                .required(true)
                .help("Its number, or any part of its name"),
        )
        .arg(
            Arg::new("file")
                .long("file")
                .value_name("PATH")
                .value_parser(value_parser!(PathBuf))
                .help("Look at this file instead of the exercise's kernel.cu"),
        )
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print one JSON object"));
    PictureFile::with_arguments(command)
}

pub(super) fn execute(matches: &ArgMatches) -> Result<Exit> {
    let entry = registry::find(matches.get_one::<String>("exercise").map_or("", String::as_str))?;
    let picture = PictureFile::of(matches)?;
    let submission = match matches.get_one::<PathBuf>("file") {
        Some(path) => Submission::read(path).map_err(|error| UsageError(format!("--file: {error}")))?,
        None => {
            let workspace = Workspace::find()?;
            workspace.ensure_kernel(entry)?;
            Submission::read(&workspace.kernel(entry))?
        }
    };
    let toolchain = toolchain::ready()?;
    let survey =
        |source: &str, name: &str| trial::survey(&toolchain, &entry.exercise, source, name, DEFAULT_SEED);
    let yours = match survey(&submission.text, &submission.name())? {
        Ok(survey) => survey,
        Err(rejection) => {
            report::terminal::not_drawn(&submission, &rejection);
            return Ok(Exit::KernelAtFault);
        }
    };
    let reference = survey(entry.exercise.solution, "solution.cu")?.ok();
    let looked = Looked { entry, yours: &yours.worst, reference: reference.as_ref().map(|s| &s.worst[..]) };
    report::looked(&looked, matches.get_flag("json"));
    if let Some(picture) = picture {
        picture.write(&report::look_svg(&looked))?;
    }
    Ok(Exit::Passed)
}
