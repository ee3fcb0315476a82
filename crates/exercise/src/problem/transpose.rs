//! `out = transpose(in)`.

use super::{Arg, Expected, Instance, Param, ParamType, Problem, Size, Yardstick};
use crate::random::SplitMix64;

/// Transpose of a row-major rows x cols matrix into a row-major cols x rows one. Size: `[rows, cols, 1]`.
///
/// x counts the columns of the *input*, y its rows: a block covers a piece of the input.
#[derive(Debug)]
pub struct Transpose;

impl Problem for Transpose {
    fn summary(&self) -> &'static str {
        "out = transpose of in, both row-major"
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
        let mut values = Vec::with_capacity(rows * cols);
        for col in 0..cols {
            values.extend((0..rows).map(|row| f64::from(input[row * cols + col])));
        }
        // Nothing is computed, so nothing may be off.
        let tolerance = vec![0.0; rows * cols];
        Instance {
            args: vec![
                Arg::input("in", [rows, cols], input),
                Arg::output("out", [cols, rows]),
                Arg::int(rows),
                Arg::int(cols),
            ],
            expected: vec![Expected { arg: 1, values, tolerance, shape: [cols, rows] }],
        }
    }

    fn layout(&self, [rows, cols, _]: Size) -> Vec<Arg> {
        vec![
            Arg::hollow("in", [rows, cols]),
            Arg::output("out", [cols, rows]),
            Arg::int(rows),
            Arg::int(cols),
        ]
    }

    fn flops(&self, _: Size) -> u64 {
        0
    }

    fn bytes(&self, [rows, cols, _]: Size) -> u64 {
        8 * rows as u64 * cols as u64
    }

    fn yardstick(&self, size: Size) -> Option<Yardstick> {
        Some(Yardstick::Copy { from: 0, to: 1, bytes: self.bytes(size) / 2 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        let instance = Transpose.instance([2, 3, 1], 1);
        let Arg::Buffer(input) = &instance.args[0] else { panic!() };
        let input = input.data.as_ref().unwrap();
        let expected = &instance.expected[0];
        assert_eq!(expected.shape, [3, 2]);
        assert_eq!(expected.values, [0, 3, 1, 4, 2, 5].map(|i| f64::from(input[i])));
    }
}
