//! `checker gradescope run`: judges what a student handed in on Gradescope, and writes results.json. A
//! failing one is there from the start, and is replaced when there is a better one: whatever ends this
//! process, Gradescope has one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Arg, ArgMatches, Command, value_parser};

use ::class::gradescope::{Metadata, Results};
use ::class::import::{self, Fate, Options, System};
use ::class::page::Page;
use ::class::{Cell, Class, Policy};

use crate::cell::{self, Judged, Station};
use crate::exit::Exit;
use crate::grade::{Bench, Crowd, Interrupt};
use crate::message;
use crate::registry;
use crate::trial::DEFAULT_SEED;

/// Gradescope ends an autograder after ten minutes, and what it ends shows nothing. Judging may try twice,
/// and then the reference.
const LIMIT: Duration = Duration::from_secs(3 * 60);
/// What an assignment is worth that does not say so.
const POINTS: f64 = 10.0;
/// What students of a folder are called: there is one.
const STUDENT: &str = "submission";

pub(super) fn make_command() -> Command {
    Command::new("run")
        .about("Judge what was handed in on Gradescope, and write results.json (the autograder calls this)")
        .arg(Arg::new("exercise").long("exercise").value_name("EXERCISE").required(true).help("The exercise"))
        .arg(
            Arg::new("seed")
                .long("seed")
                .value_name("N")
                .value_parser(value_parser!(u64))
                .help("Of the inputs"),
        )
        .arg(
            Arg::new("policy")
                .long("policy")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("Weights of correctness and requirements"),
        )
        .arg(
            Arg::new("root")
                .long("root")
                .value_name("FOLDER")
                .default_value("/autograder")
                .value_parser(value_parser!(PathBuf))
                .help("The folder with submission/ and results/"),
        )
}

pub(super) fn execute(matches: &ArgMatches) -> Result<Exit> {
    let root = matches.get_one::<PathBuf>("root").cloned().unwrap_or_default();
    let metadata = std::fs::read(root.join("submission_metadata.json")).unwrap_or_default();
    let points = Metadata::parse(&metadata).total_points().unwrap_or(POINTS);
    let file = root.join("results").join("results.json");
    let write = |results: &Results| ::class::write_whole(&file, &results.text());
    write(&Results::failed(points, message::GRADESCOPE_CUT_SHORT))?;
    let results =
        judge(matches, &root, points).unwrap_or_else(|error| Results::failed(points, &format!("{error:#}")));
    write(&results)?;
    // The harness takes any other code for a broken autograder, and there are results.
    Ok(Exit::Passed)
}

fn judge(matches: &ArgMatches, root: &Path, points: f64) -> Result<Results> {
    let entry = registry::find(matches.get_one::<String>("exercise").map_or("", String::as_str))?;
    let course = cell::course();
    let policy = match matches.get_one::<PathBuf>("policy") {
        Some(path) => Policy::read(path, &course)?,
        None => Policy::default(),
    };
    // The files of one student, as a class of one.
    let scratch = tempfile::tempdir().context("no temporary folder can be made")?;
    let options = Options {
        course: &course,
        only: course.in_folder(entry.folder),
        system: Some(System::One(STUDENT)),
        known: &BTreeSet::new(),
    };
    let imported = import::import(&root.join("submission"), scratch.path(), &options)?;
    let class = Class::load(scratch.path())?;
    let Some(handin) = class.handins.values().next() else {
        let rows = imported.rows.iter().filter(|row| row.fate != Fate::Taken);
        let rows: Vec<String> = rows.map(|row| format!("{}: {}", row.file, row.why)).collect();
        return Ok(Results::failed(points, &message::gradescope_without_kernel(entry.folder, &rows)));
    };
    let Some(sha256) = handin.sha256.clone() else {
        return Ok(Results::failed(points, handin.problem.as_deref().unwrap_or_default()));
    };
    let bench = Bench {
        program: std::env::current_exe().context("this program's own file cannot be found")?,
        seed: matches.get_one::<u64>("seed").copied().unwrap_or(DEFAULT_SEED),
        engine: "sim".into(),
        wall_limit: LIMIT,
        // The container has its own limit; the child dies of it and leaves what was written first.
        memory: None,
        threads: 1,
        interrupt: Interrupt::listen().context("signals cannot be listened for")?,
        crowd: Crowd::default(),
    };
    let station = Station { host: String::new(), gpu: None, attempt: 0 };
    let cell = Cell { key: String::new(), exercise: entry.folder.to_owned(), sha256: sha256.clone() };
    let Some(Judged { outcome, judgement }) = cell::judge(scratch.path(), &bench, &station, &cell)? else {
        return Ok(Results::failed(points, message::GRADESCOPE_CUT_SHORT));
    };
    let text = String::from_utf8(Class::text(scratch.path(), &sha256)?).ok();
    let mark = ::class::mark(&policy, entry.folder, Some(handin), Some(&outcome), &[]);
    let person = ::class::Person { id: STUDENT.into(), name: STUDENT.into(), email: None };
    let written =
        ::class::gradebook::Entry { mark, handin: Some(handin.clone()), outcome: Some(outcome.clone()) };
    let page = Page {
        person: &person,
        exercise: entry.folder,
        entry: &written,
        judgement: judgement.as_ref(),
        source: text.as_deref(),
        picture: None,
    };
    Ok(Results::judged(&outcome, &policy, points, &page.markdown()))
}
