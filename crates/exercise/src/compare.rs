//! Comparing an output with what was expected, and saying what the wrong elements have in common.

use crate::problem::Expected;

/// How an output compares.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// How many elements are wrong.
    pub wrong: usize,
    /// Of how many.
    pub total: usize,
    /// The first wrong element: flat index, value got, value wanted.
    pub first: Option<(usize, f32, f64)>,
    /// What the wrong ones have in common.
    pub pattern: Option<Pattern>,
}

/// What wrong elements have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Every element.
    All,
    /// Elements that the kernel never wrote.
    NeverWritten,
}

/// Compares `got` (with `written` telling which elements the kernel wrote) with `expected`.
pub fn compare(expected: &Expected, got: &[f32], written: &[bool]) -> Comparison {
    let _ = (expected, got, written);
    todo!()
}
