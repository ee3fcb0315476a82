//! The approximate functions of the special function unit.
//!
//! The hardware interpolates in tables that are not published. These compute in double precision and round to
//! single: well inside the errors that the PTX manual allows, and the same on every machine, as only correctly
//! rounded operations are used. They have no branches, so that they vectorise.

const LN_2: f64 = std::f64::consts::LN_2;

/// 2^x; exact for integers.
#[inline(always)]
pub(super) fn exp2(x: f64) -> f64 {
    // Beyond this everything is 0 or infinite as a single.
    let x = x.clamp(-1000.0, 1000.0);
    let (whole, fraction) = split(x);
    let t = fraction * LN_2;
    // |t| < 0.35: the series of e^t up to t^11 / 11! is good to 1e-15.
    let mut sum = 1.0 / 39_916_800.0;
    for divisor in [3_628_800.0, 362_880.0, 40_320.0, 5_040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0] {
        sum = t.mul_add(sum, 1.0 / divisor);
    }
    sum * f64::from_bits(((whole as i64 + 1023) as u64) << 52)
}

/// The nearest integer, and the rest in -0.5...0.5. NaN stays NaN in the rest.
#[inline(always)]
fn split(x: f64) -> (i32, f64) {
    // Adding 1.5 * 2^52 leaves the integer in the low bits.
    const SHIFTER: f64 = 6_755_399_441_055_744.0;
    let shifted = x + SHIFTER;
    (shifted.to_bits() as i32, x - (shifted - SHIFTER))
}

/// The logarithm to base 2 of a single.
#[inline(always)]
pub(super) fn log2(x: f64) -> f64 {
    // x = 2^k m with m in sqrt(1/2)...sqrt(2); a single is normal in double precision.
    let offset = x.to_bits().wrapping_sub(std::f64::consts::FRAC_1_SQRT_2.to_bits());
    let k = (offset as i64 >> 52) as i32;
    let m = f64::from_bits(x.to_bits().wrapping_sub((k as i64 as u64) << 52));
    // ln m = 2 artanh(s), |s| < 0.172.
    let s = (m - 1.0) / (m + 1.0);
    let s2 = s * s;
    let mut sum = 1.0 / 19.0;
    for odd in [17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        sum = s2.mul_add(sum, 1.0 / odd);
    }
    let finite = (2.0 / LN_2 * s).mul_add(sum, f64::from(k));
    if x > 0.0 && x < f64::INFINITY {
        finite
    } else if x == 0.0 {
        f64::NEG_INFINITY
    } else if x == f64::INFINITY {
        x
    } else {
        f64::NAN
    }
}

/// Sine (`quarter` 0) or cosine (`quarter` 1).
///
/// As on the hardware, the argument is first turned into revolutions in single precision, which is where large
/// arguments lose their accuracy; whole revolutions then drop out exactly.
#[inline(always)]
pub(super) fn sine(x: f32, quarter: i32) -> f64 {
    let revolutions = toward_zero(f64::from(x) * f64::from(1.0 / std::f32::consts::TAU));
    let (whole, fraction) = split((revolutions - revolutions.trunc()) * 4.0);
    let r = fraction * std::f64::consts::FRAC_PI_2;
    let r2 = r * r;
    // |r| < 0.79: the series up to r^15 and r^16 are good to 1e-15.
    let mut sin = -1.0 / 1_307_674_368_000.0;
    for divisor in [6_227_020_800.0, -39_916_800.0, 362_880.0, -5_040.0, 120.0, -6.0, 1.0] {
        sin = r2.mul_add(sin, 1.0 / divisor);
    }
    let mut cos = 1.0 / 20_922_789_888_000.0;
    for divisor in [-87_178_291_200.0, 479_001_600.0, -3_628_800.0, 40_320.0, -720.0, 24.0, -2.0, 1.0] {
        cos = r2.mul_add(cos, 1.0 / divisor);
    }
    let turn = whole.wrapping_add(quarter);
    let value = if turn & 1 == 0 { sin * r } else { cos };
    let value = if turn & 2 == 0 { value } else { -value };
    let value = if quarter == 0 && value == 0.0 { value.copysign(f64::from(x)) } else { value };
    if x.is_finite() { value } else { f64::NAN }
}

/// Cut to the precision of a single.
#[inline(always)]
fn toward_zero(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & !((1 << 29) - 1))
}

/// The hyperbolic tangent.
#[inline(always)]
pub(super) fn tanh(x: f64) -> f64 {
    let small = x.abs() < 0.02;
    // Near 0 the quotient would cancel: x - x^3/3 + 2x^5/15.
    let x2 = x * x;
    let series = x * x2.mul_add(x2.mul_add(2.0 / 15.0, -1.0 / 3.0), 1.0);
    let e = exp2(x.abs() * (-2.0 / LN_2));
    let quotient = ((1.0 - e) / (1.0 + e)).copysign(x);
    if small { series } else { quotient }
}
