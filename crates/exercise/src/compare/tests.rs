use super::*;
use crate::random::SplitMix64;

/// A right result with `change` applied to the elements that `choose(row, column)` picks.
fn spoil(
    [rows, columns]: [usize; 2],
    choose: impl Fn(usize, usize) -> bool,
    change: impl Fn(usize, &[f64]) -> f32,
) -> Comparison {
    let expected = expected([rows, columns]);
    let got: Vec<f32> = (0..rows * columns)
        .map(|i| {
            if choose(i / columns, i % columns) {
                change(i, &expected.values)
            } else {
                expected.values[i] as f32
            }
        })
        .collect();
    compare(&expected, &got, &vec![true; rows * columns])
}

fn expected(shape: [usize; 2]) -> Expected {
    let len = shape[0] * shape[1];
    let values = SplitMix64::new(3, 0).floats(len).into_iter().map(f64::from).collect();
    Expected { arg: 0, values, tolerance: vec![1e-6; len], shape }
}

/// Wrong by an amount that differs from element to element.
fn off(i: usize, values: &[f64]) -> f32 {
    values[i] as f32 + 0.1 + 0.013 * (i % 17) as f32
}

fn where_wrong(shape: [usize; 2], choose: impl Fn(usize, usize) -> bool) -> Option<Pattern> {
    spoil(shape, choose, off).pattern
}

fn what_wrong(shape: [usize; 2], change: impl Fn(usize, &[f64]) -> f32) -> Option<Pattern> {
    spoil(shape, |_, _| true, change).pattern
}

#[test]
fn right_is_right() {
    let comparison = spoil([5, 7], |_, _| false, off);
    assert_eq!(comparison, Comparison { wrong: 0, total: 35, first: None, pattern: None });
    assert!(comparison.is_right());
}

#[test]
fn the_first_wrong_element_is_reported() {
    let comparison = spoil([5, 7], |row, column| (row, column) == (2, 3), |_, _| 9.0);
    assert_eq!(comparison.wrong, 1);
    let (index, got, want) = comparison.first.unwrap();
    assert_eq!((index, got), (17, 9.0));
    assert!((want - expected([5, 7]).values[17]).abs() < 1e-12);
}

#[test]
fn errors_within_the_tolerance_pass_and_beyond_do_not() {
    assert!(spoil([4, 4], |_, _| true, |i, v| v[i] as f32 + 5e-7).is_right());
    assert_eq!(spoil([4, 4], |_, _| true, |i, v| v[i] as f32 + 2e-6).wrong, 16);
}

#[test]
fn nan_and_infinity_never_pass() {
    let mut expected = expected([2, 2]);
    expected.tolerance = vec![f64::INFINITY, 1e30, 1e30, 1e30];
    let comparison = compare(&expected, &[f32::NAN, f32::NAN, f32::NAN, f32::INFINITY], &[true; 4]);
    assert_eq!((comparison.wrong, comparison.pattern), (4, Some(Pattern::NotANumber)));
}

#[test]
fn unwritten_elements_never_pass_even_if_they_hold_the_right_value() {
    let expected = expected([4, 4]);
    let got: Vec<f32> = expected.values.iter().map(|v| *v as f32).collect();
    let comparison = compare(&expected, &got, &[false; 16]);
    assert_eq!((comparison.wrong, comparison.pattern), (16, Some(Pattern::NeverWritten)));
    assert!(comparison.first.unwrap().1.is_nan());
    // Some written wrongly, some not at all: "never wrote them" would be false.
    let mut written = vec![false; 16];
    written[0] = true;
    let mut spoiled = got.clone();
    spoiled[0] += 0.5;
    assert_eq!(compare(&expected, &spoiled, &written).pattern, Some(Pattern::All));
}

#[test]
fn a_short_output_counts_as_unwritten() {
    let comparison = compare(&expected([2, 2]), &[], &[]);
    assert_eq!((comparison.wrong, comparison.pattern), (4, Some(Pattern::NeverWritten)));
}

