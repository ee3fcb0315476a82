//! Comparing an output with what was expected, and saying what the wrong elements have in common.

mod pattern;

pub use pattern::Pattern;

use crate::problem::Expected;

/// How an output compares.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// How many elements are wrong.
    pub wrong: usize,
    /// Of how many.
    pub total: usize,
    /// The first wrong element: flat index, value got, value wanted. NaN where the kernel never wrote it.
    pub first: Option<(usize, f32, f64)>,
    /// What the wrong ones have in common.
    pub pattern: Option<Pattern>,
}

impl Comparison {
    /// Whether every element is right.
    pub fn is_right(&self) -> bool {
        self.wrong == 0
    }
}

/// Compares `got` (with `written` telling which elements the kernel wrote) with `expected`. NaN never passes, nor does an
/// element that was not written, whatever it holds. Elements beyond the end of a shorter slice count as never written.
pub fn compare(expected: &Expected, got: &[f32], written: &[bool]) -> Comparison {
    let total = expected.values.len();
    let elements: Vec<Element> = (0..total)
        .map(|i| Element {
            got: got.get(i).copied().filter(|_| written.get(i).copied().unwrap_or(false)),
            want: expected.values[i],
            tolerance: expected.tolerance[i],
        })
        .collect();
    let wrong: Vec<usize> = (0..total).filter(|i| !elements[*i].is_right()).collect();
    let first = wrong.first().map(|&i| (i, elements[i].got.unwrap_or(f32::NAN), elements[i].want));
    let pattern = pattern::find(&elements, &wrong, expected.shape);
    Comparison { wrong: wrong.len(), total, first, pattern }
}

/// One element of an output.
#[derive(Clone, Copy, Debug)]
struct Element {
    /// `None`: never written.
    got: Option<f32>,
    want: f64,
    tolerance: f64,
}

impl Element {
    fn is_right(&self) -> bool {
        self.got.is_some_and(|got| self.accepts(f64::from(got)))
    }

    /// Whether `value` would be right here. NaN is within no tolerance.
    fn accepts(&self, value: f64) -> bool {
        (value - self.want).abs() <= self.tolerance
    }
}

#[cfg(test)]
mod tests;
