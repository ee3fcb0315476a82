//! `C = A B` as tensor cores compute it: from factors with 11 bits of significand.

use super::{Matmul, instance, norms};
use crate::problem::{Arg, Instance, Param, Precision, Problem, Size, Yardstick, sum_error};
use crate::random::SplitMix64;

/// Product of a row-major M x K and a row-major K x N matrix, in TF32 or better. Size: `[M, N, K]`.
///
/// TF32 is single precision with 10 bits of mantissa instead of 23. What distinguishes it from its relatives is in the
/// inputs:
///
/// - All are positive, so that errors of one sign add up: cutting bits off, which a tensor core does by itself, is not
///   rounding.
/// - A's are above 65,504 and B's below 1e-6: half precision holds neither, TF32 has the range of single precision.
#[derive(Debug)]
pub struct TensorMatmul;

/// Unit roundoff of TF32, 2^-11.
const UNIT_ROUNDOFF: f64 = 1.0 / 2048.0;
/// What A is multiplied by, and B divided by: a power of 2, which leaves the significands as they are.
const SCALE: f32 = (1 << 20) as f32;

impl Problem for TensorMatmul {
    fn summary(&self) -> &'static str {
        "C = A B in TF32: A is M x K, B is K x N, C is M x N, all row-major, of floats"
    }

    fn dimensions(&self) -> &'static [&'static str] {
        Matmul.dimensions()
    }

    fn params(&self) -> &'static [Param] {
        Matmul.params()
    }

    fn extent(&self, size: Size) -> [usize; 3] {
        Matmul.extent(size)
    }

    fn instance(&self, [m, n, k]: Size, seed: u64) -> Instance {
        let positive = |stream, scale, len| -> Vec<f32> {
            SplitMix64::new(seed, stream).floats(len).into_iter().map(|x| scale * x.abs()).collect()
        };
        let a = positive(0, SCALE, m * k);
        let b = positive(1, 1.0 / SCALE, k * n);
        let tolerance = tolerance(&a, &b, [m, n, k]);
        instance([m, n, k], a, b, tolerance)
    }

    fn layout(&self, size: Size) -> Vec<Arg> {
        super::layout(size)
    }

    fn flops(&self, size: Size) -> u64 {
        Matmul.flops(size)
    }

    fn bytes(&self, size: Size) -> u64 {
        Matmul.bytes(size)
    }

    fn precision(&self) -> Precision {
        Precision::Tf32
    }

    fn yardstick(&self, [m, n, k]: Size) -> Option<Yardstick> {
        let size = [m.try_into().ok()?, n.try_into().ok()?, k.try_into().ok()?];
        Some(Yardstick::MatrixProduct { a: 0, b: 1, c: 2, size, precision: self.precision() })
    }
}

/// Error allowed per element: that of rounding the factors to TF32, and that of the sum.
///
/// Rounding: with u = 2^-11, at most (2u + u^2) sum |a||b|. For random inputs much less, since the errors, each spread
/// evenly over an ulp of TF32, are independent with mean 0: then it is at most 9 standard deviations, with a probability of
/// failure below 2 exp(-81 / 2) (an even spread is sub-Gaussian with its own variance, ulp^2 / 12). The smaller of the two
/// counts; the sums of squares that they need are bounded by Cauchy-Schwarz, as for [`Matmul`].
///
/// Sum: tensor cores cut where others round, so that errors do not cancel, and cut what enters a sum too. They do so once for
/// at least 4 products; 2 ulps of single precision for each of these steps are K u, u = 2^-24. What [`sum_error`] allows
/// to sums that are rounded is less.
fn tolerance(a: &[f32], b: &[f32], [_, n, k]: Size) -> Vec<f64> {
    let magnitude = |x: f32| f64::from(x).powi(2);
    let fourth = |x: f32| f64::from(x).powi(4);
    let spread = |x: f32| ulp(x).powi(4);
    let [row, column] = norms(a, b, [n, k], magnitude);
    let [row_fourth, column_fourth] = norms(a, b, [n, k], fourth);
    let [row_spread, column_spread] = norms(a, b, [n, k], spread);
    let cut = sum_error(k).max(k as f64 / f64::from(1 << 24));
    let always = 2.0 * UNIT_ROUNDOFF + UNIT_ROUNDOFF * UNIT_ROUNDOFF;
    let element = |i: usize, j: usize| {
        let products = row[i] * column[j];
        let variance = (row_spread[i] * column_fourth[j] + row_fourth[i] * column_spread[j]) / 12.0;
        (always * products).min(9.0 * variance.sqrt()) + cut * products
    };
    (0..row.len()).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| element(i, j)).collect()
}

