//! Arithmetic in single and double precision.
//!
//! The frequent forms come first, as plain operators that vectorise; the same patterns with every rounding, `.ftz`
//! and `.sat` follow, and read their [`Mode`].

use super::Form;
use super::double::settle;
use super::form::Mode;
use super::{approx, double, round};
use crate::alu::{Alu, alu};

pub(super) static TABLES: &[&[Form]] = &[SINGLE, SINGLE_FTZ, SINGLE_MODES, APPROXIMATE, DOUBLE, DOUBLE_MODES];

/// `fma.rn.f32`.
const MULTIPLY_ADD: Alu = Alu { is_multiply_add: true, ..alu!(|a: f32, b: f32, c: f32| fused(a, b, c)) };

#[inline(always)]
pub(crate) fn fused(a: f32, b: f32, c: f32) -> f32 {
    canon(a.mul_add(b, c))
}

static SINGLE: &[Form] = &[
    Form::new("add{.rn|}.f32", alu!(|a: f32, b: f32| canon(a + b))),
    Form::new("sub{.rn|}.f32", alu!(|a: f32, b: f32| canon(a - b))),
    Form::new("mul{.rn|}.f32", alu!(|a: f32, b: f32| canon(a * b))),
    Form::new("{fma|mad}.rn.f32", MULTIPLY_ADD),
    Form::new("div.rn.f32", alu!(|a: f32, b: f32| canon(a / b))),
    Form::new("rcp.rn.f32", alu!(|a: f32| canon(1.0 / a))),
    Form::new("sqrt.rn.f32", alu!(|a: f32| canon(a.sqrt()))),
    Form::new("abs.f32", alu!(|a: f32| canon(a.abs()))),
    Form::new("neg.f32", alu!(|a: f32| canon(-a))),
    Form::new("min.f32", alu!(|a: f32, b: f32| minimum(a, b))),
    Form::new("max.f32", alu!(|a: f32, b: f32| maximum(a, b))),
    Form::new("copysign.f32", alu!(|a: f32, b: f32| b.copysign(a))),
];

// What `--use_fast_math` makes of them.
static SINGLE_FTZ: &[Form] = &[
    Form::new("add{.rn|}.ftz.f32", alu!(|a: f32, b: f32| flush(canon(flush(a) + flush(b))))),
    Form::new("sub{.rn|}.ftz.f32", alu!(|a: f32, b: f32| flush(canon(flush(a) - flush(b))))),
    Form::new(
        "mul{.rn|}.ftz.f32",
        alu!(|a: f32, b: f32| fma_ftz(flush(a), flush(b), 0.0, flush(a) * flush(b))),
    ),
    Form::new(
        "{fma|mad}.rn.ftz.f32",
        alu!(|a: f32, b: f32, c: f32| fma_ftz(
            flush(a),
            flush(b),
            flush(c),
            flush(a).mul_add(flush(b), flush(c))
        )),
    ),
    Form::new("abs.ftz.f32", alu!(|a: f32| flush(canon(a.abs())))),
    Form::new("neg.ftz.f32", alu!(|a: f32| flush(canon(-a)))),
    Form::new("min.ftz.f32", alu!(|a: f32, b: f32| minimum(flush(a), flush(b)))),
    Form::new("max.ftz.f32", alu!(|a: f32, b: f32| maximum(flush(a), flush(b)))),
];

