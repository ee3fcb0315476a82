//! Rounding to narrower floating-point formats, in every direction.
//!
//! Results that are not exact in `f64` are first rounded to odd ([`odd`]): of the two neighbours of the true value
//! take the one whose last bit is 1. A second rounding, in any direction, to a format with at least two bits fewer
//! then gives what one rounding of the true value would (Boldo and Melquiond, "Emulation of a FMA and correctly
//! rounded sums: proved algorithms using rounding to odd", 2008).

use super::form::Rounding;

/// A binary floating-point format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Format {
    /// Bits of the mantissa that are stored.
    pub(super) mantissa: u32,
    pub(super) exponent: u32,
    /// The NaN that arithmetic makes.
    pub(super) nan: u32,
}

pub(super) const F32: Format = Format { mantissa: 23, exponent: 8, nan: 0x7fff_ffff };
pub(super) const F16: Format = Format { mantissa: 10, exponent: 5, nan: 0x7fff };
pub(super) const BF16: Format = Format { mantissa: 7, exponent: 8, nan: 0x7fff };
/// The upper 19 bits of a single.
pub(super) const TF32: Format = Format { mantissa: 10, exponent: 8, nan: 0x3ffff };

/// The bits of `x`, rounded to `format`.
#[inline]
pub(super) fn narrow(x: f64, format: Format, rounding: Rounding) -> u32 {
    let Format { mantissa, exponent, nan } = format;
    let magnitude = x.to_bits() & !(1 << 63);
    let negative = x.is_sign_negative();
    let sign = u32::from(negative) << (mantissa + exponent);
    let infinity: u32 = ((1 << exponent) - 1) << mantissa;
    if x.is_nan() {
        return nan;
    }
    if x.is_infinite() {
        return sign | infinity;
    }
    let bias = (1 << (exponent - 1)) - 1;
    let field = (magnitude >> 52) as i32;
    let significand = (magnitude & ((1 << 52) - 1)) | u64::from(field != 0) << 52;
    let scale = field.max(1) - 1023;
    // Below the smallest exponent the result is subnormal: it keeps fewer bits.
    let target = scale.max(1 - bias);
    let dropped = (52 - mantissa as i32 + target - scale).min(63) as u32;
    let kept = significand >> dropped;
    let rest = significand & ((1 << dropped) - 1);
    let half = 1 << (dropped - 1);
    let up = match rounding {
        Rounding::Nearest => rest > half || (rest == half && kept & 1 != 0),
        Rounding::NearestAway => rest >= half,
        Rounding::Zero => false,
        Rounding::Down => negative && rest != 0,
        Rounding::Up => !negative && rest != 0,
    };
    // A carry out of the mantissa, also the implicit bit's own, moves the exponent up by one.
    let bits = (((target + bias - 1) as u64) << mantissa) + kept + u64::from(up);
    if bits < u64::from(infinity) {
        return sign | bits as u32;
    }
    let to_infinity = match rounding {
        Rounding::Nearest | Rounding::NearestAway => true,
        Rounding::Zero => false,
        Rounding::Down => negative,
        Rounding::Up => !negative,
    };
    sign | if to_infinity { infinity } else { infinity - 1 }
}

/// The NaN that a conversion makes of a double's: the upper bits of its payload, quiet.
#[inline]
pub(super) fn narrow_nan(x: f64, format: Format) -> u32 {
    let Format { mantissa, exponent, .. } = format;
    let payload = (x.to_bits() >> (52 - mantissa)) as u32 & ((1 << mantissa) - 1);
    let sign = u32::from(x.is_sign_negative()) << (mantissa + exponent);
    sign | ((1 << exponent) - 1) << mantissa | 1 << (mantissa - 1) | payload
}

/// The double that a conversion makes of a NaN in another format: the same payload, quiet.
#[inline]
pub(super) fn widen_nan(bits: u32, format: Format) -> f64 {
    let Format { mantissa, exponent, .. } = format;
    let sign = u64::from(bits >> (mantissa + exponent) & 1) << 63;
    let payload = u64::from(bits & ((1 << mantissa) - 1)) << (52 - mantissa);
    f64::from_bits(sign | 0x7ff8_0000_0000_0000 | payload)
}

/// Whether a single with `.ftz` counts as subnormal: rounded to 24 bits, it is below the smallest normal number.
#[inline]
pub(super) fn is_tiny(x: f64, rounding: Rounding) -> bool {
    const LARGER: f64 = (1u64 << 40) as f64;
    x.abs() < f64::from(f32::MIN_POSITIVE)
        && single(x * LARGER, rounding).abs() < f32::MIN_POSITIVE * LARGER as f32
}

/// `x`, which is exact or was rounded to odd, as a single.
#[inline]
pub(super) fn single(x: f64, rounding: Rounding) -> f32 {
    f32::from_bits(narrow(x, F32, rounding))
}

/// Rounds to odd: `nearest` is the true value rounded to nearest, `error` has the sign of the true value minus
/// `nearest`.
#[inline(always)]
pub(super) fn odd(nearest: f64, error: f64) -> f64 {
    let bits = nearest.to_bits();
    if !nearest.is_finite() || error == 0.0 || error.is_nan() || bits & 1 != 0 {
        return nearest;
    }
    if nearest == 0.0 {
        return f64::from_bits(1).copysign(error);
    }
    // The neighbour on the other side of the true value is odd.
    f64::from_bits(if (error > 0.0) == (nearest > 0.0) { bits + 1 } else { bits - 1 })
}

/// `a + b`, rounded to odd. The sign of an exact zero is that of `rounding`.
#[inline(always)]
pub(super) fn add(a: f64, b: f64, rounding: Rounding) -> f64 {
    let sum = a + b;
    if sum == 0.0 {
        return zero_sum(a, b, rounding);
    }
    // Knuth's TwoSum: what the sum lost.
    let b_part = sum - a;
    let a_part = sum - b_part;
    odd(sum, (a - a_part) + (b - b_part))
}

/// The zero that `a + b` is: where the signs differ, -0 when rounding down, else +0.
#[inline(always)]
pub(super) fn zero_sum(a: f64, b: f64, rounding: Rounding) -> f64 {
    if a.is_sign_negative() != b.is_sign_negative() && rounding == Rounding::Down { -0.0 } else { a + b }
}

/// `a / b` of two singles, rounded to odd.
#[inline(always)]
pub(super) fn divide(a: f64, b: f64) -> f64 {
    let quotient = a / b;
    let residual = (-quotient).mul_add(b, a);
    odd(quotient, if b < 0.0 { -residual } else { residual })
}

/// The square root of a single, rounded to odd.
#[inline(always)]
pub(super) fn square_root(a: f64) -> f64 {
    let root = a.sqrt();
    odd(root, (-root).mul_add(root, a))
}