/// The distance of neighbouring TF32 numbers around `x`, which is no subnormal.
fn ulp(x: f32) -> f64 {
    f64::from(f32::from_bits(x.to_bits() & 0x7f80_0000)) / 1024.0
}

#[cfg(test)]
mod tests {
    use super::super::product::product;
    use super::*;
    use crate::problem::{Arg, Expected};

    /// How many of the elements are too far off when every factor is first passed through `round`.
    fn wrong(size: Size, round: impl Fn(f32) -> f32) -> usize {
        let instance = TensorMatmul.instance(size, 3);
        let [Arg::Buffer(a), Arg::Buffer(b), ..] = &instance.args[..] else { panic!() };
        let rounded = |buffer: &crate::Buffer| -> Vec<f32> {
            buffer.data.as_ref().expect("an input").iter().map(|x| round(*x)).collect()
        };
        let values = product(&rounded(a), &rounded(b), size);
        let Expected { values: right, tolerance, .. } = &instance.expected[0];
        let is_right = |at: usize| (values[at] - right[at]).abs() <= tolerance[at];
        let is_wrong = |at: &usize| !is_right(*at);
        (0..values.len()).filter(is_wrong).count()
    }

    /// To nearest, to this many bits of mantissa.
    fn nearest(x: f32, bits: u32) -> f32 {
        let dropped = 23 - bits;
        f32::from_bits((x.to_bits() + (1 << (dropped - 1))) & !((1 << dropped) - 1))
    }

    #[test]
    fn rounding_to_tf32_passes_at_every_size() {
        for size in [[1, 1, 1], [3, 5, 2], [16, 8, 8], [20, 30, 40], [24, 40, 1036], [8, 8, 8192]] {
            assert_eq!(wrong(size, |x| nearest(x, 10)), 0, "{size:?}");
            assert_eq!(wrong(size, |x| x), 0, "{size:?}");
        }
    }

    #[test]
    fn cutting_to_tf32_shows_in_long_sums() {
        for size in [[24, 40, 1036], [8, 8, 4096]] {
            let cut = wrong(size, |x| f32::from_bits(x.to_bits() & !0x1fff));
            assert_eq!(cut, size[0] * size[1], "{size:?}");
        }
    }

    #[test]
    fn other_formats_are_told_apart() {
        let size = [24, 40, 64];
        assert!(wrong(size, |x| nearest(x, 7)) > 100, "bf16 has 7 bits of mantissa");
        let as_half =
            |x: f32| if x > 65504.0 { f32::INFINITY } else { (x * 16_777_216.0).round() / 16_777_216.0 };
        assert_eq!(wrong(size, as_half), 24 * 40, "half precision ends at 65,504 and at 2^-24");
    }

    #[test]
    fn a_missing_term_shows_in_short_sums() {
        let size @ [m, n, k] = [16, 16, 72];
        let instance = TensorMatmul.instance(size, 2);
        let [Arg::Buffer(a), Arg::Buffer(b), ..] = &instance.args[..] else { panic!() };
        let (a, b) = (a.data.as_ref().unwrap(), b.data.as_ref().unwrap());
        let last = |i: usize| f64::from(a[i / n * k + k - 1]) * f64::from(b[(k - 1) * n + i % n]);
        let shows = (0..m * n).filter(|i| last(*i) > 1.5 * instance.expected[0].tolerance[*i]).count();
        assert!(shows > m * n * 3 / 4, "{shows}");
    }
}
