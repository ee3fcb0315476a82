//! `checker verify`: the course judges itself. Every stub must fail for its intended reason, every solution must
//! pass, and every classic mistake must be rejected as its header says.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::{Arg, ArgAction, ArgMatches, Command};
use cuda::nvrtc::Toolchain;
use exercise::{Exercise, Expectation, ExpectationError};
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::toolchain;
use crate::compile::{self, Rejection};
use crate::exit::Exit;
use crate::judge::{CaseVerdict, RequirementJudgement, Verdict};
use crate::machine::Machine;
use crate::message;
use crate::registry::{self, Entry};
use crate::report::{self, Verified};
use crate::submission::Submission;
use crate::trial::{self, Attempt, DEFAULT_SEED, Engine, Trial};
use crate::workspace::Workspace;

pub(super) fn make_command() -> Command {
    Command::new("verify")
        .about("Check the course itself: stubs fail as intended, solutions pass, mistakes are caught")
        .arg(Arg::new("exercise").value_name("EXERCISE").help("Only this one"))
        .arg(
            Arg::new("engine")
                .long("engine")
                .value_name("ENGINE")
                .value_parser(["sim", "auto", "gpu"])
                .default_value("sim")
                .help("auto: the simulator, then the clock of a GPU for what is right; gpu: the GPU alone"),
        )
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print one JSON object"))
}

pub(super) fn execute(matches: &ArgMatches) -> Result<Exit> {
    let only = matches.get_one::<String>("exercise").map(|name| registry::find(name)).transpose()?;
    let workspace = Workspace::find()?;
    let toolchain = toolchain::ready()?;
    let started = Instant::now();
    let mut candidates = Vec::new();
    for entry in registry::all().iter().filter(|entry| only.is_none_or(|only| only.folder == entry.folder)) {
        candidates.extend(candidates_of(entry, &workspace)?);
    }
    let machine = Machine::choose(matches.get_one::<String>("engine").map_or("sim", String::as_str))?;
    let verify = |candidate: Candidate| candidate.verify(&toolchain, machine.engine());
    let rows: Vec<Verified> = match machine {
        Machine::Sim(_) => candidates.into_par_iter().map(verify).collect::<Result<_>>()?,
        // What is timed must have the GPU to itself.
        Machine::SimThenGpu(_) | Machine::Gpu(_) => {
            candidates.into_iter().map(verify).collect::<Result<_>>()?
        }
    };
    let is_good = rows.iter().all(|row| row.is_good);
    report::verified(&rows, started.elapsed().as_secs_f64(), matches.get_flag("json"));
    Ok(if is_good { Exit::Passed } else { Exit::KernelAtFault })
}

/// A file of the course and what it must be.
struct Candidate {
    entry: &'static Entry,
    what: String,
    source: String,
    /// `None` for a solution, which must pass; an error for a header that can't be read.
    expected: Option<Result<Expectation, String>>,
}

fn candidates_of(entry: &'static Entry, workspace: &Workspace) -> Result<Vec<Candidate>> {
    let read = |expectation: Result<Expectation, ExpectationError>| {
        Some(expectation.map_err(|error| error.to_string()))
    };
    let Exercise { stub, stub_fails, solution, .. } = entry.exercise;
    let stub_fails = read(Expectation::parse(stub_fails));
    let mut all = vec![
        Candidate { entry, what: "stub.cu".into(), source: stub.into(), expected: stub_fails },
        Candidate { entry, what: "solution".into(), source: solution.into(), expected: None },
    ];
    for path in mistakes(&workspace.folder(entry).join("mistakes"))? {
        let submission = Submission::read(&path)?;
        let what = format!("mistakes/{}", submission.name());
        all.push(Candidate {
            entry,
            what,
            expected: read(Expectation::of_source(&submission.text)),
            source: submission.text,
        });
    }
    Ok(all)
}

fn mistakes(folder: &Path) -> Result<Vec<std::path::PathBuf>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    let mut paths: Vec<_> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "cu"))
        .collect();
    paths.sort();
    Ok(paths)
}

