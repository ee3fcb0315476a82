//! What judging one text for one exercise came to.

use serde::{Deserialize, Serialize};

/// The result for one [`crate::Cell`], a line of the results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Of the cell.
    pub key: String,
    /// The exercise's folder.
    pub exercise: String,
    /// A verdict of `checker NN --json`, or `unreadable`, `judge_timeout`, `judge_crashed`, `not_judged`.
    pub verdict: String,
    /// What the score is made of: `correct` first, then the requirements. Empty if nothing ran.
    pub criteria: Vec<Criterion>,
    /// What a person should know, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The GPU that it was timed on; `None` on the simulator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu: Option<String>,
    /// How often this task had been started before.
    #[serde(default)]
    pub attempt: u32,
    /// The machine that judged.
    #[serde(default)]
    pub host: String,
    /// What judging took.
    #[serde(default)]
    pub seconds: f64,
}

/// One thing to get right.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Criterion {
    /// `correct`, `speed`, or the key of a requirement.
    pub key: String,
    /// Whether it is.
    pub met: bool,
    /// What was measured, if something was.
    pub yours: Option<f64>,
}

/// How much a result can be relied on, from little to much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// A machine was to blame.
    NotJudged,
    /// Judging took too long or died: another machine, or more time, may come further.
    CutShort,
    /// The kernel decides it, and would anywhere.
    Judged,
}

impl Outcome {
    /// How much this one can be relied on.
    pub fn weight(&self) -> Weight {
        match self.verdict.as_str() {
            "not_judged" => Weight::NotJudged,
            "judge_timeout" | "judge_crashed" => Weight::CutShort,
            _ => Weight::Judged,
        }
    }

    /// Whether both say the same of the kernel, whatever it took to say so.
    pub fn agrees_with(&self, other: &Outcome) -> bool {
        self.verdict == other.verdict && self.criteria == other.criteria
    }
}
