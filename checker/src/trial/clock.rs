//! Timing a candidate on a GPU against the baseline and the reference solution, in the same rounds.

use std::time::Duration;

use cuda::device::{Buffer, Ceilings, DeviceError, Init, InputFile, Launch, TimeReply, TimeRequest, Work};
use cuda::nvrtc::Toolchain;
use exercise::{Arg, Exercise, Instance, Precision, Size, Speed, Yardstick};

use super::candidate::{Candidate, bare_task, bytes, prepare};
use super::rate::Rates;
use crate::compile::Rejection;
use crate::engine::Observation;
use crate::engine::gpu::{self, Gpu};
use crate::judge::timing::{Decision, Floor, LOOKS, Obstacle, Round, Timing, judge_timing};
use crate::judge::{CaseJudgement, CaseVerdict, judge_case};

/// Rounds per look.
const ROUNDS: u32 = 30;
const WARMUPS: u32 = 3;
const LAUNCH_LIMIT: Duration = Duration::from_secs(10);
const LIMIT: Duration = Duration::from_secs(240);

/// By how much reading alone may be faster than copying: memory that only reads need not turn its bus around.
const READING_OVER_COPYING: f64 = 1.25;
/// By how much a kernel's clock may be above that under which the ceiling was measured.
const CLOCK_OVER_MEASURED: f64 = 1.1;
/// By how much tensor cores may be faster in TF32 than the ordinary cores in FP32, clock for clock: 8 times on compute
/// capability 8.0 and 9.0, 16 on 10.0, 1 on small GPUs (the makers' data sheets).
const TF32_OVER_SINGLE: f64 = 16.0;

/// Everything that a timing needs besides the submission: it serves all submissions to an exercise.
pub(crate) struct Stage {
    speed: Speed,
    instance: Instance,
    /// For each buffer among the instance's arguments, its length in bytes and what it holds at first.
    buffers: Vec<(u64, Option<InputFile>)>,
    baseline: Launch,
    reference: Launch,
    seed: u64,
}

impl Stage {
    /// `None` if the exercise has no goal, or none that this GPU can judge.
    ///
    /// # Errors
    /// If the baseline or the reference does not compile, or the inputs can't be put down.
    pub(crate) fn new(
        toolchain: &Toolchain,
        gpu: &Gpu,
        exercise: &Exercise,
        seed: u64,
    ) -> anyhow::Result<Option<Stage>> {
        let Some(speed) = exercise.speed.filter(|speed| is_judged_on(gpu, speed)) else { return Ok(None) };
        let instance = exercise.problem.instance(speed.size, seed);
        let rival = |exercise: &Exercise, source: &str, name: &str, label: &str| {
            let candidate = prepare(toolchain, exercise, source, name, gpu.info.arch())?;
            let launch =
                candidate.and_then(|candidate| launch(label, exercise, &candidate, &instance, speed.size));
            launch.map_err(|why| anyhow::anyhow!("{name}: {}", crate::message::rejection(&why)))
        };
        let baseline = Exercise { kernel: speed.baseline.kernel, ..*exercise };
        let baseline = rival(&baseline, speed.baseline.source, "baseline.cu", "the baseline")?;
        let reference = rival(exercise, exercise.solution, "solution.cu", "the reference")?;
        let put_down = |arg: &Arg| match arg {
            Arg::Scalar(_) => None,
            Arg::Buffer(buffer) => {
                let file = buffer.data.as_ref().map(|data| InputFile::new(&bytes(data))).transpose();
                Some(file.map(|file| (4 * buffer.len as u64, file)))
            }
        };
        let buffers = instance.args.iter().filter_map(put_down).collect::<Result<_, _>>()?;
        Ok(Some(Stage { speed, instance, buffers, baseline, reference, seed }))
    }

    /// Times a candidate. What it computed is still to be verified.
    ///
    /// # Errors
    /// If the machine is to blame.
    pub(super) fn time(
        &self,
        gpu: &Gpu,
        exercise: &Exercise,
        candidate: &Candidate,
        with_yardstick: bool,
    ) -> anyhow::Result<Timed> {
        let student = launch("your kernel", exercise, candidate, &self.instance, self.speed.size)
            .map_err(|why| anyhow::anyhow!(crate::message::rejection(&why)))?;
        let yardstick = exercise.problem.yardstick(self.speed.size).filter(|_| with_yardstick);
        let mut works: Vec<Work> =
            [self.baseline.clone(), self.reference.clone(), student].map(Work::Launch).into();
        works.extend(yardstick.as_ref().map(|yardstick| self.work(yardstick)));
        let floor = self.floor(gpu, exercise);
        let mut timed = Timed { timing: None, rates: None, replies: Vec::new(), killed: None };
        let (mut rounds, mut beside) = (Vec::new(), Vec::new());
        for look in 0..LOOKS {
            let reply = match self.measure(gpu, &works, self.seed.wrapping_add(look as u64)) {
                // The comparison is left out where there is no cuBLAS.
                Err(DeviceError::NoLibrary { .. }) if works.len() > STUDENT + 1 => {
                    works.truncate(STUDENT + 1);
                    self.measure(gpu, &works, self.seed.wrapping_add(look as u64))
                }
                reply => reply,
            };
            let reply = match reply {
                Ok(reply) => reply,
                Err(error) if error.is_kernels_fault() => {
                    return Ok(Timed { killed: Some(error), ..timed });
                }
                Err(error) => return Err(error.into()),
            };
            rounds.extend(reply.rounds.iter().filter_map(|times| round(times)));
            beside.extend(reply.rounds.iter().filter_map(|times| times.get(STUDENT + 1)));
            let judged = judge_timing(self.speed.goal, &rounds, &reply.empty_launches, floor, self.seed);
            timed.timing = Some(judged);
            timed.replies.push(reply);
            // A passing drift may be gone in the next rounds; all else that is decided stays so.
            if !matches!(judged.decision, Decision::Undecided | Decision::NotMeasurable(Obstacle::Drift(_))) {
                break;
            }
        }
        timed.rates = Some(Rates::new(gpu, exercise, self.speed.size, yardstick.as_ref(), beside));
        Ok(timed)
    }

