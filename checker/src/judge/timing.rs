//! Judging times on a GPU: relative to a baseline and to the reference, with the noise taken into account.
//!
//! Each round gives one time of the baseline B, the reference R and the student's kernel S, taken one after another
//! in random order, so that a drifting clock moves all three. A round's *margin* is
//! `ln(B/S) - goal x ln(B/R)`: positive where the kernel is good enough. The verdict rests on the median margin and
//! its bootstrap interval, which resamples whole rounds (Efron and Tibshirani, "An Introduction to the Bootstrap",
//! 1993, chapter 13). Where the interval holds 0, more rounds are taken, at most [`LOOKS`] times; each look spends a
//! third of the 5 % (Bonferroni), so that looking again does not make a chance pass likelier.

mod bootstrap;

use exercise::Goal;

use bootstrap::interval;
pub(crate) use bootstrap::median;

/// How often the rounds may be looked at before the verdict is *inconclusive*.
pub(crate) const LOOKS: usize = 3;

/// The chance of a wrong decision, over all looks.
const ALPHA: f64 = 0.05;

/// A baseline that the reference hardly beats tells nothing.
pub(super) const LEAST_SPREAD: f64 = 1.25;

/// The shortest time worth measuring, in empty launches.
const LEAST_EMPTY_LAUNCHES: f64 = 20.0;

/// How far the reference's times may drift from the first half of the rounds to the second.
const MOST_DRIFT: f64 = 0.03;

/// Times of one round, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Round {
    pub(crate) baseline: f64,
    pub(crate) reference: f64,
    pub(crate) student: f64,
}

/// What no kernel can be faster than on this GPU, in milliseconds; 0 where it can't be told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Floor {
    /// The inputs, read once at the peak bandwidth.
    pub(crate) memory: f64,
    /// The arithmetic at the peak rate.
    pub(crate) arithmetic: f64,
}

/// What was measured, for the report. Speed-ups are of medians, over the baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Timing {
    /// Median times.
    pub(crate) median: Round,
    /// The least speed-up that passes.
    pub(crate) needed: f64,
    /// Where the kernel stands from baseline (0) to reference (1).
    pub(crate) position: f64,
    /// The median margin, and its interval.
    pub(crate) margin: f64,
    pub(crate) interval: (f64, f64),
    pub(crate) rounds: usize,
    pub(crate) decision: Decision,
}

impl Timing {
    /// The kernel's speed-up over the baseline.
    pub(crate) fn speedup(&self) -> f64 {
        self.median.baseline / self.median.student
    }

    /// The reference's speed-up over the baseline.
    pub(crate) fn reference_speedup(&self) -> f64 {
        self.median.baseline / self.median.reference
    }
}

/// What the times come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Decision {
    Passed,
    TooSlow,
    /// The interval holds 0: more rounds, or *inconclusive*.
    Undecided,
    NotMeasurable(Obstacle),
    /// Faster than the hardware: something else was measured than the work.
    NotBelievable,
}

/// Why times say nothing here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Obstacle {
    /// The reference is only this much faster than the baseline.
    Spread(f64),
    /// The kernel takes only this many empty launches.
    Short(f64),
    /// The reference's own time drifted by this part.
    Drift(f64),
    /// A time is missing, zero or not a number.
    BadTime,
}

/// Judges `rounds`; `seed` draws the resamples, so that the same rounds always get the same verdict.
pub(crate) fn judge_timing(
    goal: Goal,
    rounds: &[Round],
    empty_launches: &[f64],
    floor: Floor,
    seed: u64,
) -> Timing {
    let margins: Vec<f64> = rounds.iter().map(|round| margin(goal, round)).collect();
    let median_of = |time: fn(&Round) -> f64| median(rounds.iter().map(time).collect());
    let median_round = Round {
        baseline: median_of(|round| round.baseline),
        reference: median_of(|round| round.reference),
        student: median_of(|round| round.student),
    };
    let interval = interval(&margins, ALPHA / LOOKS as f64, seed);
    let spread = median_round.baseline / median_round.reference;
    let empty_launch = median(empty_launches.to_vec());
    let decision = if let Some(obstacle) = obstacle(goal, rounds, &median_round, empty_launch) {
        Decision::NotMeasurable(obstacle)
    } else if median_round.student < floor.memory.max(floor.arithmetic) {
        Decision::NotBelievable
    } else if interval.0 >= 0.0 {
        Decision::Passed
    } else if interval.1 < 0.0 {
        Decision::TooSlow
    } else {
        Decision::Undecided
    };
    Timing {
        median: median_round,
        needed: match goal {
            Goal::Position(position) => spread.powf(position),
            Goal::Within(factor) => 1.0 / factor,
        },
        position: (median_round.baseline / median_round.student).ln() / spread.ln(),
        margin: median(margins),
        interval,
        rounds: rounds.len(),
        decision,
    }
}

/// How far the student is from the limit, as the logarithm of a ratio of times.
pub(super) fn margin(goal: Goal, round: &Round) -> f64 {
    let speedup = (round.baseline / round.student).ln();
    match goal {
        Goal::Position(position) => speedup - position * (round.baseline / round.reference).ln(),
        Goal::Within(factor) => speedup + factor.ln(),
    }
}

fn obstacle(goal: Goal, rounds: &[Round], median_round: &Round, empty_launch: f64) -> Option<Obstacle> {
    let is_time = |time: f64| time.is_finite() && time > 0.0;
    let is_good =
        |round: &Round| is_time(round.baseline) && is_time(round.reference) && is_time(round.student);
    if rounds.is_empty() || !rounds.iter().all(is_good) {
        return Some(Obstacle::BadTime);
    }
    let spread = median_round.baseline / median_round.reference;
    if matches!(goal, Goal::Position(_)) && spread < LEAST_SPREAD {
        return Some(Obstacle::Spread(spread));
    }
    let launches = median_round.student / empty_launch;
    // Without a single empty launch this is NaN, which is no measurement either.
    if launches.is_nan() || launches < LEAST_EMPTY_LAUNCHES {
        return Some(Obstacle::Short(launches));
    }
    let (first, second) = rounds.split_at(rounds.len() / 2);
    let reference = |rounds: &[Round]| median(rounds.iter().map(|round| round.reference).collect());
    let drift = reference(second) / reference(first) - 1.0;
    (drift.abs() > MOST_DRIFT).then_some(Obstacle::Drift(drift))
}

#[cfg(test)]
mod tests;
