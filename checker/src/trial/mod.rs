//! Trying a submission: compile it, run it at every size, and collect what judging needs.

mod candidate;
mod cases;
mod clock;
mod forecast;
mod rate;
mod survey;

use std::time::Duration;

use cuda::nvrtc::{Arch, Diagnostic, Toolchain};
use exercise::{Exercise, LaunchSpec};

use crate::compile::{Rejection, Resources};
use crate::engine::gpu::Gpu;
use crate::judge::timing::Timing;
use crate::judge::{self, CaseJudgement, CaseVerdict, RequirementJudgement, Verdict};
use crate::message;
pub(crate) use candidate::WALL_LIMIT;
use candidate::{Candidate, prepare};
use cases::Tried;
pub(crate) use clock::{Stage, Timed};
pub(crate) use forecast::{Foretold, of_source};
pub(crate) use rate::{Beside, Rates};
pub(crate) use survey::{Survey, Territory, survey};

/// The seed of the inputs unless another one is asked for: verdicts are the same everywhere and every time.
pub(crate) const DEFAULT_SEED: u64 = 0x0057_4152_504c_494e;

/// What runs the kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Engine<'a> {
    /// The simulator alone.
    Sim,
    /// The simulator with its checks, then the clock of a GPU.
    SimThenGpu(&'a Gpu),
    /// The GPU alone.
    Gpu(&'a Gpu),
}

/// What to try.
#[derive(Clone, Copy)]
pub(crate) struct Attempt<'a> {
    pub(crate) exercise: &'a Exercise,
    pub(crate) source: &'a str,
    /// What to call it in messages.
    pub(crate) name: &'a str,
    /// Of the inputs.
    pub(crate) seed: u64,
    /// The longest that the simulator may take for one launch; [`WALL_LIMIT`] unless somebody else holds a clock.
    pub(crate) wall_limit: Duration,
    pub(crate) engine: Engine<'a>,
    /// Whether to measure the reference solution too, for the table.
    pub(crate) with_reference: bool,
    /// The GPU for which to predict the time, where no GPU is there to time it.
    pub(crate) predicted_for: Option<&'a ::clock::Gpu>,
    /// Whether to time a library's way to do the same work beside the kernel.
    pub(crate) with_yardstick: bool,
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
    /// What the timed kernel moves and computes.
    pub(crate) rates: Option<Rates>,
    /// What is predicted where nothing was timed, or why nothing is.
    pub(crate) foretold: Option<Result<Foretold, String>>,
    /// Why a GPU that is there was of no use.
    pub(crate) not_timed: Option<String>,
    /// How the kernel was launched, and what it occupies.
    pub(crate) launched: Option<Launched>,
    candidate: Option<Candidate>,
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
    let mut trial = examine(toolchain, attempt)?;
    let Some(gpu) = trial.clock_for(attempt) else { return Ok(trial) };
    let timed = Stage::new(toolchain, gpu, attempt.exercise, attempt.seed).and_then(|stage| {
        let Some(stage) = stage else { return Ok(None) };
        let timed = trial.time(toolchain, attempt, gpu, &stage)?;
        Ok(Some((stage, timed)))
    });
    match timed {
        Ok(Some((stage, timed))) => trial.settle(&stage, timed),
        Ok(None) => {}
        Err(error) => trial.excuse(attempt, error)?,
    }
    Ok(trial)
}

