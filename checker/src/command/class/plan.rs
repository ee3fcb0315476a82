//! `checker class plan CLASS`: freezes what is to be judged, and writes the job for a cluster.

use std::process::Stdio;

use anyhow::{Context, Result};
use clap::{Arg, ArgMatches, Command, value_parser};

use ::class::{Class, Job, Plan, PlanError, Secret, TaskSize};

use super::{exercises, exercises_argument, folder, folder_argument};
use crate::cell;
use crate::command::toolchain;
use crate::exit::{Exit, UsageError};
use crate::report;

/// Tasks in one job where no scheduler says how many it takes; Slurm's own default.
const MOST_TASKS: u32 = 1000;

pub(super) fn make_command() -> Command {
    let number = |name: &'static str, value: &'static str| Arg::new(name).long(name).value_name(value);
    Command::new("plan")
        .about("Freeze what is to be judged, deal it out to tasks, and write CLASS/job.sbatch")
        .after_help(
            "A plan is never changed: planning again after another import makes a new one, and what was \
             judged by the same checker, compiler, seed and limits is not judged again. Whoever handed in \
             the same text is judged once. Workers of another checker, course or compiler refuse the \
             plan.",
        )
        .arg(folder_argument())
        .arg(exercises_argument("Plan only this exercise; can be given several times"))
        .arg(
            number("shards", "N")
                .value_parser(value_parser!(u32).range(1..))
                .help("Tasks; if left out, as many as it takes for each to last ten minutes"),
        )
        .arg(
            number("seconds", "SECONDS")
                .value_parser(value_parser!(u32).range(1..))
                .default_value("2")
                .help("What one file takes, roughly, to choose the number of tasks by"),
        )
        .arg(
            number("cpus", "N")
                .value_parser(value_parser!(u32).range(1..=1024))
                .default_value("4")
                .help("Cores of each task of a job"),
        )
        .arg(number("seed", "N").value_parser(value_parser!(u64)).help(
            "Draw the inputs from this seed; if left out, from one that nobody knows. It stays the class's",
        ))
        .arg(
            number("engine", "ENGINE")
                .value_parser(["sim", "auto", "gpu"])
                .default_value("sim")
                .help("auto and gpu time on a GPU, one kernel at a time"),
        )
        .arg(
            number("limit", "SECONDS")
                .value_parser(value_parser!(u64).range(1..))
                .default_value("120")
                .help("The longest that one file may take"),
        )
        .arg(
            number("memory", "MIB")
                .value_parser(value_parser!(u64).range(1024..))
                .default_value("4096")
                .help("The most memory that judging one file may take; on the simulator only"),
        )
}

pub(super) fn execute(matches: &ArgMatches) -> Result<Exit> {
    let folder = folder(matches)?;
    let only = exercises(matches)?;
    let class = Class::load(&folder)?;
    let engine = matches.get_one::<String>("engine").cloned().unwrap_or_default();
    let number = |name| matches.get_one::<u32>(name).copied();
    let limit = matches.get_one::<u64>("limit").copied().unwrap_or(120);
    // A GPU's driver reserves addresses for all the memory there is.
    let memory = matches.get_one::<u64>("memory").copied().filter(|_| engine == "sim").unwrap_or(0);
    let program = std::env::current_exe().context("this program's own file cannot be found")?;
    let judge = cell::judge_here(&toolchain::ready()?, &engine, limit, memory)?;
    let secret = Secret::open(&folder, matches.get_one::<u64>("seed").copied())?;
    let size = TaskSize {
        shards: number("shards"),
        seconds: f64::from(number("seconds").unwrap_or(2)),
        most_shards: most_tasks().unwrap_or(MOST_TASKS),
    };
    let made = Plan::make(&folder, &class, &only, judge, &secret, size);
    let plan = made.map_err(|error| match error {
        PlanError::Empty(_) => anyhow::Error::from(UsageError(error.to_string())),
        error => error.into(),
    })?;
    let place = folder.canonicalize()?;
    let job = Job { plan: &plan, folder: &place, program: &program, cpus: number("cpus").unwrap_or(4) };
    let script = folder.join("job.sbatch");
    std::fs::create_dir_all(folder.join("logs"))?;
    ::class::write_whole(&script, job.script().as_bytes())?;
    report::terminal::planned(&plan, &folder);
    Ok(Exit::Passed)
}

/// How many tasks Slurm takes in one array, if this machine has Slurm.
fn most_tasks() -> Option<u32> {
    let output = trust::program::command("scontrol")
        .ok()?
        .args(["show", "config"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    ::class::most_tasks(&String::from_utf8_lossy(&output.stdout))
}
