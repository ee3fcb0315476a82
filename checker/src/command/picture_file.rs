//! The options `--svg FILE` and `--force` of the commands that draw.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use crate::exit::usage;
use crate::report;

/// Where to write a picture.
pub(super) struct PictureFile {
    path: PathBuf,
    force: bool,
}

impl PictureFile {
    pub(super) fn with_arguments(command: Command) -> Command {
        command
            .arg(
                Arg::new("svg")
                    .long("svg")
                    .value_name("FILE")
                    .value_parser(value_parser!(PathBuf))
                    .help("Write the picture to this file, too"),
            )
            .arg(
                Arg::new("force")
                    .long("force")
                    .action(ArgAction::SetTrue)
                    .requires("svg")
                    .help("Replace the file if it exists"),
            )
    }

    /// The file that was asked for, if any.
    ///
    /// # Errors
    /// If it exists and must not be replaced. That is found out before any work is done.
    pub(super) fn of(matches: &ArgMatches) -> Result<Option<PictureFile>> {
        let Some(path) = matches.get_one::<PathBuf>("svg").cloned() else { return Ok(None) };
        let force = matches.get_flag("force");
        if !force && path.symlink_metadata().is_ok() {
            return usage(format!("{} exists; --force replaces it", path.display()));
        }
        Ok(Some(PictureFile { path, force }))
    }

    /// Writes the picture.
    ///
    /// # Errors
    /// If the file cannot be written, or has come to exist meanwhile.
    pub(super) fn write(&self, svg: &str) -> Result<()> {
        let mut options = OpenOptions::new();
        options.write(true);
        if self.force {
            options.create(true).truncate(true)
        } else {
            options.create_new(true)
        };
        let written = options.open(&self.path).and_then(|mut file| file.write_all(svg.as_bytes()));
        written.with_context(|| format!("{} cannot be written", self.path.display()))?;
        report::terminal::wrote(&self.path);
        Ok(())
    }
}
