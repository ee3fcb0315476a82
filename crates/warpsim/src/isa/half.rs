//! Half precision, `f16` and `bf16`, alone and in pairs.
//!
//! Everything is computed in double precision: exactly, or rounded to odd, and rounded once (see [`round`]).

use super::float::{extremum, flush_if, saturate_f64};
use super::form::{Mode, Rounding};
use super::round::{self, BF16, F16, Format};
use super::{Form, approx};
use crate::alu::alu;

pub(super) static TABLES: &[&[Form]] = &[F16_FORMS, BF16_FORMS];

/// The forms of a type and its pairs. `$ftz`: whether the manual knows `.ftz` for it.
macro_rules! half {
    ($ty:literal, $format:ident, $add:literal, $fma:literal, $sign:literal, $extremum:literal, $ex2:literal) => {
        &[
            Form::new(concat!("add", $add, ".", $ty), alu!(mode => |m, a: u16, b: u16| add($format, m, a, b))),
            Form::new(concat!("sub", $add, ".", $ty), alu!(mode => |m, a: u16, b: u16| subtract($format, m, a, b))),
            Form::new(concat!("mul", $add, ".", $ty), alu!(mode => |m, a: u16, b: u16| multiply($format, m, a, b))),
            Form::new(
                concat!("fma.rn", $fma, ".", $ty),
                alu!(mode => |m, a: u16, b: u16, c: u16| fma($format, m, a, b, c)),
            ),
            Form::new(concat!("neg", $sign, ".", $ty), alu!(mode => |m, a: u16| negate($format, m, a))),
            Form::new(concat!("abs", $sign, ".", $ty), alu!(mode => |m, a: u16| magnitude($format, m, a))),
            Form::new(concat!("min", $extremum, ".", $ty), alu!(mode => |m, a: u16, b: u16| min($format, m, a, b))),
            Form::new(concat!("max", $extremum, ".", $ty), alu!(mode => |m, a: u16, b: u16| max($format, m, a, b))),
            Form::new(concat!("ex2.approx", $ex2, ".", $ty), alu!(mode => |m, a: u16| exp2($format, m, a))),
            Form::new(concat!("tanh.approx.", $ty), alu!(mode => |m, a: u16| tanh($format, m, a))),
            Form::new(
                concat!("add", $add, ".", $ty, "x2"),
                alu!(mode => |m, a: u32, b: u32| pair(|i| add($format, m, part(a, i), part(b, i)))),
            ),
            Form::new(
                concat!("sub", $add, ".", $ty, "x2"),
                alu!(mode => |m, a: u32, b: u32| pair(|i| subtract($format, m, part(a, i), part(b, i)))),
            ),
            Form::new(
                concat!("mul", $add, ".", $ty, "x2"),
                alu!(mode => |m, a: u32, b: u32| pair(|i| multiply($format, m, part(a, i), part(b, i)))),
            ),
            Form::new(
                concat!("fma.rn", $fma, ".", $ty, "x2"),
                alu!(mode => |m, a: u32, b: u32, c: u32| {
                    pair(|i| fma($format, m, part(a, i), part(b, i), part(c, i)))
                }),
            ),
            Form::new(
                concat!("neg", $sign, ".", $ty, "x2"),
                alu!(mode => |m, a: u32| pair(|i| negate($format, m, part(a, i)))),
            ),
            Form::new(
                concat!("abs", $sign, ".", $ty, "x2"),
                alu!(mode => |m, a: u32| pair(|i| magnitude($format, m, part(a, i)))),
            ),
            Form::new(
                concat!("min", $extremum, ".", $ty, "x2"),
                alu!(mode => |m, a: u32, b: u32| pair(|i| min($format, m, part(a, i), part(b, i)))),
            ),
            Form::new(
                concat!("max", $extremum, ".", $ty, "x2"),
                alu!(mode => |m, a: u32, b: u32| pair(|i| max($format, m, part(a, i), part(b, i)))),
            ),
            Form::new(
                concat!("ex2.approx", $ex2, ".", $ty, "x2"),
                alu!(mode => |m, a: u32| pair(|i| exp2($format, m, part(a, i)))),
            ),
            Form::new(
                concat!("tanh.approx.", $ty, "x2"),
                alu!(mode => |m, a: u32| pair(|i| tanh($format, m, part(a, i)))),
            ),
        ]
    };
}
static F16_FORMS: &[Form] = half!(
    "f16",
    F16,
    "{.rn|}{.ftz|}{.sat|}",
    "{.ftz|}{.sat|.relu|}",
    "{.ftz|}",
    "{.ftz|}{.NaN|}{.xorsign.abs|}",
    ""
);
static BF16_FORMS: &[Form] = half!("bf16", BF16, "{.rn|}", "{.relu|}", "", "{.NaN|}{.xorsign.abs|}", ".ftz");

