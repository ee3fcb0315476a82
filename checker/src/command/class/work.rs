//! `checker class work CLASS`: judges a part of a plan, or all of it. Any number may run at a time, also of
//! the same part: what they find is merged when it is read.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::{Arg, ArgMatches, Command, value_parser};

use ::class::{Cell, Environment, Plan, Secret, Shard, Weight, Writer};

use super::{folder, folder_argument};
use crate::cell::{self, Station};
use crate::command::toolchain;
use crate::exit::{Exit, usage};
use crate::grade::{Bench, Crowd, Interrupt};
use crate::machine::Machine;
use crate::report::terminal::CellProgress;

pub(super) fn make_command() -> Command {
    let number =
        |name: &'static str| Arg::new(name).long(name).value_name("N").value_parser(value_parser!(u32));
    Command::new("work")
        .about("Judge what a plan asks for, or one of its tasks")
        .after_help(
            "Which task: --shard, else SLURM_ARRAY_TASK_ID, else JOB_COMPLETION_INDEX (a Kubernetes job \
             with completionMode: Indexed), else all of it. How many kernels at a time: --jobs, else \
             SLURM_CPUS_PER_TASK, else SLURM_CPUS_ON_NODE, else as many as there are cores; on a GPU \
             one.\n\n\
             Each process appends to a file of its own in CLASS/results, and a result counts once it is on \
             the disk. A process that is killed loses what it was judging and nothing else; starting it \
             again, here or elsewhere, goes on. The exit code is 0 once each of its cells has a verdict.",
        )
        .arg(folder_argument())
        .arg(number("shard").help("The task, from 0"))
        .arg(number("plan").help("The plan's number; the last one if left out"))
        .arg(
            number("jobs")
                .value_parser(value_parser!(u32).range(1..=1024))
                .help("Kernels to judge at a time"),
        )
        .arg(
            Arg::new("stand-in")
                .long("stand-in")
                .value_name("PROGRAM")
                .value_parser(value_parser!(PathBuf))
                .hide(true)
                .help("Judge by this program instead, for tests of everything else"),
        )
}

pub(super) fn execute(matches: &ArgMatches) -> Result<Exit> {
    let folder = folder(matches)?;
    let number = |name| matches.get_one::<u32>(name).copied();
    let plan = Plan::load(&folder, number("plan"))?;
    let variable = |name: &str| std::env::var(name).ok();
    let environment = Environment(&variable);
    let shard = match environment.shard(number("shard")) {
        Ok(shard) => shard,
        Err(error) => return usage(error),
    };
    if let Some(index) = shard.index.filter(|index| *index >= plan.shards) {
        return usage(format!("plan {} has tasks 0 to {}, and no {index}", plan.number, plan.shards - 1));
    }
    let stand_in = matches.get_one::<PathBuf>("stand-in").cloned();
    let (bench, station) = set_up(&plan, &folder, &environment, &shard, stand_in)?;
    let known = ::class::merge(&folder)?;
    let is_open =
        |cell: &&Cell| known.outcomes.get(&cell.key).is_none_or(|known| known.weight() < Weight::Judged);
    let open: Vec<&Cell> = plan.dealt(shard.index).filter(is_open).collect();
    if open.is_empty() {
        return Ok(Exit::Passed);
    }
    let jobs = number("jobs").map_or_else(|| environment.cores(), |jobs| jobs as usize);
    let jobs = if plan.judge.engine == "sim" { jobs } else { 1 };
    let mut writer = Writer::create(&folder, &shard.writer(&station.host, std::process::id()))?;
    let work = Work { folder: &folder, bench: &bench, station: &station, open: &open };
    let judged = work.judge_all(jobs, &mut writer)?;
    Ok(if judged == open.len() { Exit::Passed } else { Exit::NotJudged })
}

/// What the cells of a plan are judged with, if this machine may judge them.
fn set_up(
    plan: &Plan,
    folder: &Path,
    environment: &Environment<'_>,
    shard: &Shard,
    stand_in: Option<PathBuf>,
) -> Result<(Bench, Station)> {
    let judge = &plan.judge;
    let program = std::env::current_exe().context("this program's own file cannot be found")?;
    let here = cell::judge_here(&toolchain::ready()?, &judge.engine, judge.limit, judge.memory)?;
    if let Some(difference) = judge.difference(&here) {
        bail!(
            "this worker would judge differently: {difference}. Use the checker that made the plan, or plan again"
        );
    }
    let secret = Secret::load(folder)?;
    if !plan.is_of(&secret) {
        bail!("plan {} was made with another secret.json; copy the one that belongs to it", plan.number);
    }
    let gpu = match Machine::choose(&judge.engine, None)? {
        Machine::Sim(Some(why), _) => {
            bail!("the plan has kernels timed on a GPU, and there is none here: {why}")
        }
        Machine::Sim(None, _) => None,
        Machine::SimThenGpu(gpu) | Machine::Gpu(gpu) => Some(gpu.info.name.clone()),
    };
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let bench = Bench {
        program: stand_in.unwrap_or(program),
        seed: secret.seed,
        engine: judge.engine.clone(),
        wall_limit: Duration::from_secs(judge.limit),
        memory: Some(judge.memory << 20).filter(|bytes| *bytes > 0),
        threads: if judge.engine == "sim" { 1 } else { environment.cores() },
        interrupt: Interrupt::listen().context("signals cannot be listened for")?,
        crowd: Crowd::default(),
    };
    Ok((bench, Station { host, gpu, attempt: shard.restarts }))
}

/// Cells to judge.
struct Work<'a> {
    folder: &'a Path,
    bench: &'a Bench,
    station: &'a Station,
    open: &'a [&'a Cell],
}

impl Work<'_> {
    /// Judges all, `jobs` at a time, and says how many have a verdict now. An error of the machine ends it;
    /// what is judged stays.
    fn judge_all(&self, jobs: usize, writer: &mut Writer) -> Result<usize> {
        let next = AtomicUsize::new(0);
        let progress = CellProgress::new(self.open.len());
        let shared = Mutex::new((writer, progress, 0));
        let work = || -> Result<()> {
            while let Some(cell) = self.open.get(next.fetch_add(1, Ordering::Relaxed)) {
                if self.bench.interrupt.came() {
                    return Ok(());
                }
                let Some(judged) = cell::judge(self.folder, self.bench, self.station, cell)? else {
                    return Ok(());
                };
                // The page comes before the line: where there is a line, there is all of it.
                if let Some(judgement) = &judged.judgement {
                    let path = self.folder.join("details").join(format!("{}.json", cell.key));
                    ::class::write_whole(&path, &serde_json::to_vec(judgement)?)?;
                }
                let mut shared = shared.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                let (writer, progress, done) = &mut *shared;
                writer.append(&judged.outcome)?;
                *done += usize::from(judged.outcome.weight() == Weight::Judged);
                progress.show(&judged.outcome);
            }
            Ok(())
        };
        let stop = || next.store(self.open.len(), Ordering::Relaxed);
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..jobs.min(self.open.len()))
                .map(|_| scope.spawn(|| work().inspect_err(|_| stop())))
                .collect();
            workers.into_iter().try_for_each(|worker| match worker.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            })
        })?;
        let (_, progress, done) = shared.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        progress.finish(self.bench.interrupt.came());
        Ok(done)
    }
}
