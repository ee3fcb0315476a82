//! `C = A B`.

mod product;
mod tensor;

pub use tensor::TensorMatmul;

use product::product;

use super::{Arg, Expected, Instance, Param, ParamType, Problem, Size, Yardstick, sum_error};
use crate::random::SplitMix64;

/// Product of a row-major M x K and a row-major K x N matrix. Size: `[M, N, K]`.
///
/// x counts the columns of C, y its rows.
#[derive(Debug)]
pub struct Matmul;

impl Problem for Matmul {
    fn summary(&self) -> &'static str {
        "C = A B: A is M x K, B is K x N, C is M x N, all row-major"
    }

    fn dimensions(&self) -> &'static [&'static str] {
        &["M", "N", "K"]
    }

    fn params(&self) -> &'static [Param] {
        const {
            &[
                Param::new("A", ParamType::FloatIn),
                Param::new("B", ParamType::FloatIn),
                Param::new("C", ParamType::FloatOut),
                Param::new("M", ParamType::Int),
                Param::new("N", ParamType::Int),
                Param::new("K", ParamType::Int),
            ]
        }
    }

    fn extent(&self, [m, n, _]: Size) -> [usize; 3] {
        [n, m, 1]
    }

    fn instance(&self, [m, n, k]: Size, seed: u64) -> Instance {
        let a = SplitMix64::new(seed, 0).floats(m * k);
        let b = SplitMix64::new(seed, 1).floats(k * n);
        let tolerance = tolerance(&a, &b, [m, n, k]);
        instance([m, n, k], a, b, tolerance)
    }

    fn layout(&self, size: Size) -> Vec<Arg> {
        layout(size)
    }

    fn flops(&self, [m, n, k]: Size) -> u64 {
        2 * m as u64 * n as u64 * k as u64
    }

    fn bytes(&self, [m, n, k]: Size) -> u64 {
        4 * (m * k + k * n + m * n) as u64
    }

    fn yardstick(&self, size: Size) -> Option<Yardstick> {
        let [m, n, k] = size.map(u32::try_from);
        let size = [m.ok()?, n.ok()?, k.ok()?];
        Some(Yardstick::MatrixProduct { a: 0, b: 1, c: 2, size, precision: self.precision() })
    }
}

fn layout([m, n, k]: Size) -> Vec<Arg> {
    let buffers = [Arg::hollow("A", [m, k]), Arg::hollow("B", [k, n]), Arg::output("C", [m, n])];
    buffers.into_iter().chain([m, n, k].map(Arg::int)).collect()
}

/// The launch that multiplies `a` by `b`, with the error allowed per element.
fn instance([m, n, k]: Size, a: Vec<f32>, b: Vec<f32>, tolerance: Vec<f64>) -> Instance {
    let values = product(&a, &b, [m, n, k]);
    Instance {
        args: vec![
            Arg::input("A", [m, k], a),
            Arg::input("B", [k, n], b),
            Arg::output("C", [m, n]),
            Arg::int(m),
            Arg::int(n),
            Arg::int(k),
        ],
        expected: vec![Expected { arg: 2, values, tolerance, shape: [m, n] }],
    }
}

/// Error allowed per element: [`sum_error`] of K terms times the sum of |a||b|, which by Cauchy-Schwarz is at most the
/// norm of A's row times the norm of B's column. That costs MK + KN + MN instead of another MNK.
fn tolerance(a: &[f32], b: &[f32], [_, n, k]: Size) -> Vec<f64> {
    let [row_norms, column_norms] = norms(a, b, [n, k], |x| f64::from(x) * f64::from(x));
    let bound = sum_error(k);
    row_norms.iter().flat_map(|row| column_norms.iter().map(move |column| bound * row * column)).collect()
}

/// For each row of A and for each column of B, the square root of the sum of `power` over its elements.
fn norms(a: &[f32], b: &[f32], [n, k]: [usize; 2], power: impl Fn(f32) -> f64) -> [Vec<f64>; 2] {
    let row_norms = a.chunks_exact(k).map(|row| row.iter().map(|a| power(*a)).sum::<f64>().sqrt()).collect();
    let mut column_norms = vec![0.0; n];
    for row in b.chunks_exact(n) {
        column_norms.iter_mut().zip(row).for_each(|(sum, b)| *sum += power(*b));
    }
    column_norms.iter_mut().for_each(|sum| *sum = sum.sqrt());
    [row_norms, column_norms]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(instance: &Instance) -> (&[f32], &[f32]) {
        let [Arg::Buffer(a), Arg::Buffer(b), ..] = &instance.args[..] else { panic!() };
        (a.data.as_ref().unwrap(), b.data.as_ref().unwrap())
    }

    #[test]
    fn the_reference_is_the_product() {
        for [m, n, k] in [[1, 1, 1], [2, 3, 4], [9, 17, 5], [16, 8, 33], [70, 12, 9]] {
            let instance = Matmul.instance([m, n, k], 5);
            let (a, b) = inputs(&instance);
            for row in 0..m {
                for col in 0..n {
                    let dot: f64 =
                        (0..k).map(|i| f64::from(a[row * k + i]) * f64::from(b[i * n + col])).sum();
                    assert!((dot - instance.expected[0].values[row * n + col]).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn single_precision_passes_in_any_order_and_half_does_not() {
        let [m, n, k] = [4, 5, 37];
        let instance = Matmul.instance([m, n, k], 11);
        let (a, b) = inputs(&instance);
        let Expected { values, tolerance, .. } = &instance.expected[0];
        let coarse = |x: f32| f32::from_bits(x.to_bits() & !0x1fff); // 10 bits of significand, as half precision has
        let mut half_fails = 0;
        for row in 0..m {
            for col in 0..n {
                let at = row * n + col;
                let term = |i: usize| (a[row * k + i], b[i * n + col]);
                let forward = (0..k).fold(0.0f32, |sum, i| term(i).0.mul_add(term(i).1, sum));
                let backward = (0..k).rev().fold(0.0f32, |sum, i| sum + term(i).0 * term(i).1);
                let half = (0..k).fold(0.0f32, |sum, i| sum + coarse(term(i).0) * coarse(term(i).1));
                assert!((f64::from(forward) - values[at]).abs() <= tolerance[at]);
                assert!((f64::from(backward) - values[at]).abs() <= tolerance[at]);
                half_fails += usize::from((f64::from(half) - values[at]).abs() > tolerance[at]);
            }
        }
        assert!(half_fails > m * n / 2, "{half_fails}");
    }

    #[test]
    fn a_missing_term_shows_even_in_long_sums() {
        let [m, n, k] = [16, 16, 4096];
        let instance = Matmul.instance([m, n, k], 2);
        let (a, b) = inputs(&instance);
        let last_term = |i: usize| f64::from(a[i / n * k + k - 1]) * f64::from(b[(k - 1) * n + i % n]);
        let shows =
            (0..m * n).filter(|i| last_term(*i).abs() > 1.5 * instance.expected[0].tolerance[*i]).count();
        assert!(shows > m * n / 2, "{shows}");
    }
}
