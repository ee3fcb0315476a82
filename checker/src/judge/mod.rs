//! Judging: what was observed, held against what is required. Pure: no input, no output, no clock.

mod case;
pub(crate) mod forecast;
mod metric;
mod requirement;
pub(crate) mod timing;

pub(crate) use case::{CaseJudgement, CaseVerdict, Wrong, judge_case};
pub(crate) use metric::Measured;
pub(crate) use requirement::{RequirementJudgement, judge_requirements};

use exercise::Metric;

use crate::compile::Rejection;
use forecast::Outlook;
use timing::Decision;

/// What a submission deserves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Right, and as good as is required.
    Passed,
    /// The compiler, or the check of what it made, refused it.
    CompileError,
    /// No device could launch it.
    LaunchError,
    /// It did what no kernel may do.
    Faults,
    /// It ran for too long.
    Timeout,
    /// It computed something else.
    WrongValues,
    /// Right, but it misses a requirement.
    TooSlow,
    /// It uses what the simulator lacks: no verdict.
    Unsupported,
    /// A check that a pass needs could not be made: no verdict.
    NotJudged,
    /// Timed, and too noisy to tell, or predicted, and too close to call.
    Inconclusive,
    /// Faster than the hardware allows: something else was timed than the work.
    NotBelievable,
}

impl Verdict {
    /// Its name for programs.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Verdict::Passed => "passed",
            Verdict::CompileError => "compile_error",
            Verdict::LaunchError => "launch_error",
            Verdict::Faults => "faults",
            Verdict::Timeout => "timeout",
            Verdict::WrongValues => "wrong_values",
            Verdict::TooSlow => "too_slow",
            Verdict::Unsupported => "unsupported",
            Verdict::NotJudged => "not_judged",
            Verdict::Inconclusive => "inconclusive",
            Verdict::NotBelievable => "not_believable",
        }
    }

    /// The verdict on a submission that never ran.
    pub(crate) fn of_rejection(rejection: &Rejection) -> Verdict {
        match rejection {
            Rejection::Diagnostics(_) | Rejection::Refused { .. } => Verdict::CompileError,
            Rejection::Launch(_) => Verdict::LaunchError,
            Rejection::Unsupported { .. } => Verdict::Unsupported,
        }
    }
}

/// The verdict on cases, requirements and times together. Faults weigh more than wrong values, which often follow
/// from them, and both more than speed. A time on a GPU outweighs counters, which only stand for it; a predicted one
/// outweighs those that only stand for it where it is clear.
pub(crate) fn verdict(
    cases: &[CaseJudgement],
    requirements: &[RequirementJudgement],
    timed: Option<Decision>,
    predicted: Option<Outlook>,
) -> Verdict {
    let any = |wanted: CaseVerdict| cases.iter().any(|case| case.verdict == wanted);
    if any(CaseVerdict::Faults) {
        Verdict::Faults
    } else if any(CaseVerdict::Timeout) {
        Verdict::Timeout
    } else if any(CaseVerdict::WrongValues) {
        Verdict::WrongValues
    } else if cases.is_empty() || any(CaseVerdict::NotRun) {
        Verdict::NotJudged
    } else {
        match timed {
            Some(Decision::Passed) => Verdict::Passed,
            Some(Decision::TooSlow) => Verdict::TooSlow,
            Some(Decision::Undecided) => Verdict::Inconclusive,
            Some(Decision::NotBelievable) => Verdict::NotBelievable,
            Some(Decision::NotMeasurable(_)) | None => by_outlook(requirements, predicted),
        }
    }
}

fn by_outlook(requirements: &[RequirementJudgement], predicted: Option<Outlook>) -> Verdict {
    let is_missed = |row: &RequirementJudgement| row.met == Some(false);
    match predicted {
        None => by_requirements(requirements),
        Some(Outlook::TooSlow) => Verdict::TooSlow,
        Some(_) if misses_lesson(requirements) => Verdict::TooSlow,
        Some(Outlook::Passed) => Verdict::Passed,
        // What the prediction cannot tell, the counters may.
        Some(Outlook::TooClose) if requirements.iter().any(is_missed) => Verdict::TooSlow,
        Some(Outlook::TooClose) => Verdict::Inconclusive,
    }
}

