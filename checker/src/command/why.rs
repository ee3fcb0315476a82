//! `checker why 05`: where a kernel's predicted time goes, line by line, beside the reference.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use super::picture_file::PictureFile;
use super::{course, judge, toolchain};
use crate::exit::{Exit, UsageError, usage};
use crate::machine::DEFAULT_GPU;
use crate::message;
use crate::registry;
use crate::report::{self, Explained};
use crate::submission::Submission;
use crate::trial;

pub(super) fn make_command() -> Command {
    let command = Command::new("why")
        .about("Show where your kernel's time goes on a GPU, as predicted: by line and by cause, beside the reference")
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
                .help("Explain this file instead of the exercise's kernel.cu"),
        )
        .arg(judge::gpu_argument())
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print one JSON object"));
    PictureFile::with_arguments(command)
}

pub(super) fn execute(matches: &ArgMatches) -> Result<Exit> {
    let entry = registry::find(matches.get_one::<String>("exercise").map_or("", String::as_str))?;
    let picture = PictureFile::of(matches)?;
    let name = matches.get_one::<String>("gpu").map_or(DEFAULT_GPU, String::as_str);
    let gpu = clock::Gpu::named(name).map_err(|error| UsageError(format!("--gpu: {error}")))?;
    let exercise = &entry.exercise;
    let Some(speed) = exercise.speed else { return usage(message::forecast::no_speed(exercise.number)) };
    let submission = match matches.get_one::<PathBuf>("file") {
        Some(path) => Submission::read(path).map_err(|error| UsageError(format!("--file: {error}")))?,
        None => {
            let workspace = course::open()?;
            workspace.ensure_kernel(entry)?;
            Submission::read(&workspace.kernel(entry))?
        }
    };
    let toolchain = toolchain::ready()?;
    let predict =
        |source: &str, name: &str| trial::of_source(&toolchain, exercise, source, name, speed.size, &gpu);
    let (yours, reference) = rayon::join(
        || predict(&submission.text, &submission.name()),
        || predict(exercise.solution, "solution.cu"),
    );
    let yours = match yours? {
        Ok(yours) => yours,
        Err(why) => {
            report::terminal::not_predicted(&submission, &why);
            return Ok(Exit::NotJudged);
        }
    };
    let explained = Explained {
        entry,
        submission: &submission,
        gpu: &gpu,
        size: message::size(exercise, speed.size),
        yours: &yours,
        reference: reference?.ok(),
    };
    report::explained(&explained, matches.get_flag("json"));
    if let Some(picture) = picture {
        picture.write(&report::why_svg(&explained))?;
    }
    Ok(Exit::Passed)
}
