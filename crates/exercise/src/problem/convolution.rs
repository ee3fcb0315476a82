//! `out = in * filter`, 5 x 5, zero outside.

use super::{Arg, Expected, Instance, Param, ParamType, Problem, Size, sum_error};
use crate::random::SplitMix64;

/// Rows and columns of the filter on each side of its centre.
pub const FILTER_RADIUS: usize = 2;

const WIDTH: usize = 2 * FILTER_RADIUS + 1;

/// The weights, in the order of memory; the stub holds the same table. They are fixed, because constant memory is
/// filled when a kernel is loaded, not when it is launched. No two are equal and none is zero, so that a flipped,
/// shifted or truncated filter shows.
#[rustfmt::skip]
pub const FILTER: [f32; WIDTH * WIDTH] = {
    let mut weights = [
         3.0,  -8.0,  14.0, -11.0,   5.0,
        -7.0,  19.0, -27.0,  22.0,  -4.0,
        13.0, -25.0,  31.0, -29.0,  16.0,
        -6.0,  21.0, -24.0,  18.0,  -9.0,
         2.0, -10.0,  12.0, -15.0,   1.0,
    ];
    let mut i = 0;
    while i < weights.len() {
        weights[i] /= 64.0;
        i += 1;
    }
    weights
};

/// 5 x 5 convolution (without flipping: a correlation, as in deep learning) of a row-major rows x cols image whose
/// outside is zero. Size: `[rows, cols, 1]`.
///
/// x counts the columns, y the rows.
#[derive(Debug)]
pub struct Convolution;

impl Problem for Convolution {
    fn summary(&self) -> &'static str {
        "out = in filtered with the 5 x 5 weights FILTER, zero outside the image"
    }

    fn dimensions(&self) -> &'static [&'static str] {
        &["rows", "cols"]
    }

    fn params(&self) -> &'static [Param] {
        const {
            &[
                Param::new("in", ParamType::FloatIn),
                Param::new("out", ParamType::FloatOut),
                Param::new("rows", ParamType::Int),
                Param::new("cols", ParamType::Int),
            ]
        }
    }

    fn extent(&self, [rows, cols, _]: Size) -> [usize; 3] {
        [cols, rows, 1]
    }

    fn instance(&self, [rows, cols, _]: Size, seed: u64) -> Instance {
        let input = SplitMix64::new(seed, 0).floats(rows * cols);
        let bound = sum_error(FILTER.len());
        let mut values = Vec::with_capacity(input.len());
        let mut tolerance = Vec::with_capacity(input.len());
        for row in 0..rows {
            for col in 0..cols {
                let (sum, magnitude) = taps(&input, [rows, cols], [row, col])
                    .fold((0.0, 0.0), |(sum, magnitude), tap| (sum + tap, magnitude + tap.abs()));
                values.push(sum);
                tolerance.push(bound * magnitude);
            }
        }
        Instance {
            args: vec![
                Arg::input("in", [rows, cols], input),
                Arg::output("out", [rows, cols]),
                Arg::int(rows),
                Arg::int(cols),
            ],
            expected: vec![Expected { arg: 1, values, tolerance, shape: [rows, cols] }],
        }
    }

    fn layout(&self, [rows, cols, _]: Size) -> Vec<Arg> {
        vec![
            Arg::hollow("in", [rows, cols]),
            Arg::output("out", [rows, cols]),
            Arg::int(rows),
            Arg::int(cols),
        ]
    }

    fn flops(&self, [rows, cols, _]: Size) -> u64 {
        2 * (FILTER.len() * rows * cols) as u64
    }

    fn bytes(&self, [rows, cols, _]: Size) -> u64 {
        8 * (rows * cols) as u64
    }
}

/// The products that make up one output: those of the filter's cells that lie inside the image.
fn taps(input: &[f32], [rows, cols]: [usize; 2], [row, col]: [usize; 2]) -> impl Iterator<Item = f64> {
    FILTER.iter().enumerate().filter_map(move |(i, weight)| {
        let y = (row + i / WIDTH).checked_sub(FILTER_RADIUS).filter(|y| *y < rows)?;
        let x = (col + i % WIDTH).checked_sub(FILTER_RADIUS).filter(|x| *x < cols)?;
        Some(f64::from(*weight) * f64::from(input[y * cols + x]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_distinct_exact_and_not_zero() {
        for (i, weight) in FILTER.iter().enumerate() {
            assert_ne!(*weight, 0.0);
            assert_eq!((weight * 64.0).fract(), 0.0);
            assert!(FILTER[..i].iter().all(|other| other != weight));
        }
    }

    #[test]
    fn one_pixel_meets_the_centre_only() {
        let instance = Convolution.instance([1, 1, 1], 1);
        let Arg::Buffer(input) = &instance.args[0] else { panic!() };
        let pixel = f64::from(input.data.as_ref().unwrap()[0]);
        assert_eq!(instance.expected[0].values, [pixel * f64::from(FILTER[12])]);
    }

    #[test]
    fn the_filter_is_not_flipped() {
        // The output left of a pixel sees it one column to the right of the centre.
        let taps: Vec<f64> = taps(&[0.0, 1.0], [1, 2], [0, 0]).collect();
        assert_eq!(taps, [0.0, f64::from(FILTER[13])]);
    }
}
