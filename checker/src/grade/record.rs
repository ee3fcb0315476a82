//! The result of one cell, and its score.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The verdict where nothing was handed in.
pub(crate) const MISSING: &str = "missing";
/// The verdict where the machine is to blame.
pub(crate) const NOT_JUDGED: &str = "not_judged";

/// What one student got for one exercise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Of everything that decides the result; see [`super::key`].
    pub(crate) key: String,
    pub(crate) student: String,
    /// The exercise's folder.
    pub(crate) exercise: String,
    /// What was judged, relative to the class's folder.
    pub(crate) file: String,
    /// A verdict of `checker NN --json`, or `unreadable`, `judge_crashed`, `not_judged`.
    pub(crate) verdict: String,
    /// Between 0 and 1.
    pub(crate) score: f64,
    /// What the score is made of: `correct` first, then the requirements.
    pub(crate) criteria: Vec<Criterion>,
    /// What a person should know, if anything.
    pub(crate) message: Option<String>,
    pub(crate) seconds: f64,
    /// What it was read from, if it was a judgement; not kept with the others.
    #[serde(skip)]
    pub(crate) judgement: Option<Value>,
}

/// One point to earn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Criterion {
    /// `correct`, `speed`, or the key of a requirement.
    pub(crate) key: String,
    pub(crate) met: bool,
    /// What was measured.
    pub(crate) yours: Option<f64>,
}

impl Record {
    /// A record of something that earns nothing.
    pub(crate) fn unjudged(verdict: &str, message: Option<String>) -> Record {
        Record {
            key: String::new(),
            student: String::new(),
            exercise: String::new(),
            file: String::new(),
            verdict: verdict.to_owned(),
            score: 0.0,
            criteria: Vec::new(),
            message,
            seconds: 0.0,
            judgement: None,
        }
    }

    /// Reads the object of `checker NN --json`; `None` if it is none.
    pub(crate) fn of_judgement(judgement: &Value) -> Option<Record> {
        let verdict = judgement["verdict"].as_str()?;
        let cases = judgement["cases"].as_array()?;
        let rows = judgement["requirements"].as_array()?;
        let is_right = !cases.is_empty() && cases.iter().all(|case| case["verdict"] == "right");
        let mut criteria = vec![Criterion { key: "correct".into(), met: is_right, yours: None }];
        criteria.extend(rows.iter().map(|row| Criterion {
            key: row["key"].as_str().unwrap_or_default().to_owned(),
            met: is_right && row["met"] == true,
            yours: row["yours"].as_f64(),
        }));
        // Measured, or else predicted.
        let speedup = |of: &str| judgement[of]["speedup"].as_f64();
        if let Some(speedup) = speedup("timing").or_else(|| speedup("forecast")) {
            let met = is_right && verdict == "passed";
            criteria.push(Criterion { key: "speed".into(), met, yours: Some(speedup) });
        }
        let message = judgement["message"].as_str().map(str::to_owned);
        let judgement = Some(judgement.clone());
        Some(Record { criteria, judgement, ..Record::unjudged(verdict, message) }.with_score())
    }

    /// The record with the score that follows from the rest of it.
    pub(crate) fn with_score(self) -> Record {
        let score = if self.verdict == "passed" { 1.0 } else { score(&self.criteria) };
        Record { score, ..self }
    }

    /// Whether the machine is to blame, so that the next run tries again.
    pub(crate) fn is_open(&self) -> bool {
        self.verdict == NOT_JUDGED
    }
}

/// The share of criteria met, each worth the same. Wrong values earn nothing, however fast they come.
fn score(criteria: &[Criterion]) -> f64 {
    let is_right = criteria.iter().any(|criterion| criterion.key == "correct" && criterion.met);
    let met = criteria.iter().filter(|criterion| criterion.met).count();
    if is_right { met as f64 / criteria.len() as f64 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn judged(verdict: &str, case: &str, met: [bool; 2]) -> Record {
        let rows: Vec<Value> = met.iter().map(|met| json!({"key": "k", "met": met, "yours": 2.0})).collect();
        let object = json!({"verdict": verdict, "cases": [{"verdict": case}], "requirements": rows});
        Record::of_judgement(&object).expect("a judgement")
    }

    #[test]
    fn each_requirement_counts_once_the_values_are_right() {
        assert_eq!(judged("passed", "right", [true, true]).score, 1.0);
        assert_eq!(judged("too_slow", "right", [true, false]).score, 2.0 / 3.0);
        assert_eq!(judged("wrong_values", "wrong_values", [true, true]).score, 0.0);
        assert_eq!(judged("faults", "faults", [false, false]).score, 0.0);
    }

    #[test]
    fn a_predicted_speed_is_a_criterion() {
        let rows = json!([{"key": "k", "met": true, "yours": 2.0}]);
        let cases = json!([{"verdict": "right"}]);
        let of = |verdict: &str| {
            let object = json!({"verdict": verdict, "cases": cases, "requirements": rows,
                                "forecast": {"speedup": 1.5}});
            Record::of_judgement(&object).expect("a judgement")
        };
        assert_eq!((of("passed").score, of("too_slow").score), (1.0, 2.0 / 3.0));
        assert_eq!(of("too_slow").criteria[2].yours, Some(1.5));
    }

    #[test]
    fn what_is_no_judgement_is_none() {
        assert_eq!(Record::of_judgement(&json!({"verdict": "passed"})), None);
        assert_eq!(Record::of_judgement(&json!([])), None);
    }
}
