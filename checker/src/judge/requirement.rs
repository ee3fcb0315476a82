//! The table of requirements: yours, needed, reference.

use exercise::Requirement;

use super::Measured;

/// One row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequirementJudgement {
    pub(crate) requirement: Requirement,
    /// The kernel's value; `None` if it was not measured.
    pub(crate) yours: Option<f64>,
    /// The reference solution's value on the same case.
    pub(crate) reference: Option<f64>,
    /// Whether it is met; `None` if it could not be judged.
    pub(crate) met: Option<bool>,
    /// What to say if it is not: nothing that the kernel does already.
    pub(crate) advice: &'static str,
}

/// Judges each requirement. `yours` is missing if the kernel did not get as far as being measured.
pub(crate) fn judge_requirements(
    requirements: &[Requirement],
    yours: Option<&Measured>,
    reference: Option<&Measured>,
) -> Vec<RequirementJudgement> {
    let has_tile = yours.is_some_and(|measured| measured.counters.shared_load_requests > 0);
    let judge = |requirement: &Requirement| {
        let value = |measured: &Measured| measured.value(requirement.metric);
        let yours = yours.map(value);
        RequirementJudgement {
            requirement: *requirement,
            yours,
            reference: reference.map(value),
            met: yours.map(|value| requirement.bound.is_met_by(value)),
            advice: requirement.advice_with_tile.filter(|_| has_tile).unwrap_or(requirement.advice),
        }
    };
    requirements.iter().map(judge).collect()
}

#[cfg(test)]
mod tests {
    use exercise::{Bound, Metric};
    use warpsim::Counters;

    use super::*;

    fn reuse(flops: u64, bytes: u64) -> Measured {
        let counters = Counters { global_load_bytes: bytes, ..Counters::default() };
        Measured { counters, flops, ..Measured::of_nothing() }
    }

    const REUSE: Requirement = Requirement {
        key: "reuse",
        metric: Metric::FlopsPerLoadedByte,
        bound: Bound::AtLeast(1.5),
        advice: "load less",
        advice_with_tile: None,
    };

    #[test]
    fn a_bound_itself_is_good_enough() {
        let met = |flops| judge_requirements(&[REUSE], Some(&reuse(flops, 100)), None)[0].met;
        assert_eq!((met(150), met(149)), (Some(true), Some(false)));
    }

    #[test]
    fn who_has_a_tile_is_not_told_to_make_one() {
        let requirement = Requirement { advice_with_tile: Some("a larger tile"), ..REUSE };
        let mut measured = reuse(1, 100);
        assert_eq!(judge_requirements(&[requirement], Some(&measured), None)[0].advice, "load less");
        measured.counters.shared_load_requests = 1;
        assert_eq!(judge_requirements(&[requirement], Some(&measured), None)[0].advice, "a larger tile");
        assert_eq!(judge_requirements(&[REUSE], Some(&measured), None)[0].advice, "load less");
    }

    #[test]
    fn without_a_measurement_nothing_is_met() {
        let row = judge_requirements(&[REUSE], None, Some(&reuse(400, 100)))[0];
        assert_eq!((row.yours, row.reference, row.met), (None, Some(4.0), None));
    }
}
