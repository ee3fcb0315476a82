//! Timing a candidate on a GPU against the baseline and the reference solution, in the same rounds.

use std::time::Duration;

use cuda::device::{self, DeviceError, DeviceInfo, TimeReply, TimeRequest, Work};
use cuda::nvrtc::Toolchain;
use exercise::{Exercise, Instance, Speed};
use warpsim::Counters;

use super::Attempt;
use super::candidate::{Candidate, prepare, task};
use crate::engine::{Arg, Observation, Outcome, Task, gpu};
use crate::judge::timing::{Decision, Floor, LOOKS, Obstacle, Round, Timing, judge_timing};
use crate::judge::{CaseJudgement, CaseVerdict, judge_case};

/// Rounds per look.
const ROUNDS: u32 = 30;
const WARMUPS: u32 = 3;
const LAUNCH_LIMIT: Duration = Duration::from_secs(10);
const LIMIT: Duration = Duration::from_secs(240);

/// Times the kernel if the exercise has a goal that this GPU can judge. The timed size is one more case: what the
/// timed launches wrote is verified, and joins `cases`.
pub(super) fn time(
    toolchain: &Toolchain,
    device: &DeviceInfo,
    attempt: &Attempt<'_>,
    cases: &mut Vec<CaseJudgement>,
) -> anyhow::Result<Option<Timing>> {
    let exercise = &attempt.entry.exercise;
    let Some(speed) = exercise.speed else { return Ok(None) };
    let (major, minor) = device.compute_capability;
    if major * 10 + minor < speed.min_capability {
        return Ok(None);
    }
    let baseline = Exercise { kernel: speed.baseline.kernel, ..*exercise };
    let compile = |exercise: &Exercise, source: &str, name: &str| {
        let candidate = prepare(toolchain, exercise, source, name, device.arch())?;
        candidate.map_err(|rejection| anyhow::anyhow!("{name}: {}", crate::message::rejection(&rejection)))
    };
    let candidates = [
        compile(&baseline, speed.baseline.source, "baseline.cu")?,
        compile(exercise, exercise.solution, "solution.cu")?,
        compile(exercise, attempt.source, attempt.name)?,
    ];
    let instance = exercise.problem.instance(speed.size, attempt.seed);
    let tasks: Vec<Task> = candidates
        .iter()
        .map(|candidate| task(exercise, &candidate.spec, speed.size, &instance))
        .collect::<Result<_, _>>()
        .map_err(|rejection| anyhow::anyhow!(crate::message::rejection(&rejection)))?;
    let mut rounds = Vec::new();
    let mut timing = None;
    for look in 0..LOOKS {
        let reply = match measure(device, &candidates, &tasks, attempt.seed.wrapping_add(look as u64)) {
            Ok(reply) => reply,
            Err(error) if error.is_kernels_fault() => {
                let observation = gpu::killed(&tasks[STUDENT], &error);
                cases.push(judge_case(speed.size, &instance, observation));
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        if let Some(wrong) = verify(&tasks[STUDENT], &speed, &instance, &reply) {
            cases.push(wrong);
            return Ok(None);
        }
        rounds.extend(reply.rounds.iter().filter_map(|times| round(times)));
        let floor = floor(device, exercise, &speed, &tasks[STUDENT]);
        let judged = judge_timing(speed.goal, &rounds, &reply.empty_launches, floor, attempt.seed);
        timing = Some(judged);
        // A passing drift may be gone in the next rounds; all else that is decided stays so.
        let again =
            matches!(judged.decision, Decision::Undecided | Decision::NotMeasurable(Obstacle::Drift(_)));
        if !again {
            break;
        }
    }
    Ok(timing)
}

/// Places in the lists of candidates and of a round's times.
const STUDENT: usize = 2;

fn round(times: &[f64]) -> Option<Round> {
    let [baseline, reference, student] = *times else { return None };
    Some(Round { baseline, reference, student })
}

fn measure(
    device: &DeviceInfo,
    candidates: &[Candidate; 3],
    tasks: &[Task],
    seed: u64,
) -> Result<TimeReply, DeviceError> {
    let buffers = gpu::buffers(&tasks[STUDENT]);
    let work = |((candidate, task), label): ((&Candidate, &Task), &str)| {
        let code = gpu::Code { cubin: &candidate.unit.cubin, symbol: &candidate.symbol };
        Work::Launch(gpu::launch(label, code, task))
    };
    let labels = ["the baseline", "the reference", "your kernel"];
    device::time(&TimeRequest {
        ordinal: device.ordinal,
        works: candidates.iter().zip(tasks).zip(labels).map(work).collect(),
        checked: STUDENT,
        buffers: &buffers,
        rounds: ROUNDS,
        warmups: WARMUPS,
        seed,
        launch_limit: LAUNCH_LIMIT,
        limit: LIMIT,
    })
}

/// The first timed launch whose results are wrong.
fn verify(task: &Task, speed: &Speed, instance: &Instance, reply: &TimeReply) -> Option<CaseJudgement> {
    let outputs = std::iter::once(&reply.outputs).chain(&reply.differing_outputs);
    let judge = |buffers: &Vec<Vec<u8>>| {
        let observation = Observation {
            outcome: Outcome::Completed,
            buffers: gpu::in_order(task, buffers.iter().cloned().map(gpu::contents)),
            findings: Vec::new(),
            counters: Counters::default(),
            worst: Vec::new(),
            printed: String::new(),
            seconds: 0.0,
        };
        judge_case(speed.size, instance, observation)
    };
    outputs.map(judge).find(|case| case.verdict != CaseVerdict::Right)
}

/// The least time that the hardware allows: inputs read once, and the arithmetic, each at its peak.
fn floor(device: &DeviceInfo, exercise: &Exercise, speed: &Speed, task: &Task) -> Floor {
    let inputs: usize = task
        .args
        .iter()
        .map(|arg| match arg {
            Arg::Buffer { bytes, contents: Some(_), .. } => *bytes,
            Arg::Buffer { .. } | Arg::Value(_) => 0,
        })
        .sum();
    let milliseconds =
        |amount: f64, per_second: f64| if per_second > 0.0 { 1e3 * amount / per_second } else { 0.0 };
    // FP32 cores per multiprocessor: 64 on 6.0, 7.x and 8.0, 128 on every other.
    let cores = match device.compute_capability {
        (6, 0) | (7, _) | (8, 0) => 64.0,
        _ => 128.0,
    };
    let peak = 2.0 * cores * f64::from(device.multiprocessors) * f64::from(device.clock_khz) * 1e3;
    Floor {
        memory: milliseconds(inputs as f64, device.peak_bandwidth()),
        arithmetic: milliseconds(exercise.problem.flops(speed.size) as f64, peak),
    }
}