/// Half `i` of a pair: 0 is the lower one.
#[inline(always)]
pub(super) fn part(pair: u32, i: u32) -> u16 {
    (pair >> (16 * i)) as u16
}

/// A pair of what `f` makes of each half.
#[inline(always)]
pub(super) fn pair(f: impl Fn(u32) -> u16) -> u32 {
    u32::from(f(0)) | u32::from(f(1)) << 16
}

/// A half as a single, exactly.
#[inline(always)]
pub(super) fn widen(format: Format, bits: u16) -> f32 {
    if format == BF16 {
        return f32::from_bits(u32::from(bits) << 16);
    }
    let sign = u32::from(bits & 0x8000) << 16;
    let magnitude = u32::from(bits & 0x7fff) << 13;
    // Rebias the exponent; a subnormal half is a multiple of 2^-24.
    let value = if magnitude < 1 << 23 {
        (f32::from_bits(magnitude | 113 << 23) - f32::from_bits(113 << 23)).to_bits()
    } else if magnitude < 31 << 23 {
        magnitude + (112 << 23)
    } else {
        magnitude | 0xff << 23
    };
    f32::from_bits(value | sign)
}

/// `x`, which is exact or was rounded to odd, as a half.
#[inline(always)]
pub(super) fn round_to(format: Format, x: f64, rounding: Rounding) -> u16 {
    round::narrow(x, format, rounding) as u16
}

/// `.ftz` for halves: what is smaller than the smallest normal number becomes zero.
#[inline(always)]
fn flush(format: Format, mode: Mode, bits: u16) -> u16 {
    if mode.ftz() && bits & 0x7fff < 1 << format.mantissa { bits & 0x8000 } else { bits }
}

#[inline(always)]
fn input(format: Format, mode: Mode, bits: u16) -> f64 {
    f64::from(widen(format, flush(format, mode, bits)))
}

#[inline(always)]
fn finish(format: Format, mode: Mode, x: f64) -> u16 {
    let x = if mode.sat() { saturate_f64(x) } else { x };
    let x = if mode.relu() && x <= 0.0 { 0.0 } else { x };
    flush(format, mode, round_to(format, x, Rounding::Nearest))
}

/// `a + b`, as atomic operations add.
pub(super) fn sum(format: Format, a: u16, b: u16) -> u16 {
    add(format, Mode::default(), a, b)
}

fn add(format: Format, mode: Mode, a: u16, b: u16) -> u16 {
    finish(format, mode, round::add(input(format, mode, a), input(format, mode, b), Rounding::Nearest))
}

fn subtract(format: Format, mode: Mode, a: u16, b: u16) -> u16 {
    add(format, mode, a, b ^ 0x8000)
}

fn multiply(format: Format, mode: Mode, a: u16, b: u16) -> u16 {
    finish(format, mode, input(format, mode, a) * input(format, mode, b))
}

fn fma(format: Format, mode: Mode, a: u16, b: u16, c: u16) -> u16 {
    let product = input(format, mode, a) * input(format, mode, b);
    finish(format, mode, round::add(product, input(format, mode, c), Rounding::Nearest))
}

fn negate(format: Format, mode: Mode, a: u16) -> u16 {
    canon(format, flush(format, mode, a ^ 0x8000))
}

fn magnitude(format: Format, mode: Mode, a: u16) -> u16 {
    canon(format, flush(format, mode, a & 0x7fff))
}

/// NaN results have one payload.
fn canon(format: Format, bits: u16) -> u16 {
    if widen(format, bits).is_nan() { format.nan as u16 } else { bits }
}

fn min(format: Format, mode: Mode, a: u16, b: u16) -> u16 {
    extremum_of(format, mode, false, a, b)
}

fn max(format: Format, mode: Mode, a: u16, b: u16) -> u16 {
    extremum_of(format, mode, true, a, b)
}

#[inline(always)]
fn extremum_of(format: Format, mode: Mode, max: bool, a: u16, b: u16) -> u16 {
    let (a, b) = (flush(format, mode, a), flush(format, mode, b));
    round_to(format, f64::from(extremum(mode, max, widen(format, a), widen(format, b))), Rounding::Nearest)
}

fn exp2(format: Format, mode: Mode, a: u16) -> u16 {
    finish(format, mode, approx::exp2(input(format, mode, a)))
}

fn tanh(format: Format, mode: Mode, a: u16) -> u16 {
    finish(format, mode, approx::tanh(input(format, mode, a)))
}

/// A half as the single that comparisons and conversions see.
#[inline(always)]
pub(super) fn widen_flushed(format: Format, ftz: bool, bits: u16) -> f32 {
    let value = widen(format, bits);
    if format == F16 && ftz && bits & 0x7fff < 0x400 { 0.0f32.copysign(value) } else { flush_if(ftz, value) }
}
