//! Gradescope's autograder: what it tells in `submission_metadata.json`, and `results.json`, which it takes.
//! From gradescope-autograders.readthedocs.io.

use serde::{Deserialize, Serialize};

use crate::label::clean;
use crate::mark::round;
use crate::outcome::Outcome;
use crate::policy::Policy;

/// What Gradescope tells about a submission; whatever is missing is missing.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Metadata {
    #[serde(default)]
    assignment: Assignment,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct Assignment {
    /// A text with a number in it, or a number.
    #[serde(default)]
    total_points: serde_json::Value,
}

impl Metadata {
    /// Reads the file's text; what cannot be read is as if it were empty.
    pub fn parse(text: &[u8]) -> Metadata {
        serde_json::from_slice(text).unwrap_or_default()
    }

    /// What the assignment is worth, if it says so.
    pub fn total_points(&self) -> Option<f64> {
        let value = &self.assignment.total_points;
        let points = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
        points.filter(|points| points.is_finite() && *points > 0.0)
    }
}

/// The object of `results.json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Results {
    score: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    execution_time: Option<f64>,
    output: String,
    output_format: &'static str,
    test_output_format: &'static str,
    visibility: &'static str,
    stdout_visibility: &'static str,
    tests: Vec<Test>,
}

/// One row that a student sees.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Test {
    name: String,
    score: f64,
    max_score: f64,
    status: &'static str,
    output: String,
}

impl Results {
    /// Nothing earned, and why: what is there if judging ends before it has a verdict. `points`: of the
    /// assignment.
    pub fn failed(points: f64, why: &str) -> Results {
        let test = Test {
            name: "judged".into(),
            score: 0.0,
            max_score: round(points),
            status: "failed",
            output: lines(why),
        };
        Results::of(vec![test], why, None)
    }

    /// A verdict, with a test for each criterion. The points of all tests are those of the assignment, as
    /// Gradescope wants it. `told`: for the student, as Markdown.
    pub fn judged(outcome: &Outcome, policy: &Policy, points: f64, told: &str) -> Results {
        if outcome.criteria.is_empty() {
            return Results::failed(points, told);
        }
        let count = outcome.criteria.len();
        let is_right = outcome.criteria.iter().any(|criterion| criterion.key == "correct" && criterion.met);
        let full: Vec<_> =
            outcome.criteria.iter().map(|c| crate::outcome::Criterion { met: true, ..c.clone() }).collect();
        let mut tests = Vec::new();
        let mut left = round(points);
        for (index, criterion) in outcome.criteria.iter().enumerate() {
            // What this one adds to the share of all that is met.
            let without =
                full.iter().map(|c| crate::outcome::Criterion { met: c.key != criterion.key, ..c.clone() });
            let share = if criterion.key == "correct" {
                let alone: Vec<_> = full
                    .iter()
                    .map(|c| crate::outcome::Criterion { met: c.key == "correct", ..c.clone() })
                    .collect();
                policy.share(&outcome.exercise, &alone)
            } else {
                1.0 - policy.share(&outcome.exercise, &without.collect::<Vec<_>>())
            };
            let worth = if index + 1 == count { left } else { round(points * share).min(left) };
            left = round(left - worth);
            let is_met = criterion.met && is_right;
            let yours = criterion.yours.map(|yours| format!("yours: {yours:.2}")).unwrap_or_default();
            tests.push(Test {
                name: clean(&criterion.key),
                score: if is_met { worth } else { 0.0 },
                max_score: worth,
                status: if is_met { "passed" } else { "failed" },
                output: yours,
            });
        }
        Results::of(tests, told, Some(outcome.seconds))
    }

    fn of(tests: Vec<Test>, output: &str, execution_time: Option<f64>) -> Results {
        Results {
            score: round(tests.iter().map(|test| test.score).sum()),
            execution_time,
            output: lines(output),
            output_format: "md",
            test_output_format: "text",
            // One hidden test would hide the total, too.
            visibility: "visible",
            stdout_visibility: "hidden",
            tests,
        }
    }

    /// The file's text.
    pub fn text(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(self).expect("plain data")
    }
}

fn lines(text: &str) -> String {
    text.lines()
        .map(|line| line.chars().filter(|c| !c.is_control()).collect::<String>())
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::course::sample;
    use crate::outcome::Criterion;

    fn outcome(met: &[bool]) -> Outcome {
        let keys = ["correct", "loads", "stores"];
        let criteria = keys.iter().zip(met).map(|(key, met)| Criterion {
            key: (*key).into(),
            met: *met,
            yours: Some(1.5),
        });
        Outcome {
            key: String::new(),
            exercise: "05_transpose_coalescing".into(),
            verdict: "too_slow".into(),
            criteria: criteria.collect(),
            message: None,
            gpu: None,
            attempt: 0,
            host: String::new(),
            seconds: 0.5,
        }
    }

    fn points(results: &Results) -> (f64, f64) {
        (results.score, round(results.tests.iter().map(|test| test.max_score).sum()))
    }

    #[test]
    fn the_points_of_all_tests_are_those_of_the_assignment() {
        let even = Policy::default();
        let half = Policy::parse("[weights.default]\ncorrect = 0.5\n", &sample()).expect("a policy");
        for (policy, met, total, score) in [
            (&even, vec![true, true, true], 10.0, 10.0),
            (&even, vec![true, true, false], 10.0, 6.66),
            (&half, vec![true, false, true], 20.0, 15.0),
            (&half, vec![false, true, true], 20.0, 0.0),
            (&half, vec![true], 7.0, 7.0),
            (&half, vec![], 7.0, 0.0),
        ] {
            let results = Results::judged(&outcome(&met), policy, total, "text");
            let (got, most) = points(&results);
            assert!((got - score).abs() < 0.02, "{met:?}: {got}");
            assert_eq!(most, total, "{met:?}");
        }
        assert_eq!(points(&Results::failed(10.0, "why")), (0.0, 10.0));
    }

    #[test]
    fn points_come_as_texts_and_may_be_missing() {
        let points = |text: &str| Metadata::parse(text.as_bytes()).total_points();
        assert_eq!(points("{\"assignment\": {\"total_points\": \"20.0\"}}"), Some(20.0));
        assert_eq!(points("{\"assignment\": {\"total_points\": 5}}"), Some(5.0));
        for text in [
            "",
            "{}",
            "[]",
            "{\"assignment\": {\"total_points\": \"many\"}}",
            "{\"assignment\": {\"total_points\": \"0\"}}",
        ] {
            assert_eq!(points(text), None, "{text}");
        }
    }

    #[test]
    fn the_file_has_the_fields_that_gradescope_takes() {
        let value: serde_json::Value = serde_json::from_slice(
            &Results::judged(&outcome(&[true, false]), &Policy::default(), 10.0, "a\u{1b}b").text(),
        )
        .expect("JSON");
        assert_eq!(value["output"], "ab");
        assert_eq!(value["tests"][1]["status"], "failed");
        assert_eq!((&value["visibility"], &value["output_format"]), (&"visible".into(), &"md".into()));
    }
}
