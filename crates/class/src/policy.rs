//! `policy.toml`: what an instructor makes of results. It is read when marks are collected and never when a
//! kernel is judged, so that a change of mind costs no judging.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use serde::Deserialize;

use crate::class::Handin;
use crate::course::Course;
use crate::outcome::Criterion;

/// Points, weights and what being late costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// For exercises that have none of their own.
    default_points: f64,
    /// By the exercise's folder.
    points: BTreeMap<String, f64>,
    default_weights: BTreeMap<String, f64>,
    weights: BTreeMap<String, BTreeMap<String, f64>>,
    late: Late,
}

#[derive(Clone, Debug, PartialEq)]
struct Late {
    grace_minutes: f64,
    per_day: f64,
    most_days: u32,
    flag_days: u32,
    due: BTreeMap<String, Timestamp>,
    extension: BTreeMap<String, u32>,
}

/// The file's shape.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    points: BTreeMap<String, f64>,
    #[serde(default)]
    weights: BTreeMap<String, BTreeMap<String, f64>>,
    #[serde(default)]
    late: LateTable,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct LateTable {
    grace_minutes: f64,
    per_day: f64,
    most_days: Option<u32>,
    flag_days: Option<u32>,
    due: BTreeMap<String, DueDate>,
    extension: BTreeMap<String, u32>,
}

/// With or without quotes.
#[derive(Deserialize)]
#[serde(untagged)]
enum DueDate {
    Text(String),
    Date(toml::value::Datetime),
}

/// Why a policy is of no use. The message says where.
#[derive(Debug, thiserror::Error)]
#[error("the policy {path}: {reason}")]
pub struct PolicyError {
    path: String,
    reason: String,
}

impl Default for Policy {
    /// A point for each exercise, each criterion worth the same, and nobody late.
    fn default() -> Policy {
        Policy {
            default_points: 1.0,
            points: BTreeMap::new(),
            default_weights: BTreeMap::new(),
            weights: BTreeMap::new(),
            late: Late {
                grace_minutes: 0.0,
                per_day: 0.0,
                most_days: u32::MAX,
                flag_days: 1,
                due: BTreeMap::new(),
                extension: BTreeMap::new(),
            },
        }
    }
}

impl Policy {
    /// Reads a file.
    ///
    /// # Errors
    /// [`PolicyError`]; what is misspelt is an error, too.
    pub fn read(path: &Path, course: &Course) -> Result<Policy, PolicyError> {
        let failed = |reason: String| PolicyError { path: path.display().to_string(), reason };
        let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
        Policy::parse(&text, course).map_err(failed)
    }

    /// Reads the text of such a file.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn parse(text: &str, course: &Course) -> Result<Policy, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        let mut policy = Policy::default();
        for (name, points) in file.points {
            if !(points.is_finite() && points >= 0.0) {
                return Err(format!("[points] {name}: {points} is no number of points"));
            }
            match name.as_str() {
                "default" => policy.default_points = points,
                name => drop(policy.points.insert(exercise(course, "points", name)?, points)),
            }
        }
        for (name, weights) in file.weights {
            let sum: f64 = weights.values().sum();
            if weights.values().any(|weight| !(0.0..=1.0).contains(weight)) || sum > 1.0 + 1e-9 {
                return Err(format!(
                    "[weights.{name}]: weights lie between 0 and 1, and are 1 in all at most"
                ));
            }
            match name.as_str() {
                "default" => policy.default_weights = weights,
                name => drop(policy.weights.insert(exercise(course, "weights", name)?, weights)),
            }
        }
        let LateTable { grace_minutes, per_day, most_days, flag_days, due, extension } = file.late;
        let is_sound = (0.0..=1.0).contains(&per_day) && grace_minutes.is_finite() && grace_minutes >= 0.0;
        if !is_sound {
            return Err("[late]: per_day is a share between 0 and 1, grace_minutes are not below 0".into());
        }
        policy.late = Late {
            grace_minutes,
            per_day,
            most_days: most_days.unwrap_or(u32::MAX),
            flag_days: flag_days.unwrap_or(1),
            due: BTreeMap::new(),
            extension,
        };
        for (name, date) in due {
            let text = match date {
                DueDate::Text(text) => text,
                DueDate::Date(date) => date.to_string(),
            };
            let date = text.parse().map_err(|_| {
                format!(
                    "[late.due] {name}: `{text}` is no point in time; write it with its zone, as \
                     2026-12-01T23:59:00+01:00"
                )
            })?;
            policy.late.due.insert(exercise(course, "late.due", &name)?, date);
        }
        Ok(policy)
    }

    /// What an exercise is worth.
    pub fn points(&self, exercise: &str) -> f64 {
        self.points.get(exercise).copied().unwrap_or(self.default_points)
    }

    /// The share of the points that `criteria` earn, from 0 to 1. Wrong values earn nothing, however fast
    /// they come. Criteria without a weight share what the others leave.
    pub fn share(&self, exercise: &str, criteria: &[Criterion]) -> f64 {
        let is_right = criteria.iter().any(|criterion| criterion.key == "correct" && criterion.met);
        if !is_right {
            return 0.0;
        }
        let weights = self.weights.get(exercise).unwrap_or(&self.default_weights);
        let weight = |criterion: &Criterion| weights.get(&criterion.key).copied();
        let named: f64 = criteria.iter().filter_map(weight).sum();
        let unnamed = criteria.iter().filter(|criterion| weight(criterion).is_none()).count();
        let each = if unnamed > 0 { (1.0 - named).max(0.0) / unnamed as f64 } else { 0.0 };
        let all = named + each * unnamed as f64;
        let earned: f64 = criteria
            .iter()
            .filter(|criterion| criterion.met)
            .map(|criterion| weight(criterion).unwrap_or(each))
            .sum();
        // An exercise without requirements is worth all of its points when the values are right.
        if all > 0.0 { (earned / all).min(1.0) } else { 1.0 }
    }

    /// Days that a hand-in is late, begun ones included, without those that the student was given. Where it
    /// is not known when it was handed in, the system's own mark counts.
    pub fn late_days(&self, handin: &Handin, aliases: &[&str]) -> u32 {
        let at = handin.at.as_ref().and_then(|at| at.parse::<Timestamp>().ok());
        let days = match (at, self.late.due.get(&handin.exercise)) {
            (Some(at), Some(due)) => {
                let seconds = at.duration_since(*due).as_secs_f64() - 60.0 * self.late.grace_minutes;
                if seconds <= 0.0 { 0 } else { (seconds / 86_400.0).ceil() as u32 }
            }
            _ if handin.is_late => self.late.flag_days,
            _ => 0,
        };
        let given = std::iter::once(handin.student.as_str()).chain(aliases.iter().copied());
        let given = given.filter_map(|name| self.late.extension.get(name)).max().copied().unwrap_or(0);
        days.saturating_sub(given)
    }

    /// The share of the earned points that being `days` late costs.
    pub fn penalty(&self, days: u32) -> f64 {
        if days > self.late.most_days { 1.0 } else { (f64::from(days) * self.late.per_day).min(1.0) }
    }
}