    fn measure(&self, gpu: &Gpu, works: &[Work], seed: u64) -> Result<TimeReply, DeviceError> {
        let inits =
            self.buffers.iter().map(|(bytes, file)| file.as_ref().map_or(Init::Poison(*bytes), Init::File));
        let buffers: Vec<Buffer<'_>> = inits.map(|init| Buffer { init, read_back: true }).collect();
        gpu.time(&TimeRequest {
            ordinal: gpu.info.ordinal,
            works: works.to_vec(),
            checked: STUDENT,
            buffers: &buffers,
            rounds: ROUNDS,
            warmups: WARMUPS,
            seed,
            launch_limit: LAUNCH_LIMIT,
            limit: LIMIT,
        })
    }

    /// Which work a yardstick is, with buffers instead of arguments.
    fn work(&self, yardstick: &Yardstick) -> Work {
        let buffer =
            |arg: usize| self.instance.args[..arg].iter().filter(|arg| matches!(arg, Arg::Buffer(_))).count();
        match *yardstick {
            Yardstick::Copy { from, to, .. } => Work::Copy { from: buffer(from), to: buffer(to) },
            Yardstick::CopyWithin { arg, .. } => Work::CopyWithin { buffer: buffer(arg) },
            Yardstick::MatrixProduct { a, b, c, size, precision } => {
                let tf32 = precision == Precision::Tf32;
                Work::MatrixProduct { a: buffer(a), b: buffer(b), c: buffer(c), size, tf32 }
            }
        }
    }

    /// The case of the timed size that went wrong, if one did.
    pub(super) fn verify(&self, timed: &Timed) -> Option<CaseJudgement> {
        if let Some(error) = &timed.killed {
            let killed = gpu::killed(self.instance.args.len(), error);
            return Some(judge_case(self.speed.size, &self.instance, killed));
        }
        let all = timed
            .replies
            .iter()
            .flat_map(|reply| std::iter::once(&reply.outputs).chain(&reply.differing_outputs));
        let judge = |outputs: &Vec<Option<Vec<u8>>>| {
            let mut outputs = outputs.iter();
            let contents = self.instance.args.iter().map(|arg| match arg {
                Arg::Scalar(_) => None,
                Arg::Buffer(_) => outputs.next()?.clone().map(gpu::contents),
            });
            judge_case(self.speed.size, &self.instance, Observation::of_buffers(contents.collect()))
        };
        all.map(judge).find(|case| case.verdict != CaseVerdict::Right)
    }

    /// The least time that the hardware allows: inputs read once, and the arithmetic, each at its peak, or at what was
    /// measured if that is less.
    fn floor(&self, gpu: &Gpu, exercise: &Exercise) -> Floor {
        let inputs: u64 =
            self.buffers.iter().filter(|(_, file)| file.is_some()).map(|(bytes, _)| bytes).sum();
        let ceilings =
            gpu.ceilings.unwrap_or(Ceilings { copy_bytes_per_second: 0.0, fma_flops_per_second: 0.0 });
        let least = |peak: f64, measured: f64| {
            let known = [peak, measured].into_iter().filter(|rate| *rate > 0.0);
            known.min_by(f64::total_cmp).unwrap_or(f64::INFINITY)
        };
        let bandwidth =
            least(gpu.info.peak_bandwidth(), READING_OVER_COPYING * ceilings.copy_bytes_per_second);
        let single = least(gpu.info.peak_flops(), CLOCK_OVER_MEASURED * ceilings.fma_flops_per_second);
        let rate = match exercise.problem.precision() {
            Precision::Single => single,
            Precision::Tf32 => TF32_OVER_SINGLE * single,
        };
        Floor {
            memory: 1e3 * inputs as f64 / bandwidth,
            arithmetic: 1e3 * exercise.problem.flops(self.speed.size) as f64 / rate,
        }
    }
}

/// A candidate's times, before what it computed was looked at.
pub(crate) struct Timed {
    pub(super) timing: Option<Timing>,
    pub(super) rates: Option<Rates>,
    replies: Vec<TimeReply>,
    /// What ended it.
    killed: Option<DeviceError>,
}

/// Places in the lists of works and of a round's times; a yardstick comes after it.
const STUDENT: usize = 2;

/// Whether this GPU has what the exercise is about.
pub(super) fn is_judged_on(gpu: &Gpu, speed: &Speed) -> bool {
    let (major, minor) = gpu.info.compute_capability;
    major * 10 + minor >= speed.min_capability
}

fn round(times: &[f64]) -> Option<Round> {
    let [baseline, reference, student, ..] = *times else { return None };
    Some(Round { baseline, reference, student })
}

fn launch(
    label: &str,
    exercise: &Exercise,
    candidate: &Candidate,
    instance: &Instance,
    size: Size,
) -> Result<Launch, Rejection> {
    let task = bare_task(exercise, candidate, size, instance)?;
    let code = gpu::Code { image: &candidate.unit.image, symbol: &candidate.symbol };
    Ok(gpu::launch(label, code, &task))
}
