//! A measurement, in the worker.

use super::bench::GpuBench;
use super::job::{Done, TimeJob};
use super::nvml::Nvml;
use super::schedule;
use super::serve::Opened;
use super::{DIFFERING_KEPT, DeviceError, TimeReply};

/// Empty launches that are timed.
const EMPTY_LAUNCHES: usize = 30;

pub(super) fn time(opened: &Opened, job: &TimeJob) -> Result<Done, DeviceError> {
    let mut bench = GpuBench::new(opened, job)?;
    let mut clocks = Vec::new();
    let mut note_clocks = || clocks.extend(opened.management().and_then(Nvml::clocks));

    let works = job.works.len();
    schedule::measure(&mut bench, works, job.warmups, 0, job.seed)?;
    note_clocks();
    let rounds = schedule::measure(&mut bench, works, 0, job.rounds, job.seed.wrapping_add(1))?;
    note_clocks();
    let empty_launches = (0..EMPTY_LAUNCHES).map(|_| bench.empty_launch()).collect::<Result<_, _>>()?;
    let host_checks = (0..works).map(|work| bench.host_check(work)).collect::<Result<_, _>>()?;

    let stored = bench.stored();
    let differing_rounds = bench.finish()?;
    let differing_kept = differing_rounds.len().min(DIFFERING_KEPT);
    let reply = TimeReply {
        device: opened.gpu.info.clone(),
        rounds,
        empty_launches,
        host_checks,
        clocks,
        outputs: Vec::new(),
        differing_rounds,
        differing_outputs: Vec::new(),
    };
    Ok(Done::Timed { reply, stored, differing_kept })
}
