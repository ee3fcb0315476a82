//! How far a plan has come.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::outcome::{Outcome, Weight};
use crate::plan::Plan;

/// Cells by how they stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// There is a verdict.
    pub judged: usize,
    /// Judging took too long or died.
    pub cut_short: usize,
    /// A machine was to blame.
    pub not_judged: usize,
    /// Nobody has come to it.
    pub open: usize,
    /// In all.
    pub of: usize,
}

/// How far a plan has come.
#[derive(Debug)]
pub struct PlanState<'a> {
    /// By exercise.
    pub exercises: BTreeMap<&'a str, Count>,
    /// Tasks with cells that have no verdict.
    pub unfinished: Vec<u32>,
}

impl PlanState<'_> {
    /// Whether each cell has a verdict.
    pub fn is_complete(&self) -> bool {
        self.unfinished.is_empty()
    }
}

impl Plan {
    /// How far it has come.
    pub fn state(&self, outcomes: &BTreeMap<String, Outcome>) -> PlanState<'_> {
        let mut state = PlanState { exercises: BTreeMap::new(), unfinished: Vec::new() };
        let weight = |key: &str| outcomes.get(key).map(Outcome::weight);
        for cell in &self.cells {
            let count = state.exercises.entry(cell.exercise.as_str()).or_default();
            count.of += 1;
            match weight(&cell.key) {
                Some(Weight::Judged) => count.judged += 1,
                Some(Weight::CutShort) => count.cut_short += 1,
                Some(Weight::NotJudged) => count.not_judged += 1,
                None => count.open += 1,
            }
        }
        let is_done =
            |shard: &u32| self.dealt(Some(*shard)).all(|cell| weight(&cell.key) == Some(Weight::Judged));
        state.unfinished = (0..self.shards).filter(|shard| !is_done(shard)).collect();
        state
    }
}
