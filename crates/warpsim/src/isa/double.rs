//! Double-precision arithmetic that rounds towards zero, up or down, in integers.

use super::form::Rounding;

/// The NaN that double-precision instructions make where no operand is NaN.
pub(super) const NAN: f64 = f64::from_bits(0xfff8_0000_0000_0000);

/// `result`, or if that is NaN the first NaN among the operands, or else [`NAN`]. On the bits, see `float::canon`.
#[inline(always)]
pub(super) fn settle<const N: usize>(result: f64, operands: [f64; N]) -> f64 {
    let mut nan = NAN.to_bits();
    for operand in (0..N).rev() {
        let bits = operands[operand].to_bits();
        // Quiet.
        nan = if is_nan(bits) { bits | 1 << 51 } else { nan };
    }
    f64::from_bits(if is_nan(result.to_bits()) { nan } else { result.to_bits() })
}

/// Whether these are the bits of a NaN.
#[inline(always)]
pub(super) fn is_nan(bits: u64) -> bool {
    bits & (u64::MAX >> 1) > 0x7ff << 52
}

/// A finite number: plus or minus `significand` times 2^`scale`.
#[derive(Clone, Copy)]
struct Exact {
    negative: bool,
    significand: u128,
    scale: i32,
}

impl Exact {
    fn of(x: f64) -> Exact {
        let field = (x.to_bits() >> 52 & 0x7ff) as i32;
        let fraction = x.to_bits() & ((1 << 52) - 1);
        let significand = u128::from(fraction | u64::from(field != 0) << 52);
        Exact { negative: x.is_sign_negative(), significand, scale: field.max(1) - 1075 }
    }

    /// With the highest bit at `position`.
    fn normalize(self, position: u32) -> Exact {
        let shift = position as i32 - (127 - self.significand.leading_zeros() as i32);
        Exact { significand: self.significand << shift, scale: self.scale - shift, ..self }
    }

    /// Rounds. `inexact`: the true value is a little larger in magnitude; needs at least 55 bits then.
    fn round(self, inexact: bool, rounding: Rounding) -> f64 {
        let Exact { negative, significand, scale } = self;
        let highest = 127 - significand.leading_zeros() as i32 + scale;
        let target = highest.max(-1022);
        let dropped = target - 52 - scale;
        let (kept, rest, half) = if dropped <= 0 {
            (significand << -dropped, 0, 1)
        } else if dropped > 127 {
            (0, significand, u128::MAX)
        } else {
            (significand >> dropped, significand & ((1 << dropped) - 1), 1 << (dropped - 1))
        };
        let up = match rounding {
            Rounding::Nearest => rest > half || (rest == half && (inexact || kept & 1 != 0)),
            Rounding::NearestAway => rest >= half,
            Rounding::Zero => false,
            Rounding::Down => negative && (rest != 0 || inexact),
            Rounding::Up => !negative && (rest != 0 || inexact),
        };
        let sign = u64::from(negative) << 63;
        let infinity = 0x7ff << 52;
        if target > 1023 {
            return f64::from_bits(sign | overflow(infinity, negative, rounding));
        }
        let bits = (((target + 1022) as u64) << 52) + kept as u64 + u64::from(up);
        f64::from_bits(sign | if bits < infinity { bits } else { overflow(infinity, negative, rounding) })
    }
}

fn overflow(infinity: u64, negative: bool, rounding: Rounding) -> u64 {
    match rounding {
        Rounding::Nearest | Rounding::NearestAway => infinity,
        Rounding::Down if negative => infinity,
        Rounding::Up if !negative => infinity,
        _ => infinity - 1,
    }
}