/// Judges all but the time.
///
/// # Errors
/// As [`judge()`].
pub(crate) fn examine(toolchain: &Toolchain, attempt: &Attempt<'_>) -> anyhow::Result<Trial> {
    let Attempt { exercise, source, name, seed, wall_limit, engine, with_reference, .. } = *attempt;
    let (arch, is_simulated) = match engine {
        Engine::Sim | Engine::SimThenGpu(_) => (Arch::SM_80, true),
        Engine::Gpu(gpu) => (gpu.info.arch(), false),
    };
    // The reference has a core to itself where there are two.
    let predicted_for = attempt.predicted_for.filter(|_| matches!(engine, Engine::Sim));
    let (tried, reference) = rayon::join(
        || {
            let candidate = prepare(toolchain, exercise, source, name, arch)?;
            run(exercise, candidate.map(|candidate| Candidate { wall_limit, ..candidate }), engine, seed)
        },
        || {
            if with_reference && is_simulated {
                cases::measure_reference(toolchain, exercise, seed)
            } else {
                Ok(None)
            }
        },
    );
    let (mut candidate, Tried { cases, measured }) = match tried? {
        Ok(tried) => tried,
        Err(rejection) => return Ok(Trial::rejected(rejection)),
    };
    let reference = reference?;
    let requirements =
        judge::judge_requirements(exercise.requirements, measured.as_ref(), reference.as_ref());
    let is_right = !cases.is_empty() && cases.iter().all(|case| case.verdict == CaseVerdict::Right);
    let foretold = match predicted_for.filter(|_| is_right) {
        Some(gpu) => forecast::predict(toolchain, exercise, source, name, gpu)?.transpose(),
        None => None,
    };
    let outlook = foretold.as_ref().and_then(|foretold| foretold.as_ref().ok());
    let outlook = outlook.map(|foretold| foretold.forecast.outlook);
    Ok(Trial {
        verdict: judge::verdict(&cases, &requirements, None, outlook),
        rejection: None,
        warnings: std::mem::take(&mut candidate.warnings),
        cases,
        requirements,
        timing: None,
        rates: None,
        foretold,
        not_timed: None,
        launched: Some(Launched { spec: candidate.spec, resources: candidate.resources }),
        candidate: Some(candidate),
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
        Engine::Gpu(gpu) => cases::run_on(gpu, exercise, &candidate, seed)?,
    };
    Ok(tried.map(|tried| (candidate, tried)))
}

impl Trial {
    /// The GPU on which this kernel is to be timed, if it is.
    pub(crate) fn clock_for<'a>(&self, attempt: &Attempt<'a>) -> Option<&'a Gpu> {
        let (Engine::Gpu(gpu) | Engine::SimThenGpu(gpu)) = attempt.engine else { return None };
        let is_right =
            self.candidate.is_some() && self.cases.iter().all(|case| case.verdict == CaseVerdict::Right);
        let speed = attempt.exercise.speed?;
        (is_right && clock::is_judged_on(gpu, &speed)).then_some(gpu)
    }

    /// Times the kernel; nothing else may use the GPU meanwhile. [`Trial::settle`] is to follow.
    ///
    /// # Errors
    /// If the machine is to blame; see [`Trial::excuse`].
    pub(crate) fn time(
        &self,
        toolchain: &Toolchain,
        attempt: &Attempt<'_>,
        gpu: &Gpu,
        stage: &Stage,
    ) -> anyhow::Result<Timed> {
        let recompiled = match attempt.engine {
            // What was simulated is code for another architecture.
            Engine::SimThenGpu(_) => {
                let Attempt { exercise, source, name, .. } = *attempt;
                let again = prepare(toolchain, exercise, source, name, gpu.info.arch())?;
                Some(again.map_err(|why| anyhow::anyhow!(message::rejection(&why)))?)
            }
            Engine::Gpu(_) | Engine::Sim => None,
        };
        let candidate = recompiled.as_ref().or(self.candidate.as_ref());
        let candidate = candidate.ok_or_else(|| anyhow::anyhow!("there is nothing to time"))?;
        stage.time(gpu, attempt.exercise, candidate, attempt.with_yardstick)
    }

    /// Verifies what was computed while the clock ran, and gives the verdict.
    pub(crate) fn settle(&mut self, stage: &Stage, timed: Timed) {
        match stage.verify(&timed) {
            // The timed size is one more case.
            Some(wrong) => self.cases.push(wrong),
            None => (self.timing, self.rates) = (timed.timing, timed.rates),
        }
        let decision = self.timing.map(|timing| timing.decision);
        self.verdict = judge::verdict(&self.cases, &self.requirements, decision, None);
    }

    /// Where the simulator has judged already, a GPU that fails is only worth a note.
    ///
    /// # Errors
    /// The same error where only the GPU judges.
    pub(crate) fn excuse(&mut self, attempt: &Attempt<'_>, error: anyhow::Error) -> anyhow::Result<()> {
        if !matches!(attempt.engine, Engine::SimThenGpu(_)) {
            return Err(error);
        }
        self.not_timed = Some(error.to_string());
        Ok(())
    }

    fn rejected(rejection: Rejection) -> Trial {
        Trial {
            verdict: Verdict::of_rejection(&rejection),
            rejection: Some(rejection),
            warnings: Vec::new(),
            cases: Vec::new(),
            requirements: Vec::new(),
            timing: None,
            rates: None,
            foretold: None,
            not_timed: None,
            launched: None,
            candidate: None,
        }
    }
}