#[test]
fn what_is_in_them() {
    assert_eq!(what_wrong([6, 9], off), Some(Pattern::All));
    assert_eq!(what_wrong([6, 9], |_, _| 0.0), Some(Pattern::Zero));
    assert_eq!(what_wrong([6, 9], |i, v| 2.0 * v[i] as f32), Some(Pattern::Factor(2.0)));
    assert_eq!(what_wrong([6, 9], |i, v| 0.25 * v[i] as f32), Some(Pattern::Factor(0.25)));
    assert_eq!(what_wrong([6, 9], |i, v| -v[i] as f32), Some(Pattern::Factor(-1.0)));
    assert_eq!(what_wrong([6, 9], |i, v| v[(i + 1) % 54] as f32), Some(Pattern::Shifted(1)));
    assert_eq!(what_wrong([6, 9], |i, v| v[(i + 45) % 54] as f32), Some(Pattern::Shifted(-9)));
}

#[test]
fn transposed_results_are_recognised_square_or_not() {
    for [rows, columns] in [[8, 8], [6, 9], [9, 6]] {
        let transposed = |i: usize, v: &[f64]| v[i % rows * columns + i / rows] as f32;
        assert_eq!(what_wrong([rows, columns], transposed), Some(Pattern::Transposed));
    }
}

#[test]
fn bands_at_the_sides() {
    assert_eq!(where_wrong([33, 40], |row, _| row >= 32), Some(Pattern::LastRows(1)));
    assert_eq!(where_wrong([32, 37], |_, column| column >= 32), Some(Pattern::LastColumns(5)));
    assert_eq!(where_wrong([1, 1000], |_, column| column >= 768), Some(Pattern::LastColumns(232)));
    assert_eq!(
        where_wrong([35, 37], |row, column| row >= 32 || column >= 32),
        Some(Pattern::LastRowsAndColumns(3, 5))
    );
    assert_eq!(where_wrong([64, 64], |row, _| row >= 16), Some(Pattern::AllButFirstRows(16)));
    assert_eq!(where_wrong([1, 1000], |_, column| column >= 256), Some(Pattern::AllButFirstColumns(256)));
}

#[test]
fn regular_rows_and_columns() {
    let column = |stride, offset| Some(Pattern::EveryNthColumn { stride, offset });
    assert_eq!(where_wrong([20, 20], |_, column| column % 2 == 1), column(2, 1));
    assert_eq!(where_wrong([20, 64], |_, column| column % 16 == 0), column(16, 0));
    assert_eq!(
        where_wrong([20, 20], |row, _| row % 3 == 2),
        Some(Pattern::EveryNthRow { stride: 3, offset: 2 })
    );
}

#[test]
fn triangles_borders_and_tiles() {
    assert_eq!(where_wrong([20, 20], |row, column| column > row), Some(Pattern::UpperTriangle));
    assert_eq!(where_wrong([20, 20], |row, column| column < row), Some(Pattern::LowerTriangle));
    let border = |row: usize, column: usize| row.min(column).min(49 - row).min(49 - column) < 2;
    assert_eq!(where_wrong([50, 50], border), Some(Pattern::Border(2)));
    let edge = |at: usize| at.is_multiple_of(16) || at % 16 == 15;
    assert_eq!(where_wrong([64, 64], |row, column| edge(row) || edge(column)), Some(Pattern::TileEdges(16)));
}

#[test]
fn scattered_elements_have_no_pattern() {
    assert_eq!(where_wrong([64, 64], |row, column| (row * 64 + column) % 97 == 13), None);
}

#[test]
fn patterns_read_well() {
    let text = |pattern: Pattern| pattern.to_string();
    assert_eq!(text(Pattern::LastRows(1)), "only in the last 1 row");
    assert_eq!(text(Pattern::EveryNthColumn { stride: 2, offset: 1 }), "every 2nd column, from column 1 on");
    assert_eq!(text(Pattern::Factor(0.5)), "all of them are 1/2 of the right value");
    assert_eq!(text(Pattern::Shifted(-1)), "each holds what belongs 1 element before it");
}
