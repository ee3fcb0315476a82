//! Judging predicted times: the rule of times on a GPU, with the model's own error in the place of noise.

use exercise::Goal;

use super::timing::{LEAST_SPREAD, Round, margin};

/// How far a predicted margin must be from 0 to say anything, where the model was compared with such a GPU: beyond it,
/// `docs/measurements/` has the same verdicts as the GPU. It is the natural logarithm of a ratio of times, so 0.1 is
/// some 10 %.
const CHECKED_BAND: f64 = 0.1;
/// The same where it was not.
const UNCHECKED_BAND: f64 = 0.25;
/// A kernel that is this near to the baseline or the reference is taken for the same: errors of the model are the same too.
const SAME: f64 = 0.005;

/// What predicted times come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Forecast {
    /// Times in milliseconds.
    pub(crate) times: Round,
    /// The least speed-up over the baseline that passes.
    pub(crate) needed: f64,
    /// Where the kernel stands from baseline (0) to reference (1).
    pub(crate) position: f64,
    /// How far it is from the limit: positive where it passes, as the logarithm of a ratio of times.
    pub(crate) margin: f64,
    /// The margin that says something.
    pub(crate) band: f64,
    pub(crate) outlook: Outlook,
}

/// How a kernel would be judged on the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outlook {
    Passed,
    TooSlow,
    /// Nearer to the limit than the model is exact.
    TooClose,
}

impl Forecast {
    /// The kernel's speed-up over the baseline.
    pub(crate) fn speedup(&self) -> f64 {
        self.times.baseline / self.times.student
    }

    /// The reference's speed-up over the baseline.
    pub(crate) fn reference_speedup(&self) -> f64 {
        self.times.baseline / self.times.reference
    }
}

/// Judges predicted times. `is_checked` says whether predictions for this GPU were compared with measurements. `None` if the
/// reference would hardly beat the baseline there: then there is nothing to judge by.
pub(crate) fn foretell(goal: Goal, times: Round, is_checked: bool) -> Option<Forecast> {
    let spread = times.baseline / times.reference;
    if matches!(goal, Goal::Position(_)) && spread < LEAST_SPREAD {
        return None;
    }
    let margin = margin(goal, &times);
    let band = if is_checked { CHECKED_BAND } else { UNCHECKED_BAND };
    let is_like = |other: f64| (times.student / other).ln().abs() < SAME;
    let is_clear = margin.abs() > band || is_like(times.baseline) || is_like(times.reference);
    Some(Forecast {
        times,
        needed: match goal {
            Goal::Position(position) => spread.powf(position),
            Goal::Within(factor) => 1.0 / factor,
        },
        position: (times.baseline / times.student).ln() / spread.ln(),
        margin,
        band,
        outlook: match (is_clear, margin >= 0.0) {
            (false, _) => Outlook::TooClose,
            (true, true) => Outlook::Passed,
            (true, false) => Outlook::TooSlow,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outlook(goal: Goal, student: f64, is_checked: bool) -> Option<Outlook> {
        let times = Round { baseline: 4.0, reference: 1.0, student };
        foretell(goal, times, is_checked).map(|forecast| forecast.outlook)
    }

    #[test]
    fn the_rule_is_that_of_measured_times() {
        let goal = Goal::Position(0.8);
        let limit = 4.0_f64.powf(0.2);
        let forecast = foretell(goal, Round { baseline: 4.0, reference: 1.0, student: limit }, true);
        let forecast = forecast.expect("there is room to judge");
        assert!((forecast.position - 0.8).abs() < 1e-9 && forecast.margin.abs() < 1e-9);
        assert_eq!(forecast.outlook, Outlook::TooClose);
        assert_eq!(outlook(goal, limit / 1.12, true), Some(Outlook::Passed));
        assert_eq!(outlook(goal, limit * 1.12, true), Some(Outlook::TooSlow));
    }

    #[test]
    fn a_model_that_nobody_has_checked_says_less() {
        let goal = Goal::Position(0.8);
        let limit = 4.0_f64.powf(0.2);
        assert_eq!(outlook(goal, limit * 1.2, true), Some(Outlook::TooSlow));
        assert_eq!(outlook(goal, limit * 1.2, false), Some(Outlook::TooClose));
        assert_eq!(outlook(goal, limit * 1.4, false), Some(Outlook::TooSlow));
    }

    #[test]
    fn what_is_like_the_reference_passes_and_what_is_like_the_baseline_does_not() {
        let times = Round { baseline: 1.3, reference: 1.0, student: 1.0 };
        let of = |student| foretell(Goal::Position(0.8), Round { student, ..times }, false);
        assert_eq!(of(1.0).map(|forecast| forecast.outlook), Some(Outlook::Passed));
        assert_eq!(of(1.3).map(|forecast| forecast.outlook), Some(Outlook::TooSlow));
        assert_eq!(of(1.15).map(|forecast| forecast.outlook), Some(Outlook::TooClose));
    }

    #[test]
    fn a_reference_without_a_lead_judges_nobody() {
        let times = Round { baseline: 1.1, reference: 1.0, student: 1.0 };
        assert_eq!(foretell(Goal::Position(0.8), times, true), None);
        assert!(foretell(Goal::Within(1.1), times, true).is_some());
    }
}