/// The folder of the exercise that a key means.
fn exercise(course: &Course, table: &str, name: &str) -> Result<String, String> {
    course
        .named(name)
        .map(crate::course::Exercise::folder)
        .ok_or_else(|| format!("[{table}] {name}: there is no such exercise"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::course::sample;

    fn policy(text: &str) -> Policy {
        Policy::parse(text, &sample()).expect("a policy")
    }

    fn criteria(met: [bool; 3]) -> Vec<Criterion> {
        let keys = ["correct", "loads", "stores"];
        keys.iter().zip(met).map(|(key, met)| Criterion { key: (*key).into(), met, yours: None }).collect()
    }

    fn handin(at: Option<&str>, is_late: bool) -> Handin {
        Handin {
            student: "kim".into(),
            exercise: "05_transpose_coalescing".into(),
            sha256: None,
            source: String::new(),
            is_late,
            at: at.map(str::to_owned),
            problem: None,
        }
    }

    #[test]
    fn weights_are_of_what_is_met_once_the_values_are_right() {
        let even = Policy::default();
        let half = policy("[weights.default]\ncorrect = 0.5\n");
        let own = policy("[weights.default]\ncorrect = 0.5\n[weights.05]\nstores = 0.8\n");
        let five = "05_transpose_coalescing";
        for (policy, met, share) in [
            (&even, [true, true, true], 1.0),
            (&even, [true, true, false], 2.0 / 3.0),
            (&even, [false, true, true], 0.0),
            (&half, [true, false, false], 0.5),
            (&half, [true, true, false], 0.75),
            (&own, [true, true, false], 0.2),
            (&own, [true, true, true], 1.0),
        ] {
            assert!((policy.share(five, &criteria(met)) - share).abs() < 1e-12, "{met:?}");
        }
        // Nothing but right values is asked for.
        assert_eq!(half.share(five, &criteria([true; 3])[..1]), 1.0);
        assert_eq!(half.share(five, &[]), 0.0);
    }

    #[test]
    fn lateness_is_of_days_begun_after_grace_and_extension() {
        let policy = policy(
            "[late]\ngrace_minutes = 30\nper_day = 0.1\nmost_days = 3\n\
             [late.due]\n05 = 2026-12-01T23:59:00+01:00\n[late.extension]\nlee = 2\n",
        );
        for (at, days) in [
            ("2026-12-01T22:00:00Z", 0),
            ("2026-12-01T23:29:00Z", 0),
            ("2026-12-01T23:29:01Z", 1),
            ("2026-12-02T23:29:00Z", 1),
            ("2026-12-02T23:29:01Z", 2),
        ] {
            assert_eq!(policy.late_days(&handin(Some(at), false), &[]), days, "{at}");
        }
        assert_eq!(policy.late_days(&handin(None, true), &[]), 1);
        assert_eq!(policy.late_days(&handin(None, false), &[]), 0);
        assert_eq!(policy.late_days(&handin(Some("2026-12-03T12:00:00Z"), true), &["lee"]), 0);
        // Only the flag is known of an exercise without a date.
        let other =
            Handin { exercise: "06_bank_padding".into(), ..handin(Some("2027-01-01T00:00:00Z"), false) };
        assert_eq!(policy.late_days(&other, &[]), 0);
        assert_eq!([0, 1, 3, 4].map(|days| policy.penalty(days)), [0.0, 0.1, 0.30000000000000004, 1.0]);
    }

    #[test]
    fn what_is_misspelt_or_impossible_is_an_error() {
        for (text, phrase) in [
            ("[point]\n05 = 1\n", "unknown field `point`"),
            ("[points]\n99 = 1\n", "[points] 99: there is no such exercise"),
            ("[points]\n05 = -1\n", "no number of points"),
            ("[weights.default]\ncorrect = 0.8\nstores = 0.3\n", "1 in all"),
            ("[late]\nper_day = 10\n", "a share between 0 and 1"),
            ("[late.due]\n05 = 2026-12-01\n", "write it with its zone"),
            ("[late.due]\n05 = \"tomorrow\"\n", "`tomorrow` is no point in time"),
            ("points = [", ""),
        ] {
            let error = Policy::parse(text, &sample()).expect_err(text);
            assert!(error.contains(phrase), "{text}: {error}");
        }
    }
}