static SINGLE_MODES: &[Form] = &[
    Form::new("add{.rn|.rz|.rm|.rp|}{.ftz|}{.sat|}.f32", alu!(mode => |m, a: f32, b: f32| add(m, a, b))),
    Form::new("sub{.rn|.rz|.rm|.rp|}{.ftz|}{.sat|}.f32", alu!(mode => |m, a: f32, b: f32| add(m, a, -b))),
    Form::new("mul{.rn|.rz|.rm|.rp|}{.ftz|}{.sat|}.f32", alu!(mode => |m, a: f32, b: f32| multiply(m, a, b))),
    Form::new(
        "{fma|mad}.{rn|rz|rm|rp}{.ftz|}{.sat|}.f32",
        alu!(mode => |m, a: f32, b: f32, c: f32| fma(m, a, b, c)),
    ),
    Form::new("div.{rn|rz|rm|rp}{.ftz|}.f32", alu!(mode => |m, a: f32, b: f32| divide(m, a, b))),
    Form::new("rcp.{rn|rz|rm|rp}{.ftz|}.f32", alu!(mode => |m, a: f32| divide(m, 1.0, a))),
    Form::new("sqrt.{rn|rz|rm|rp}{.ftz|}.f32", alu!(mode => |m, a: f32| square_root(m, a))),
    Form::new(
        "min{.ftz|}{.NaN|}{.xorsign.abs|}.f32",
        alu!(mode => |m, a: f32, b: f32| extremum(m, false, a, b)),
    ),
    Form::new(
        "max{.ftz|}{.NaN|}{.xorsign.abs|}.f32",
        alu!(mode => |m, a: f32, b: f32| extremum(m, true, a, b)),
    ),
];

static APPROXIMATE: &[Form] = &[
    Form::new("div.full.f32", alu!(|a: f32, b: f32| canon(a / b))),
    Form::new("div.full.ftz.f32", alu!(|a: f32, b: f32| flush(canon(flush(a) / flush(b))))),
    Form::new("div.approx.f32", alu!(|a: f32, b: f32| divide_by_reciprocal(a, b))),
    Form::new("div.approx.ftz.f32", alu!(|a: f32, b: f32| flush(divide_by_reciprocal(flush(a), flush(b))))),
    Form::new("rcp.approx.f32", alu!(|a: f32| canon(1.0 / a))),
    Form::new("rcp.approx.ftz.f32", alu!(|a: f32| flush(canon(1.0 / flush(a))))),
    Form::new("sqrt.approx.f32", alu!(|a: f32| canon(a.sqrt()))),
    Form::new("sqrt.approx.ftz.f32", alu!(|a: f32| canon(flush(a).sqrt()))),
    Form::new("rsqrt.approx.f32", alu!(|a: f32| canon((1.0 / f64::from(a).sqrt()) as f32))),
    Form::new("rsqrt.approx.ftz.f32", alu!(|a: f32| canon((1.0 / f64::from(flush(a)).sqrt()) as f32))),
    Form::new("sin.approx.f32", alu!(|a: f32| canon(approx::sine(a, 0) as f32))),
    Form::new("sin.approx.ftz.f32", alu!(|a: f32| flush(canon(approx::sine(flush(a), 0) as f32)))),
    Form::new("cos.approx.f32", alu!(|a: f32| canon(approx::sine(a, 1) as f32))),
    Form::new("cos.approx.ftz.f32", alu!(|a: f32| flush(canon(approx::sine(flush(a), 1) as f32)))),
    Form::new("lg2.approx.f32", alu!(|a: f32| canon(approx::log2(f64::from(a)) as f32))),
    Form::new("lg2.approx.ftz.f32", alu!(|a: f32| canon(approx::log2(f64::from(flush(a))) as f32))),
    Form::new("ex2.approx.f32", alu!(|a: f32| canon(approx::exp2(f64::from(a)) as f32))),
    Form::new("ex2.approx.ftz.f32", alu!(|a: f32| flush(canon(approx::exp2(f64::from(flush(a))) as f32)))),
    Form::new("tanh.approx.f32", alu!(|a: f32| canon(approx::tanh(f64::from(a)) as f32))),
    Form::new("rcp.approx.ftz.f64", alu!(|a: f64| gross(1.0 / upper(a)))),
    Form::new("rsqrt.approx.ftz.f64", alu!(|a: f64| gross(1.0 / upper(a).sqrt()))),
    Form::new("rsqrt.approx.f64", alu!(|a: f64| settle(1.0 / a.sqrt(), [a]))),
];

