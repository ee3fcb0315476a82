//! Trying a submission: compile it, run it at every size, and collect what judging needs.

mod candidate;
mod cases;
mod clock;
mod survey;

use cuda::device::DeviceInfo;
use cuda::nvrtc::{Arch, Diagnostic, Toolchain};
use exercise::{Exercise, LaunchSpec};

use crate::compile::{Rejection, Resources};
use crate::judge::timing::Timing;
use crate::judge::{self, CaseJudgement, CaseVerdict, RequirementJudgement, Verdict};
use crate::registry::Entry;
use candidate::{Candidate, prepare};
use cases::Tried;
pub(crate) use survey::survey;

/// The seed of the inputs unless another one is asked for: verdicts are the same everywhere and every time.
pub(crate) const DEFAULT_SEED: u64 = 0x0057_4152_504c_494e;

/// What runs the kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Engine<'a> {
    /// The simulator alone.
    Sim,
    /// The simulator with its checks, then the clock of a GPU.
    SimThenGpu(&'a DeviceInfo),
    /// The GPU alone.
    Gpu(&'a DeviceInfo),
}

/// What to try.
#[derive(Clone, Copy)]
pub(crate) struct Attempt<'a> {
    pub(crate) entry: &'a Entry,
    pub(crate) source: &'a str,
    /// What to call it in messages.
    pub(crate) name: &'a str,
    /// Of the inputs.
    pub(crate) seed: u64,
    pub(crate) engine: Engine<'a>,
    /// Whether to measure the reference solution too, for the table.
    pub(crate) with_reference: bool,
}

/// Everything that is known about a submission after it was judged.
#[derive(Debug)]
pub(crate) struct Trial {
    pub(crate) verdict: Verdict,
    /// Why it never ran, if it did not.
    pub(crate) rejection: Option<Rejection>,
    /// What the compiler warned of.
    pub(crate) warnings: Vec<Diagnostic>,
    pub(crate) cases: Vec<CaseJudgement>,
    pub(crate) requirements: Vec<RequirementJudgement>,
    /// Times on a GPU, if it got that far.
    pub(crate) timing: Option<Timing>,
    /// Why a GPU that is there was of no use.
    pub(crate) not_timed: Option<String>,
    /// How the kernel was launched, and what it occupies.
    pub(crate) launched: Option<Launched>,
}

/// How a kernel was launched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launched {
    pub(crate) spec: LaunchSpec,
    pub(crate) resources: Resources,
}

/// Judges a source as an answer to an exercise.
///
/// # Errors
/// If the environment keeps it from being judged.
pub(crate) fn judge(toolchain: &Toolchain, attempt: &Attempt<'_>) -> anyhow::Result<Trial> {
    let Attempt { entry, source, name, seed, engine, with_reference } = *attempt;
    let exercise = &entry.exercise;
    let (arch, is_simulated) = match engine {
        Engine::Sim | Engine::SimThenGpu(_) => (Arch::SM_80, true),
        Engine::Gpu(device) => (device.arch(), false),
    };
    // The reference has a core to itself where there are two.
    let (tried, reference) = rayon::join(
        || run(exercise, prepare(toolchain, exercise, source, name, arch)?, engine, seed),
        || {
            if with_reference && is_simulated {
                cases::measure_reference(toolchain, exercise, seed)
            } else {
                Ok(None)
            }
        },
    );
    let (candidate, Tried { mut cases, measured }) = match tried? {
        Ok(tried) => tried,
        Err(rejection) => return Ok(Trial::rejected(rejection)),
    };
    let is_right = cases.iter().all(|case| case.verdict == CaseVerdict::Right);
    let (timing, not_timed) = match engine {
        Engine::Gpu(device) if is_right => (clock::time(toolchain, device, attempt, &mut cases)?, None),
        // Where the simulator has judged already, a GPU that fails is only worth a note.
        Engine::SimThenGpu(device) if is_right => match clock::time(toolchain, device, attempt, &mut cases) {
            Ok(timing) => (timing, None),
            Err(error) => (None, Some(error.to_string())),
        },
        _ => (None, None),
    };
    let reference = reference?;
    let requirements =
        judge::judge_requirements(exercise.requirements, measured.as_ref(), reference.as_ref());
    Ok(Trial {
        verdict: judge::verdict(&cases, &requirements, timing.map(|timing| timing.decision)),
        rejection: None,
        warnings: candidate.warnings,
        cases,
        requirements,
        timing,
        not_timed,
        launched: Some(Launched { spec: candidate.spec, resources: candidate.resources }),
    })
}

/// Runs all cases of what was prepared.
fn run(
    exercise: &Exercise,
    candidate: Result<Candidate, Rejection>,
    engine: Engine<'_>,
    seed: u64,
) -> anyhow::Result<Result<(Candidate, Tried), Rejection>> {
    let candidate = match candidate {
        Ok(candidate) => candidate,
        Err(rejection) => return Ok(Err(rejection)),
    };
    let tried = match engine {
        Engine::Sim | Engine::SimThenGpu(_) => cases::simulate(exercise, &candidate, seed)?,
        Engine::Gpu(device) => cases::run_on(device, exercise, &candidate, seed)?,
    };
    Ok(tried.map(|tried| (candidate, tried)))
}

impl Trial {
    fn rejected(rejection: Rejection) -> Trial {
        Trial {
            verdict: Verdict::of_rejection(&rejection),
            rejection: Some(rejection),
            warnings: Vec::new(),
            cases: Vec::new(),
            requirements: Vec::new(),
            timing: None,
            not_timed: None,
            launched: None,
        }
    }
}
