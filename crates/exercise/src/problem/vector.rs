//! `c = a + b`.

use super::{Arg, Expected, Instance, Param, ParamType, Problem, Size, UNIT_ROUNDOFF};
use crate::random::SplitMix64;

/// Element-wise sum of two vectors of N floats. Size: `[N, 1, 1]`.
#[derive(Debug)]
pub struct VectorAdd;

impl Problem for VectorAdd {
    fn summary(&self) -> &'static str {
        "c = a + b, element by element"
    }

    fn dimensions(&self) -> &'static [&'static str] {
        &["n"]
    }

    fn params(&self) -> &'static [Param] {
        const {
            &[
                Param::new("a", ParamType::FloatIn),
                Param::new("b", ParamType::FloatIn),
                Param::new("c", ParamType::FloatOut),
                Param::new("n", ParamType::Int),
            ]
        }
    }

    fn extent(&self, [n, ..]: Size) -> [usize; 3] {
        [n, 1, 1]
    }

    fn instance(&self, [n, ..]: Size, seed: u64) -> Instance {
        let a = SplitMix64::new(seed, 0).floats(n);
        let b = SplitMix64::new(seed, 1).floats(n);
        let values: Vec<f64> = a.iter().zip(&b).map(|(a, b)| f64::from(*a) + f64::from(*b)).collect();
        // One addition, rounded once.
        let tolerance = values.iter().map(|sum| UNIT_ROUNDOFF * sum.abs()).collect();
        Instance {
            args: vec![
                Arg::input("a", [1, n], a),
                Arg::input("b", [1, n], b),
                Arg::output("c", [1, n]),
                Arg::int(n),
            ],
            expected: vec![Expected { arg: 2, values, tolerance, shape: [1, n] }],
        }
    }

    fn layout(&self, [n, ..]: Size) -> Vec<Arg> {
        vec![Arg::hollow("a", [1, n]), Arg::hollow("b", [1, n]), Arg::output("c", [1, n]), Arg::int(n)]
    }

    fn flops(&self, [n, ..]: Size) -> u64 {
        n as u64
    }

    fn bytes(&self, [n, ..]: Size) -> u64 {
        12 * n as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_precision_addition_is_within_the_bound() {
        let instance = VectorAdd.instance([1000, 1, 1], 3);
        let [Arg::Buffer(a), Arg::Buffer(b), ..] = &instance.args[..] else { panic!() };
        let (a, b) = (a.data.as_ref().unwrap(), b.data.as_ref().unwrap());
        let expected = &instance.expected[0];
        for i in 0..1000 {
            assert!((f64::from(a[i] + b[i]) - expected.values[i]).abs() <= expected.tolerance[i]);
        }
    }
}