static DOUBLE: &[Form] = &[
    Form::new("add{.rn|}.f64", alu!(|a: f64, b: f64| settle(a + b, [b, a]))),
    Form::new("sub{.rn|}.f64", alu!(|a: f64, b: f64| settle(a - b, [b, a]))),
    Form::new("mul{.rn|}.f64", alu!(|a: f64, b: f64| settle(a * b, [b, a]))),
    Form::new("{fma|mad}.rn.f64", alu!(|a: f64, b: f64, c: f64| settle(a.mul_add(b, c), [b, c, a]))),
    Form::new("div.rn.f64", alu!(|a: f64, b: f64| settle(a / b, [a, b]))),
    Form::new("rcp.rn.f64", alu!(|a: f64| settle(1.0 / a, [a]))),
    Form::new("sqrt.rn.f64", alu!(|a: f64| settle(a.sqrt(), [a]))),
    Form::new("abs.f64", alu!(|a: f64| settle(if a.is_nan() { a } else { a.abs() }, [a]))),
    Form::new("neg.f64", alu!(|a: f64| settle(if a.is_nan() { a } else { -a }, [a]))),
    Form::new("min.f64", alu!(|a: f64, b: f64| settle(minimum_f64(a, b), [b, a]))),
    Form::new("max.f64", alu!(|a: f64, b: f64| settle(-minimum_f64(-a, -b), [b, a]))),
    Form::new("copysign.f64", alu!(|a: f64, b: f64| b.copysign(a))),
];

static DOUBLE_MODES: &[Form] = &[
    Form::new("add.{rz|rm|rp}.f64", alu!(mode => |m, a: f64, b: f64| double::add(a, b, m.rounding()))),
    Form::new("sub.{rz|rm|rp}.f64", alu!(mode => |m, a: f64, b: f64| double::subtract(a, b, m.rounding()))),
    Form::new("mul.{rz|rm|rp}.f64", alu!(mode => |m, a: f64, b: f64| double::multiply(a, b, m.rounding()))),
    Form::new(
        "{fma|mad}.{rz|rm|rp}.f64",
        alu!(mode => |m, a: f64, b: f64, c: f64| double::fma(a, b, c, m.rounding())),
    ),
    Form::new("div.{rz|rm|rp}.f64", alu!(mode => |m, a: f64, b: f64| double::divide(a, b, m.rounding()))),
    Form::new("rcp.{rz|rm|rp}.f64", alu!(mode => |m, a: f64| double::divide(1.0, a, m.rounding()))),
    Form::new("sqrt.{rz|rm|rp}.f64", alu!(mode => |m, a: f64| double::square_root(a, m.rounding()))),
];

/// NaN results have one payload, whatever came in. On the bits: the compiler takes any NaN that an operation makes for
/// as good as another, and would drop a comparison of numbers. (Signed, which costs vectors less.)
#[inline(always)]
pub(crate) fn canon(x: f32) -> f32 {
    let magnitude = (x.to_bits() & 0x7fff_ffff) as i32;
    f32::from_bits(if magnitude > 0x7f80_0000 { round::F32.nan } else { x.to_bits() })
}

#[inline(always)]
pub(super) fn canon_f64(x: f64) -> f64 {
    settle(x, [])
}

/// Subnormal numbers become zero, with their sign.
#[inline(always)]
pub(super) fn flush(x: f32) -> f32 {
    let bits = x.to_bits();
    f32::from_bits(if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits })
}

/// `.ftz` on the result of `a * b + c`.
///
/// What is flushed is decided on the result rounded to 24 bits, before the loss of bits to a subnormal exponent: so a
/// product just below the smallest normal number is 0, though it would round to that number. Scaling by 2^64 shows it.
#[inline(always)]
fn fma_ftz(a: f32, b: f32, c: f32, result: f32) -> f32 {
    const LARGER: f32 = (1u128 << 64) as f32;
    // Of a tiny product, one factor is small enough to scale.
    let (x, y) = if a.abs() < 1.0 { (a * LARGER, b) } else { (a, b * LARGER) };
    let tiny = x.mul_add(y, c * LARGER).abs() < LARGER * f32::MIN_POSITIVE;
    if tiny { 0.0f32.copysign(result) } else { canon(result) }
}

#[inline(always)]
fn flush_f64(x: f64) -> f64 {
    if x.abs() < f64::MIN_POSITIVE { 0.0f64.copysign(x) } else { x }
}

