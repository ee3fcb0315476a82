//! `sums[row] = x[row][0] + x[row][1] + ...`.

use super::{Arg, Expected, Instance, Param, ParamType, Problem, Size, Yardstick, sum_error};
use crate::random::SplitMix64;

/// Sum of every row of a row-major rows x cols matrix. Size: `[rows, cols, 1]`.
///
/// x counts the rows, that is, the outputs: one block per row is `LAUNCH(threads, 1, 1, 1, 1, 1)`.
#[derive(Debug)]
pub struct RowSums;

impl Problem for RowSums {
    fn summary(&self) -> &'static str {
        "sums[row] = sum of row `row` of x, a row-major rows x cols matrix"
    }

    fn dimensions(&self) -> &'static [&'static str] {
        &["rows", "cols"]
    }

    fn params(&self) -> &'static [Param] {
        const {
            &[
                Param::new("x", ParamType::FloatIn),
                Param::new("sums", ParamType::FloatOut),
                Param::new("rows", ParamType::Int),
                Param::new("cols", ParamType::Int),
            ]
        }
    }

    fn extent(&self, [rows, ..]: Size) -> [usize; 3] {
        [rows, 1, 1]
    }

    fn instance(&self, [rows, cols, _]: Size, seed: u64) -> Instance {
        let x = SplitMix64::new(seed, 0).floats(rows * cols);
        let values = x.chunks_exact(cols).map(|row| row.iter().map(|x| f64::from(*x)).sum()).collect();
        let bound = sum_error(cols);
        let tolerance = x
            .chunks_exact(cols)
            .map(|row| bound * row.iter().map(|x| f64::from(x.abs())).sum::<f64>())
            .collect();
        Instance {
            args: vec![
                Arg::input("x", [rows, cols], x),
                Arg::output("sums", [1, rows]),
                Arg::int(rows),
                Arg::int(cols),
            ],
            expected: vec![Expected { arg: 1, values, tolerance, shape: [1, rows] }],
        }
    }

    fn layout(&self, [rows, cols, _]: Size) -> Vec<Arg> {
        vec![Arg::hollow("x", [rows, cols]), Arg::output("sums", [1, rows]), Arg::int(rows), Arg::int(cols)]
    }

    fn flops(&self, [rows, cols, _]: Size) -> u64 {
        (rows * (cols - 1)) as u64
    }

    fn bytes(&self, [rows, cols, _]: Size) -> u64 {
        4 * (rows * cols + rows) as u64
    }

    fn yardstick(&self, [rows, cols, _]: Size) -> Option<Yardstick> {
        Some(Yardstick::CopyWithin { arg: 0, bytes: 4 * (rows * cols) as u64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_rows_within_the_bound_of_single_precision() {
        let (rows, cols) = (3, 1000);
        let instance = RowSums.instance([rows, cols, 1], 4);
        let Arg::Buffer(x) = &instance.args[0] else { panic!() };
        let Expected { values, tolerance, .. } = &instance.expected[0];
        for (row, x) in x.data.as_ref().unwrap().chunks_exact(cols).enumerate() {
            let sum: f32 = x.iter().sum();
            assert!((f64::from(sum) - values[row]).abs() <= tolerance[row]);
            assert!(tolerance[row] < 1.0 / 16.0, "a missing element must show");
        }
    }
}
