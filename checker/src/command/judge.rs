//! `checker 05`: judges one exercise.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use cuda::nvrtc::Toolchain;

use super::{course, toolchain};
use crate::exit::{Exit, UsageError};
use crate::grade::{self, Guard, Order};
use crate::judge::Verdict;
use crate::machine::Machine;
use crate::progress::Progress;
use crate::registry::{self, Entry};
use crate::report::{self, Judged};
use crate::submission::Submission;
use crate::trial::{self, Attempt, DEFAULT_SEED};
use crate::workspace::Workspace;

pub(super) fn make_command() -> Command {
    with_arguments(Command::new("judge"), true).about("Judge an exercise; its number alone does the same")
}

/// The arguments, for `checker judge 05` and for `checker 05`.
pub(super) fn with_arguments(command: Command, is_required: bool) -> Command {
    command
        .arg(
            Arg::new("exercise")
                .value_name("EXERCISE")
                .required(is_required)
                .help("Its number, or any part of its name"),
        )
        .arg(
            Arg::new("file")
                .long("file")
                .value_name("PATH")
                .value_parser(value_parser!(PathBuf))
                .requires("exercise")
                .help("Judge this file instead of the exercise's kernel.cu"),
        )
        .arg(
            Arg::new("seed")
                .long("seed")
                .value_name("N")
                .value_parser(value_parser!(u64))
                .requires("exercise")
                .help("Draw the inputs from this seed; without it they are the same every time"),
        )
        .arg(
            Arg::new("engine")
                .long("engine")
                .value_name("ENGINE")
                .value_parser(["auto", "sim", "gpu"])
                .default_value("auto")
                .requires("exercise")
                .help("auto: the simulator's checks, then the clock of a GPU if there is one"),
        )
        .arg(gpu_argument().requires("exercise"))
        .arg(Arg::new("beside").long("beside").action(ArgAction::SetTrue).requires("exercise").help(
            "On a GPU, time cuBLAS or the driver's own copy beside the kernel, if one does the same work",
        ))
        .arg(
            Arg::new(grade::GUARD_OPTION)
                .long(grade::GUARD_OPTION)
                .value_parser(value_parser!(Guard))
                .requires("exercise")
                .hide(true),
        )
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print one JSON object"))
}

/// For which GPU to predict times.
pub(super) fn gpu_argument() -> Arg {
    Arg::new("gpu")
        .long("gpu")
        .value_name("NAME")
        .help("Predict the time on this GPU: a name like h200 or rtx4090, or a data file like those in crates/clock/gpus [default: h200, where there is no GPU]")
}

/// The machine that `--engine` and `--gpu` name.
pub(super) fn machine(matches: &ArgMatches) -> Result<Machine> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    Machine::choose(text("engine").unwrap_or("auto"), text("gpu"))
}

pub(super) fn execute(matches: &ArgMatches) -> Result<Exit> {
    let order = match matches.get_one::<Guard>(grade::GUARD_OPTION) {
        Some(guard) => {
            guard.impose()?;
            Some(Order::receive(std::io::stdin().lock()).context("the grader's order cannot be read")?)
        }
        None => None,
    };
    let name = matches.get_one::<String>("exercise").ok_or_else(|| UsageError("which exercise?".into()))?;
    let entry = registry::find(name)?;
    // A file of its own needs no course.
    let (submission, is_fresh, workspace) = match (&order, matches.get_one::<PathBuf>("file")) {
        (Some(order), _) => {
            let submission = Submission { path: "kernel.cu".into(), text: order.text.clone() };
            (submission, false, None)
        }
        (None, Some(path)) => {
            let submission =
                Submission::read(path).map_err(|error| UsageError(format!("--file: {error}")))?;
            (submission, false, None)
        }
        (None, None) => {
            let workspace = course::open()?;
            let is_fresh = workspace.ensure_kernel(entry)?;
            (Submission::read(&workspace.kernel(entry))?, is_fresh, Some(workspace))
        }
    };
    let seed = order.as_ref().map(|order| order.seed).or_else(|| matches.get_one("seed").copied());
    let machine = machine(matches)?;
    let bench = Bench {
        toolchain: &toolchain::ready()?,
        machine: &machine,
        seed: seed.unwrap_or(DEFAULT_SEED),
        wall_limit: order.map_or(trial::WALL_LIMIT, |order| order.wall_limit),
        with_yardstick: matches.get_flag("beside"),
        progress: workspace.as_ref(),
    };
    Ok(exit(bench.judge(entry, &submission, is_fresh, matches.get_flag("json"))?))
}

/// What submissions are judged with.
pub(super) struct Bench<'a> {
    pub(super) toolchain: &'a Toolchain,
    pub(super) machine: &'a Machine,
    pub(super) seed: u64,
    /// The longest that the simulator may take for one launch.
    pub(super) wall_limit: Duration,
    /// Whether to time a library's way to do the same work beside the kernel.
    pub(super) with_yardstick: bool,
    /// Where to remember a pass.
    pub(super) progress: Option<&'a Workspace>,
}

impl Bench<'_> {
    /// Judges `submission`, tells the verdict and remembers a pass.
    ///
    /// # Errors
    /// If the machine is to blame.
    pub(super) fn judge(
        &self,
        entry: &'static Entry,
        submission: &Submission,
        is_fresh: bool,
        as_json: bool,
    ) -> Result<Verdict> {
        let attempt = Attempt {
            exercise: &entry.exercise,
            source: &submission.text,
            name: &submission.name(),
            seed: self.seed,
            wall_limit: self.wall_limit,
            engine: self.machine.engine(),
            predicted_for: self.machine.predicted_for(),
            with_reference: true,
            with_yardstick: self.with_yardstick,
        };
        let trial = trial::judge(self.toolchain, &attempt)?;
        if let Some(workspace) = self.progress {
            // A read-only checkout can be judged all the same.
            let _ = Progress::record(workspace, entry, &submission.text, trial.verdict == Verdict::Passed);
        }
        let judged = Judged {
            entry,
            submission,
            trial: &trial,
            seed: self.seed,
            is_fresh,
            next: registry::after(entry),
            machine: &self.machine.description(),
            engine: self.machine.name(),
        };
        report::judged(&judged, as_json);
        Ok(trial.verdict)
    }
}

fn exit(verdict: Verdict) -> Exit {
    match verdict {
        Verdict::Passed => Exit::Passed,
        Verdict::Unsupported | Verdict::NotJudged => Exit::NotJudged,
        Verdict::Inconclusive => Exit::Inconclusive,
        Verdict::CompileError
        | Verdict::LaunchError
        | Verdict::Faults
        | Verdict::Timeout
        | Verdict::WrongValues
        | Verdict::TooSlow
        | Verdict::NotBelievable => Exit::KernelAtFault,
    }
}