/// `a * b + c` with one rounding.
pub(super) fn fma(a: f64, b: f64, c: f64, rounding: Rounding) -> f64 {
    let plain = a.mul_add(b, c);
    if rounding == Rounding::Nearest || !(a.is_finite() && b.is_finite() && c.is_finite()) {
        return settle(plain, [b, c, a]);
    }
    let product_sign = if a.is_sign_negative() != b.is_sign_negative() { -0.0 } else { 0.0 };
    if a == 0.0 || b == 0.0 {
        return if c == 0.0 { super::round::zero_sum(product_sign, c, rounding) } else { c };
    }
    let (x, y) = (Exact::of(a), Exact::of(b));
    let product = Exact {
        negative: x.negative != y.negative,
        significand: x.significand * y.significand,
        scale: x.scale + y.scale,
    };
    if c == 0.0 {
        return product.round(false, rounding);
    }
    sum(product.normalize(125), Exact::of(c).normalize(125), rounding)
}

/// The sum of two numbers whose highest bit is bit 125.
fn sum(x: Exact, y: Exact, rounding: Rounding) -> f64 {
    let larger_first = (x.scale, x.significand) >= (y.scale, y.significand);
    let (large, small) = if larger_first { (x, y) } else { (y, x) };
    // Bits shifted out leave a 1 at the end: enough to round by, as at most one bit cancels when any is lost.
    let distance = (large.scale - small.scale) as u32;
    let addend = if distance > 126 {
        1
    } else {
        small.significand >> distance | u128::from(small.significand & ((1 << distance) - 1) != 0)
    };
    let significand = if large.negative == small.negative {
        large.significand + addend
    } else {
        large.significand - addend
    };
    if significand == 0 {
        return if rounding == Rounding::Down { -0.0 } else { 0.0 };
    }
    Exact { significand, ..large }.round(false, rounding)
}

/// `a + b`.
pub(super) fn add(a: f64, b: f64, rounding: Rounding) -> f64 {
    if a == 0.0 && b == 0.0 {
        return super::round::zero_sum(a, b, rounding);
    }
    if a.is_nan() || b.is_nan() {
        return settle(f64::NAN, [b, a]);
    }
    // 1 * a keeps the sign of a zero: no other zero can come of it.
    fma(1.0, a, b, rounding)
}

/// `a - b`.
pub(super) fn subtract(a: f64, b: f64, rounding: Rounding) -> f64 {
    // A NaN keeps its sign.
    add(a, if b.is_nan() { b } else { -b }, rounding)
}

/// `a * b`.
pub(super) fn multiply(a: f64, b: f64, rounding: Rounding) -> f64 {
    let plain = a * b;
    if plain.is_nan() {
        return settle(plain, [b, a]);
    }
    if a == 0.0 || b == 0.0 || !(plain.is_finite() || a.is_finite() && b.is_finite()) {
        return plain;
    }
    fma(a, b, 0.0f64.copysign(plain), rounding)
}

/// `a / b`.
pub(super) fn divide(a: f64, b: f64, rounding: Rounding) -> f64 {
    let plain = a / b;
    if plain.is_nan() {
        return settle(plain, [a, b]);
    }
    if rounding == Rounding::Nearest || !a.is_finite() || !b.is_finite() || a == 0.0 || b == 0.0 {
        return plain;
    }
    let (x, y) = (Exact::of(a).normalize(125), Exact::of(b).normalize(52));
    let quotient = Exact {
        negative: x.negative != y.negative,
        significand: x.significand / y.significand,
        scale: x.scale - y.scale,
    };
    quotient.round(x.significand % y.significand != 0, rounding)
}

/// The square root of `a`.
pub(super) fn square_root(a: f64, rounding: Rounding) -> f64 {
    let plain = a.sqrt();
    if plain.is_nan() {
        return settle(plain, [a]);
    }
    if rounding == Rounding::Nearest || !a.is_finite() || a == 0.0 {
        return plain;
    }
    let mut x = Exact::of(a).normalize(124);
    if x.scale % 2 != 0 {
        x = x.normalize(125);
    }
    let root = x.significand.isqrt();
    Exact { negative: false, significand: root, scale: x.scale / 2 }
        .round(root * root != x.significand, rounding)
}
