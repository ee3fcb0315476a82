//! Comparing an output with what was expected, and saying what the wrong elements have in common.

mod pattern;

pub use pattern::Pattern;

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

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
    if is_all_right(expected, got, written) {
        return Comparison { wrong: 0, total, first: None, pattern: None };
    }
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

/// Whether nothing is wrong, which is the rule and is told without keeping anything: outputs that are timed on a GPU
/// have millions of elements.
fn is_all_right(expected: &Expected, got: &[f32], written: &[bool]) -> bool {
    let total = expected.values.len();
    let is_complete = expected.tolerance.len() >= total && got.len() >= total && written.len() >= total;
    is_complete
        && (0..total).into_par_iter().with_min_len(1 << 16).all(|i| {
            let (want, tolerance) = (expected.values[i], expected.tolerance[i]);
            Element { got: written[i].then_some(got[i]), want, tolerance }.is_right()
        })
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