impl Candidate {
    fn verify(self, toolchain: &Toolchain, engine: Engine<'_>) -> Result<Verified> {
        let started = Instant::now();
        let attempt = Attempt {
            entry: self.entry,
            source: &self.source,
            name: "kernel.cu",
            seed: DEFAULT_SEED,
            engine,
            with_reference: false,
        };
        let trial = trial::judge(toolchain, &attempt)?;
        let (expected, is_good) = match &self.expected {
            None => ("passed".to_owned(), trial.verdict == Verdict::Passed),
            Some(Ok(expected)) => (expected.to_string(), is_as_expected(expected, &trial)),
            Some(Err(error)) => (error.clone(), false),
        };
        // Whoever asks for a GPU wants to know if it was of no use.
        let got = match &trial.not_timed {
            None => summary(&trial),
            Some(why) => format!("{}, not timed: {why}", summary(&trial)),
        };
        Ok(Verified {
            folder: self.entry.folder,
            what: self.what,
            expected,
            got,
            is_good: is_good && trial.not_timed.is_none(),
            timing: trial.timing,
            seconds: started.elapsed().as_secs_f64(),
        })
    }
}

/// Whether a trial failed exactly as it had to.
fn is_as_expected(expected: &Expectation, trial: &Trial) -> bool {
    match expected {
        Expectation::CompileError { line } => {
            trial.verdict == Verdict::CompileError
                && line.is_none_or(|line| rejected_lines(trial).contains(&line))
        }
        Expectation::LaunchError => trial.verdict == Verdict::LaunchError,
        Expectation::Timeout => trial.verdict == Verdict::Timeout,
        Expectation::WrongValues => trial.verdict == Verdict::WrongValues,
        Expectation::TooSlow { requirement } => {
            // A GPU tells that a kernel is slow, not why.
            let misses =
                |row: &RequirementJudgement| row.requirement.key == requirement && row.met == Some(false);
            trial.verdict == Verdict::TooSlow
                && (trial.timing.is_some() || trial.requirements.iter().any(misses))
        }
        Expectation::Fault { kind, line } => {
            trial.verdict == Verdict::Faults
                && faults(trial)
                    .iter()
                    .any(|(name, lines)| name == kind && line.is_none_or(|line| lines.contains(&line)))
        }
    }
}

fn rejected_lines(trial: &Trial) -> Vec<u32> {
    match &trial.rejection {
        Some(Rejection::Diagnostics(all)) => {
            all.iter().filter(|diagnostic| compile::is_error(diagnostic)).filter_map(|d| d.line).collect()
        }
        Some(Rejection::Refused { line, .. }) => line.iter().copied().collect(),
        _ => Vec::new(),
    }
}

/// Each fault that is an error, with its lines.
fn faults(trial: &Trial) -> Vec<(&'static str, Vec<u32>)> {
    let errors = trial.cases.iter().flat_map(|case| &case.findings).filter(|finding| finding.is_error);
    let lines = |sites: [Option<&crate::finding::Site>; 2]| {
        sites.into_iter().flatten().filter_map(|site| site.line.as_ref()).map(|line| line.number).collect()
    };
    errors.map(|finding| (finding.kind, lines([finding.site.as_ref(), finding.other.as_ref()]))).collect()
}

/// What a trial came to, in the words of a header.
fn summary(trial: &Trial) -> String {
    match trial.verdict {
        Verdict::Faults => {
            let shown = faults(trial).into_iter().next();
            shown.map_or_else(
                || "faults".into(),
                |(kind, lines)| match lines.as_slice() {
                    [] => kind.to_owned(),
                    lines => format!(
                        "{kind} line {}",
                        lines.iter().map(u32::to_string).collect::<Vec<_>>().join(" and ")
                    ),
                },
            )
        }
        Verdict::TooSlow => {
            if let Some(timing) = &trial.timing {
                return format!("too_slow {:.2}x of {:.2}x", timing.speedup(), timing.needed);
            }
            let missed = trial.requirements.iter().filter(|row| row.met == Some(false));
            format!("too_slow {}", missed.map(|row| row.requirement.key).collect::<Vec<_>>().join(" "))
        }
        Verdict::CompileError | Verdict::LaunchError | Verdict::Unsupported => {
            let why = trial.rejection.as_ref().map(message::rejection).unwrap_or_default();
            format!("{}: {why}", trial.verdict.name())
        }
        Verdict::WrongValues => {
            let wrong = trial.cases.iter().find(|case| case.verdict == CaseVerdict::WrongValues);
            let pattern =
                wrong.and_then(|case| case.wrong.as_ref()).and_then(|wrong| wrong.comparison.pattern);
            pattern.map_or_else(|| "wrong_values".to_owned(), |pattern| format!("wrong_values: {pattern}"))
        }
        Verdict::Passed
        | Verdict::Timeout
        | Verdict::NotJudged
        | Verdict::Inconclusive
        | Verdict::NotBelievable => trial.verdict.name().to_owned(),
    }
}
