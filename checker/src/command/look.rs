//! `checker look 06`: draws what the costliest requests of a kernel do and where a block's work lies, beside the reference.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::Result;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use super::course;
use super::picture_file::PictureFile;
use super::toolchain;
use crate::exit::{Exit, UsageError, usage};
use crate::message;
use crate::registry;
use crate::report::{self, Looked};
use crate::submission::Submission;
use crate::trial::{self, DEFAULT_SEED};

pub(super) fn make_command() -> Command {
    let command = Command::new("look")
        .about("Draw what your kernel touches (banks, sectors, and where a block's work lies), beside the reference")
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
        .arg(
            Arg::new("block")
                .long("block")
                .value_name("X[,Y[,Z]]")
                .value_parser(value_parser!(BlockIndex))
                .default_value("0,0,0")
                .help("The block whose work is drawn, by its blockIdx"),
        )
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print one JSON object"));
    PictureFile::with_arguments(command)
}

pub(super) fn execute(matches: &ArgMatches) -> Result<Exit> {
    let entry = registry::find(matches.get_one::<String>("exercise").map_or("", String::as_str))?;
    let picture = PictureFile::of(matches)?;
    let block = matches.get_one::<BlockIndex>("block").map_or([0; 3], |index| index.0);
    let submission = match matches.get_one::<PathBuf>("file") {
        Some(path) => Submission::read(path).map_err(|error| UsageError(format!("--file: {error}")))?,
        None => {
            let workspace = course::open()?;
            workspace.ensure_kernel(entry)?;
            Submission::read(&workspace.kernel(entry))?
        }
    };
    let toolchain = toolchain::ready()?;
    let survey = |source: &str, name: &str| {
        trial::survey(&toolchain, &entry.exercise, source, name, DEFAULT_SEED, Some(block))
    };
    let yours = match survey(&submission.text, &submission.name())? {
        Ok(survey) => survey,
        Err(rejection) => {
            report::terminal::not_drawn(&submission, &rejection);
            return Ok(Exit::KernelAtFault);
        }
    };
    if block.iter().zip(yours.grid).any(|(index, extent)| *index >= extent) {
        return usage(message::no_such_block(block, yours.grid));
    }
    let reference = survey(entry.exercise.solution, "solution.cu")?.ok();
    let looked = Looked { entry, block, yours: &yours, reference: reference.as_ref() };
    report::looked(&looked, matches.get_flag("json"));
    if let Some(picture) = picture {
        picture.write(&report::look_svg(&looked))?;
    }
    Ok(Exit::Passed)
}

/// `X[,Y[,Z]]`; what is left out is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BlockIndex([u32; 3]);

impl FromStr for BlockIndex {
    type Err = String;

    fn from_str(text: &str) -> Result<BlockIndex, String> {
        let mut index = [0; 3];
        let parts: Vec<&str> = text.split(',').collect();
        if parts.len() > 3 {
            return Err(format!("{} numbers were given; expected X, X,Y or X,Y,Z", parts.len()));
        }
        for (place, part) in index.iter_mut().zip(parts) {
            *place = part.trim().parse().map_err(|_| format!("`{part}` is no index; expected X[,Y[,Z]]"))?;
        }
        Ok(BlockIndex(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_that_are_left_out_are_zero() {
        assert_eq!("4".parse(), Ok(BlockIndex([4, 0, 0])));
        assert_eq!("4, 5".parse(), Ok(BlockIndex([4, 5, 0])));
        for text in ["", "x", "1,2,3,4", "-1"] {
            assert!(text.parse::<BlockIndex>().is_err(), "{text}");
        }
    }
}
