//! `checker class export CLASS --into FOLDER`: hand-ins for a detector of similar programs.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Arg, ArgMatches, Command, value_parser};

use ::class::Class;

use super::{folder, folder_argument, path};
use crate::cell;
use crate::exit::Exit;
use crate::report;

pub(super) fn make_command() -> Command {
    Command::new("export")
        .about("Write hand-ins as JPlag and Dolos take them, to look for copies")
        .arg(folder_argument())
        .arg(
            Arg::new("into")
                .long("into")
                .value_name("FOLDER")
                .default_value("similarity")
                .value_parser(value_parser!(PathBuf))
                .help("Where they are written"),
        )
}

pub(super) fn execute(matches: &ArgMatches) -> Result<Exit> {
    let folder = folder(matches)?;
    let class = Class::load(&folder)?;
    let exported = ::class::export(&folder, &class, &cell::course(), &path(matches, "into"))?;
    report::terminal::exported(&exported);
    Ok(Exit::Passed)
}
