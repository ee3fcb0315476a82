//! The times of many files, one after another.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use cuda::nvrtc::Toolchain;
use rayon::ThreadPool;

use super::{Bench, Candidate};
use crate::engine::gpu::Gpu;
use crate::registry::Entry;
use crate::report::{self, Verified};
use crate::trial::{DEFAULT_SEED, Stage, Timed, Trial};

/// A trial, and how long it took so far.
type Spent = (Trial, Duration);

/// A trial that was timed and whose timed results are to be verified; of others, nothing.
struct Unsettled<'a> {
    candidate: &'a Candidate,
    trial: Trial,
    spent: Duration,
    timed: Option<(Arc<Stage>, Timed)>,
}

/// Times whatever is right. While the GPU has one kernel to itself, the host verifies what those before it computed and
/// makes the inputs of the next exercise, with half of the cores: the thread that feeds the GPU must not wait for one.
///
/// # Errors
/// If the machine is to blame.
pub(super) fn time_all(
    bench: &Bench<'_>,
    jobs: &[&Candidate],
    trials: Vec<Spent>,
    gpu: &Gpu,
) -> Result<Vec<Verified>> {
    let pool = pool()?;
    let is_timed = |(candidate, (trial, _)): &(&&Candidate, &Spent)| {
        trial.clock_for(&bench.attempt(candidate)).is_some()
    };
    let timed = jobs.iter().zip(&trials).filter(is_timed);
    let mut entries: Vec<&Entry> = timed.map(|(candidate, _)| candidate.entry).collect();
    entries.dedup_by_key(|entry| entry.folder);
    // Inputs and results are large: one of each waits at a time.
    let (made, stages) = sync_channel(1);
    let (done, unsettled) = sync_channel::<Unsettled<'_>>(1);
    thread::scope(|scope| {
        let pool = &pool;
        scope.spawn(move || make_stages(&entries, bench.toolchain, gpu, pool, &made));
        let settling = scope.spawn(move || settle_all(bench, &unsettled, pool));
        measure_all(bench, jobs, trials, gpu, &stages, &done)?;
        drop((done, stages));
        settling.join().map_err(|_| anyhow::anyhow!("verifying timed results failed"))
    })
}

fn pool() -> Result<ThreadPool> {
    let cores = thread::available_parallelism().map_or(2, usize::from);
    rayon::ThreadPoolBuilder::new()
        .num_threads((cores / 2).max(1))
        .build()
        .context("no threads can be started")
}

fn make_stages(
    entries: &[&Entry],
    toolchain: &Toolchain,
    gpu: &Gpu,
    pool: &ThreadPool,
    made: &SyncSender<Result<Option<Stage>>>,
) {
    for entry in entries {
        let stage = pool.install(|| Stage::new(toolchain, gpu, &entry.exercise, DEFAULT_SEED));
        if made.send(stage).is_err() {
            return;
        }
    }
}

fn measure_all<'a>(
    bench: &Bench<'_>,
    jobs: &[&'a Candidate],
    trials: Vec<Spent>,
    gpu: &Gpu,
    stages: &Receiver<Result<Option<Stage>>>,
    done: &SyncSender<Unsettled<'a>>,
) -> Result<()> {
    let mut current: Option<(&str, Arc<Stage>)> = None;
    for (candidate, (mut trial, spent)) in jobs.iter().zip(trials) {
        let attempt = bench.attempt(candidate);
        let mut timed = None;
        let mut started = Instant::now();
        if trial.clock_for(&attempt).is_some() {
            let folder = candidate.entry.folder;
            let stage = match current.take().filter(|(of, _)| *of == folder) {
                Some((_, stage)) => stage,
                None => Arc::new(stages.recv()??.context("an exercise has no goal on this GPU")?),
            };
            started = Instant::now();
            match trial.time(bench.toolchain, &attempt, gpu, &stage) {
                Ok(times) => timed = Some((Arc::clone(&stage), times)),
                Err(error) => trial.excuse(&attempt, error)?,
            }
            current = Some((folder, stage));
        }
        done.send(Unsettled { candidate, trial, spent: spent + started.elapsed(), timed })
            .map_err(|_| anyhow::anyhow!("verifying timed results failed"))?;
    }
    Ok(())
}

fn settle_all(bench: &Bench<'_>, unsettled: &Receiver<Unsettled<'_>>, pool: &ThreadPool) -> Vec<Verified> {
    let mut rows: Vec<Verified> = Vec::new();
    for Unsettled { candidate, mut trial, spent, timed } in unsettled {
        if let Some((stage, timed)) = timed {
            pool.install(|| trial.settle(&stage, timed));
        }
        let row = bench.row(candidate, &(trial, spent));
        if bench.repeats > 1 {
            let is_it = |earlier: &&Verified| earlier.folder == row.folder && earlier.what == row.what;
            report::repeated(1 + rows.iter().filter(is_it).count(), &row);
        }
        rows.push(row);
    }
    rows
}
