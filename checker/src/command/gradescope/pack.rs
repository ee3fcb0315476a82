//! `checker gradescope pack`: the zip to upload as an assignment's autograder.

use std::io::{Cursor, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Arg, ArgMatches, Command, value_parser};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::exit::{Exit, UsageError};
use crate::registry;
use crate::report;

/// Runs once, when Gradescope builds its image: the compiler is fetched there, and what is missing shows at
/// once.
const SETUP: &str = "#!/usr/bin/env bash\nset -euo pipefail\n\
    apt-get update && apt-get install -y --no-install-recommends python3-pip\n\
    chmod +x /autograder/source/checker\n\
    export HOME=/root\n\
    /autograder/source/checker doctor\n";

pub(super) fn make_command() -> Command {
    Command::new("pack")
        .about("Write the autograder of one exercise, a zip for Gradescope")
        .after_help(
            "The zip holds this very program: build it with --release, on a system no newer than the base \
             image that you choose on Gradescope. 0.5 CPU and 768 MB are enough.",
        )
        .arg(
            Arg::new("exercise")
                .long("exercise")
                .value_name("EXERCISE")
                .required(true)
                .help("The assignment's exercise"),
        )
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("FILE")
                .default_value("autograder.zip")
                .value_parser(value_parser!(PathBuf))
                .help("The zip"),
        )
        .arg(
            Arg::new("seed")
                .long("seed")
                .value_name("N")
                .value_parser(value_parser!(u64))
                .help("Draw the inputs from this seed, which students don't know"),
        )
        .arg(
            Arg::new("policy").long("policy").value_name("FILE").value_parser(value_parser!(PathBuf)).help(
                "Weights of correctness and requirements; Gradescope itself knows points and late days",
            ),
        )
}

pub(super) fn execute(matches: &ArgMatches) -> Result<Exit> {
    let entry = registry::find(matches.get_one::<String>("exercise").map_or("", String::as_str))?;
    let output = matches.get_one::<PathBuf>("output").cloned().unwrap_or_default();
    let program = std::env::current_exe().context("this program's own file cannot be found")?;
    let program = std::fs::read(&program).with_context(|| format!("{} cannot be read", program.display()))?;
    let mut options = format!("--exercise {}", entry.folder);
    if let Some(seed) = matches.get_one::<u64>("seed") {
        options += &format!(" --seed {seed}");
    }
    let policy = matches.get_one::<PathBuf>("policy");
    if let Some(path) = policy {
        // A mistake in it is found now, and not when the first student hands in.
        ::class::Policy::read(path, &crate::cell::course()).map_err(|error| UsageError(error.to_string()))?;
        options += " --policy /autograder/source/policy.toml";
    }
    let run = format!(
        "#!/usr/bin/env bash\nexport HOME=/root\nexec /autograder/source/checker gradescope run {options}\n"
    );
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let mut add = |name: &str, mode: u32, bytes: &[u8]| -> Result<()> {
        zip.start_file(name, SimpleFileOptions::default().unix_permissions(mode))?;
        zip.write_all(bytes)?;
        Ok(())
    };
    add("setup.sh", 0o755, SETUP.as_bytes())?;
    add("run_autograder", 0o755, run.as_bytes())?;
    add("checker", 0o755, &program)?;
    if let Some(path) = policy {
        add("policy.toml", 0o644, &std::fs::read(path)?)?;
    }
    let bytes = zip.finish()?.into_inner();
    ::class::write_whole(&output, &bytes)?;
    report::terminal::packed(&output, bytes.len());
    Ok(Exit::Passed)
}