#[inline(always)]
pub(super) fn flush_if(ftz: bool, x: f32) -> f32 {
    if ftz { flush(x) } else { x }
}

/// `.sat`: to 0...1; NaN and -0 become +0.
#[inline(always)]
pub(super) fn saturate(x: f32) -> f32 {
    if x > 0.0 { x.min(1.0) } else { 0.0 }
}

#[inline(always)]
pub(super) fn saturate_f64(x: f64) -> f64 {
    if x > 0.0 { x.min(1.0) } else { 0.0 }
}

/// Rounds what is exact or was rounded to odd, then does what the modifiers want.
#[inline(always)]
pub(super) fn finish(mode: Mode, x: f64) -> f32 {
    let rounded = if mode.ftz() && round::is_tiny(x, mode.rounding()) {
        0.0f32.copysign(x as f32)
    } else {
        round::single(x, mode.rounding())
    };
    if mode.sat() { saturate(rounded) } else { rounded }
}

#[inline(always)]
fn input(mode: Mode, x: f32) -> f64 {
    f64::from(flush_if(mode.ftz(), x))
}

fn add(mode: Mode, a: f32, b: f32) -> f32 {
    finish(mode, round::add(input(mode, a), input(mode, b), mode.rounding()))
}

fn multiply(mode: Mode, a: f32, b: f32) -> f32 {
    // 48 bits: exact.
    finish(mode, input(mode, a) * input(mode, b))
}

fn fma(mode: Mode, a: f32, b: f32, c: f32) -> f32 {
    finish(mode, round::add(input(mode, a) * input(mode, b), input(mode, c), mode.rounding()))
}

fn divide(mode: Mode, a: f32, b: f32) -> f32 {
    finish(mode, round::divide(input(mode, a), input(mode, b)))
}

fn square_root(mode: Mode, a: f32) -> f32 {
    finish(mode, round::square_root(input(mode, a)))
}

/// The smaller one, or the one that is a number. -0 is less than +0.
#[inline(always)]
pub(super) fn minimum(a: f32, b: f32) -> f32 {
    let first = a < b || (a == b && a.is_sign_negative()) || b.is_nan();
    let smaller = if first { a } else { b };
    canon(smaller)
}

/// The larger one, likewise.
#[inline(always)]
pub(super) fn maximum(a: f32, b: f32) -> f32 {
    canon(-minimum(-a, -b))
}

#[inline(always)]
fn minimum_f64(a: f64, b: f64) -> f64 {
    let first = a < b || (a == b && a.is_sign_negative()) || b.is_nan();
    if first { a } else { b }
}

/// `min` and `max` with modifiers, for every format that a single can hold.
#[inline(always)]
pub(super) fn extremum(mode: Mode, max: bool, a: f32, b: f32) -> f32 {
    let (a, b) = (flush_if(mode.ftz(), a), flush_if(mode.ftz(), b));
    if mode.nan() && (a.is_nan() || b.is_nan()) {
        return canon(f32::NAN);
    }
    let pick = |a: f32, b: f32| if max { maximum(a, b) } else { minimum(a, b) };
    if !mode.xorsign() {
        return pick(a, b);
    }
    let sign = if a.is_sign_negative() != b.is_sign_negative() { -1.0 } else { 1.0 };
    let magnitude = pick(a.abs(), b.abs());
    if magnitude.is_nan() { canon(magnitude) } else { magnitude.copysign(sign) }
}

/// `div.approx`: `a * (1 / b)`, where the reciprocal of 2^126 and more is 0.
#[inline(always)]
fn divide_by_reciprocal(a: f32, b: f32) -> f32 {
    const LARGEST: f32 = (1u128 << 126) as f32;
    canon(if b.abs() > LARGEST { a * 0.0f32.copysign(b) } else { a / b })
}

/// The approximations of `.f64` take and give the upper 32 bits only.
#[inline(always)]
fn gross(x: f64) -> f64 {
    if double::is_nan(x.to_bits()) { f64::from_bits(0x7fff_ffff << 32) } else { upper(x) }
}

#[inline(always)]
fn upper(x: f64) -> f64 {
    flush_f64(f64::from_bits(x.to_bits() & !0xffff_ffff))
}
