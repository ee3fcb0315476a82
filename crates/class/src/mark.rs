//! From a result to a mark.

use crate::class::Handin;
use crate::outcome::{Outcome, Weight};
use crate::policy::Policy;

/// How it stands with one student's exercise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// There is a verdict.
    Judged,
    /// Nothing was handed in.
    Missing,
    /// What was handed in is no text of a kernel.
    Unreadable,
    /// Nobody has judged it yet, or a machine was to blame: no mark is fair.
    Open,
}

/// What one student gets for one exercise.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// How it stands.
    pub standing: Standing,
    /// The verdict's name, or `missing`, `unreadable`, `not_judged`.
    pub verdict: String,
    /// The most there is.
    pub points: f64,
    /// Points before anything is taken off; `None` while it is open.
    pub raw: Option<f64>,
    /// Days that it is late.
    pub late_days: u32,
    /// Points that being late costs.
    pub penalty: f64,
    /// Points.
    pub score: Option<f64>,
}

/// Marks a hand-in by its result. `aliases`: other names of the student, for extensions.
pub fn mark(
    policy: &Policy,
    exercise: &str,
    handin: Option<&Handin>,
    outcome: Option<&Outcome>,
    aliases: &[&str],
) -> Mark {
    let points = policy.points(exercise);
    let without = |standing, verdict: &str, raw: Option<f64>| Mark {
        standing,
        verdict: verdict.to_owned(),
        points,
        raw,
        late_days: 0,
        penalty: 0.0,
        score: raw,
    };
    let Some(handin) = handin else { return without(Standing::Missing, "missing", Some(0.0)) };
    if handin.sha256.is_none() {
        return without(Standing::Unreadable, "unreadable", Some(0.0));
    }
    let Some(outcome) = outcome else { return without(Standing::Open, "not_judged", None) };
    // What a machine cut short is no mark; neither is what warpsim does not know.
    if outcome.weight() != Weight::Judged || outcome.verdict == "unsupported" {
        return without(Standing::Open, &outcome.verdict, None);
    }
    let standing = if outcome.verdict == "unreadable" { Standing::Unreadable } else { Standing::Judged };
    let share = if outcome.verdict == "passed" { 1.0 } else { policy.share(exercise, &outcome.criteria) };
    let raw = round(points * share);
    let late_days = policy.late_days(handin, aliases);
    let penalty = round(raw * policy.penalty(late_days));
    Mark {
        standing,
        verdict: outcome.verdict.clone(),
        points,
        raw: Some(raw),
        late_days,
        penalty,
        score: Some(round(raw - penalty)),
    }
}

/// Two decimals, which is what gradebooks keep.
pub(crate) fn round(points: f64) -> f64 {
    (points * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::course::sample;
    use crate::outcome::Criterion;

    #[test]
    fn marks_follow_from_the_result_and_the_policy() {
        let text = "[points]\ndefault = 10\n[weights.default]\ncorrect = 0.5\n[late]\nper_day = 0.25\n";
        let policy = Policy::parse(text, &sample()).expect("a policy");
        let handin = |sha256: Option<&str>, is_late| Handin {
            student: "kim".into(),
            exercise: "05_x".into(),
            sha256: sha256.map(str::to_owned),
            source: String::new(),
            is_late,
            at: None,
            problem: None,
        };
        let outcome = |verdict: &str| Outcome {
            key: String::new(),
            exercise: "05_x".into(),
            verdict: verdict.into(),
            criteria: vec![
                Criterion { key: "correct".into(), met: verdict != "wrong_values", yours: None },
                Criterion { key: "stores".into(), met: false, yours: Some(8.0) },
            ],
            message: None,
            gpu: None,
            attempt: 0,
            host: String::new(),
            seconds: 0.0,
        };
        let marked = |handin: Option<Handin>, verdict: Option<&str>| {
            let mark = mark(&policy, "05_x", handin.as_ref(), verdict.map(outcome).as_ref(), &[]);
            (mark.standing, mark.raw, mark.penalty, mark.score)
        };
        let there = |is_late| Some(handin(Some("abc"), is_late));
        assert_eq!(marked(there(false), Some("too_slow")), (Standing::Judged, Some(5.0), 0.0, Some(5.0)));
        assert_eq!(marked(there(true), Some("too_slow")), (Standing::Judged, Some(5.0), 1.25, Some(3.75)));
        assert_eq!(marked(there(false), Some("wrong_values")), (Standing::Judged, Some(0.0), 0.0, Some(0.0)));
        assert_eq!(marked(None, None), (Standing::Missing, Some(0.0), 0.0, Some(0.0)));
        assert_eq!(marked(Some(handin(None, false)), None).0, Standing::Unreadable);
        for verdict in
            [None, Some("not_judged"), Some("judge_timeout"), Some("judge_crashed"), Some("unsupported")]
        {
            assert_eq!(marked(there(true), verdict), (Standing::Open, None, 0.0, None), "{verdict:?}");
        }
    }
}