/// Whether a counter is missed that is the lesson itself, which no predicted time makes up for.
pub(crate) fn misses_lesson(requirements: &[RequirementJudgement]) -> bool {
    requirements.iter().any(|row| row.met == Some(false) && is_lesson(row.requirement.metric))
}

/// Whether a counter is the lesson itself. The others stand for time, and yield to a prediction of it.
fn is_lesson(metric: Metric) -> bool {
    matches!(
        metric,
        Metric::LoadSectorOverhead
            | Metric::StoreSectorOverhead
            | Metric::BankConflictsPerRequest
            | Metric::ActiveLanes
    )
}

fn by_requirements(requirements: &[RequirementJudgement]) -> Verdict {
    if requirements.iter().any(|requirement| requirement.met == Some(false)) {
        Verdict::TooSlow
    } else if requirements.iter().any(|requirement| requirement.met.is_none()) {
        Verdict::NotJudged
    } else {
        Verdict::Passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(verdict: CaseVerdict) -> CaseJudgement {
        CaseJudgement { verdict, ..CaseJudgement::not_run([1; 3]) }
    }

    #[test]
    fn faults_outweigh_wrong_values_and_both_outweigh_speed() {
        use CaseVerdict::{Faults, NotRun, Right, Timeout, WrongValues};
        let of = |cases: &[CaseVerdict]| {
            verdict(&cases.iter().map(|v| case(*v)).collect::<Vec<_>>(), &[], None, None)
        };
        assert_eq!(of(&[Right, WrongValues, Faults]), Verdict::Faults);
        assert_eq!(of(&[Right, WrongValues, Timeout, NotRun]), Verdict::Timeout);
        assert_eq!(of(&[Right, WrongValues]), Verdict::WrongValues);
        assert_eq!(of(&[Right, Right]), Verdict::Passed);
    }

    #[test]
    fn a_time_outweighs_counters_but_not_wrong_values() {
        let right = [case(CaseVerdict::Right)];
        let of = |decision| verdict(&right, &[], Some(decision), None);
        assert_eq!(of(Decision::TooSlow), Verdict::TooSlow);
        assert_eq!(of(Decision::Undecided), Verdict::Inconclusive);
        assert_eq!(of(Decision::NotBelievable), Verdict::NotBelievable);
        assert_eq!(of(Decision::NotMeasurable(timing::Obstacle::BadTime)), Verdict::Passed);
        let wrong = [case(CaseVerdict::WrongValues)];
        assert_eq!(verdict(&wrong, &[], Some(Decision::Passed), None), Verdict::WrongValues);
    }

    #[test]
    fn a_clear_prediction_outweighs_counters_that_stand_for_time_and_no_others() {
        let right = [case(CaseVerdict::Right)];
        let row = |metric, met| RequirementJudgement {
            requirement: exercise::Requirement { metric, ..exercise::Requirement::COALESCED_LOADS },
            met: Some(met),
            yours: None,
            reference: None,
            advice: "",
        };
        let of = |rows: &[RequirementJudgement], outlook| verdict(&right, rows, None, Some(outlook));
        let stands_for_time = [row(Metric::FlopsPerLoadedByte, false)];
        assert_eq!(of(&stands_for_time, Outlook::Passed), Verdict::Passed);
        assert_eq!(of(&stands_for_time, Outlook::TooClose), Verdict::TooSlow);
        let lesson = [row(exercise::Requirement::COALESCED_LOADS.metric, false)];
        assert_eq!(of(&lesson, Outlook::Passed), Verdict::TooSlow);
        let met = [row(Metric::FlopsPerLoadedByte, true)];
        assert_eq!(of(&met, Outlook::TooSlow), Verdict::TooSlow);
        assert_eq!(of(&met, Outlook::TooClose), Verdict::Inconclusive);
        let timed = verdict(&right, &met, Some(Decision::Passed), Some(Outlook::TooSlow));
        assert_eq!(timed, Verdict::Passed);
    }

    #[test]
    fn what_was_not_checked_never_passes() {
        assert_eq!(verdict(&[], &[], None, None), Verdict::NotJudged);
        assert_eq!(
            verdict(&[case(CaseVerdict::Right), case(CaseVerdict::NotRun)], &[], None, None),
            Verdict::NotJudged
        );
    }
}
