//! Conversions.
//!
//! A result narrower than 32 bits is extended to 32 (by its sign if the type is signed), as the manual says of
//! destinations wider than their type; instructions of narrow types look at the low bits only.

use super::Form;
use super::byte::{ByteFormat, E4M3, E5M2};
use super::double::settle;
use super::float::{canon, finish, flush, flush_if, saturate, saturate_f64};
use super::form::{Mode, Rounding};
use super::half::{pair, part, round_to, widen};
use super::round::{self, BF16, F16, F32, Format, TF32};
use crate::alu::alu;

pub(super) static TABLES: &[&[Form]] = &[
    FREQUENT,
    TO_U8,
    TO_S8,
    TO_U16,
    TO_S16,
    TO_U32,
    TO_S32,
    TO_U64,
    TO_S64,
    FROM_INTEGER,
    FLOAT,
    HALF,
    PACK,
    BYTES,
];

static FREQUENT: &[Form] = &[
    Form::new("cvt.rzi.s32.f32", alu!(|a: f32| a as i32)),
    Form::new("cvt.rzi.u32.f32", alu!(|a: f32| a as u32)),
    Form::new("cvt.rzi.ftz.s32.f32", alu!(|a: f32| a as i32)),
    Form::new("cvt.rzi.ftz.u32.f32", alu!(|a: f32| a as u32)),
    Form::new("cvt.rn.f32.s32", alu!(|a: i32| a as f32)),
    Form::new("cvt.rn.f32.u32", alu!(|a: u32| a as f32)),
    Form::new("cvt.f64.f32", alu!(|a: f32| widen_single(a))),
    Form::new("cvt.ftz.f64.f32", alu!(|a: f32| widen_single(flush(canon(a))))),
    Form::new("cvt.rn.f32.f64", alu!(|a: f64| narrow_double(a))),
    Form::new("cvt.f32.f16", alu!(|a: u16| canon(widen(F16, a)))),
    Form::new("cvt.f32.bf16", alu!(|a: u16| widen(BF16, a))),
];

/// An integer clamped to the range of a type.
macro_rules! clamp {
    ($d:ident, $a:expr) => {
        i128::from($a).clamp($d::MIN as i128, $d::MAX as i128) as $d
    };
}

/// An integral value clamped to the range of a type. NaN is 0, but for the types where the manual wants the value
/// with only the highest bit set: 64-bit results, and all results from doubles.
macro_rules! whole {
    ($d:ident, $x:expr, $nan_from:expr) => {{
        let x: f64 = $x;
        if x.is_nan() && ($d::BITS == 64 || $nan_from) { (1 as $d) << ($d::BITS - 1) } else { x as $d }
    }};
}
const NAN_IS_ZERO: bool = false;
const NAN_IS_LARGE: bool = true;

macro_rules! clamp_pair {
    ($d:ident, $a:ident, $b:ident) => {
        u32::from(clamp!($d, $a) as u16) << 16 | u32::from(clamp!($d, $b) as u16)
    };
}
macro_rules! clamp_bytes {
    ($d:ident, $a:ident, $b:ident, $c:ident) => {
        $c << 16 | u32::from(clamp!($d, $a) as u8) << 8 | u32::from(clamp!($d, $b) as u8)
    };
}
/// To an integer type `$d`, written as `$w`. Integers are cut, or clamped with `.sat`; floating-point values are
/// rounded to an integral value and clamped.
macro_rules! to_integer {
    ($name:literal, $d:ident, $w:ident, sat: $($from:literal $s:ident)*) => {
        &[
            Form::new(concat!("cvt.", $name, ".u8"), alu!(mode => |_m, a: u8| a as $d as $w)),
            Form::new(concat!("cvt.", $name, ".s8"), alu!(mode => |_m, a: i8| a as $d as $w)),
            Form::new(concat!("cvt.", $name, ".u16"), alu!(mode => |_m, a: u16| a as $d as $w)),
            Form::new(concat!("cvt.", $name, ".s16"), alu!(mode => |_m, a: i16| a as $d as $w)),
            Form::new(concat!("cvt.", $name, ".u32"), alu!(|a: u32| a as $d as $w)),
            Form::new(concat!("cvt.", $name, ".s32"), alu!(|a: i32| a as $d as $w)),
            Form::new(concat!("cvt.", $name, ".u64"), alu!(|a: u64| a as $d as $w)),
            Form::new(concat!("cvt.", $name, ".s64"), alu!(|a: i64| a as $d as $w)),
            $(Form::new(concat!("cvt.sat.", $name, ".", $from), alu!(mode => |_m, a: $s| clamp!($d, a) as $w)),)*
            Form::new(
                concat!("cvt.{rni|rzi|rmi|rpi}{.ftz|}{.sat|}.", $name, ".f32"),
                alu!(mode => |m, a: f32| whole!($d, f64::from(integral_f32(m, a)), NAN_IS_ZERO) as $w),
            ),
            Form::new(
                concat!("cvt.{rni|rzi|rmi|rpi}{.sat|}.", $name, ".f64"),
                alu!(mode => |m, a: f64| whole!($d, integral(m, a), NAN_IS_LARGE) as $w),
            ),
            Form::new(
                concat!("cvt.{rni|rzi|rmi|rpi}{.sat|}.", $name, ".f16"),
                alu!(mode => |m, a: u16| {
                    whole!($d, integral(m, f64::from(widen(F16, a))), NAN_IS_ZERO) as $w
                }),
            ),
            Form::new(
                concat!("cvt.{rni|rzi|rmi|rpi}.", $name, ".bf16"),
                alu!(mode => |m, a: u16| whole!($d, integral(m, f64::from(widen(BF16, a))), NAN_IS_ZERO) as $w),
            ),
        ]
    };
}

static TO_U8: &[Form] =
    to_integer!("u8", u8, u32, sat: "s8" i8 "u16" u16 "s16" i16 "u32" u32 "s32" i32 "u64" u64 "s64" i64);
static TO_S8: &[Form] =
    to_integer!("s8", i8, i32, sat: "u8" u8 "u16" u16 "s16" i16 "u32" u32 "s32" i32 "u64" u64 "s64" i64);
static TO_U16: &[Form] =
    to_integer!("u16", u16, u32, sat: "s8" i8 "s16" i16 "u32" u32 "s32" i32 "u64" u64 "s64" i64);
static TO_S16: &[Form] = to_integer!("s16", i16, i32, sat: "u16" u16 "u32" u32 "s32" i32 "u64" u64 "s64" i64);
static TO_U32: &[Form] = to_integer!("u32", u32, u32, sat: "s8" i8 "s16" i16 "s32" i32 "u64" u64 "s64" i64);
static TO_S32: &[Form] = to_integer!("s32", i32, i32, sat: "u32" u32 "u64" u64 "s64" i64);
static TO_U64: &[Form] = to_integer!("u64", u64, u64, sat: "s8" i8 "s16" i16 "s32" i32 "s64" i64);
static TO_S64: &[Form] = to_integer!("s64", i64, i64, sat: "u64" u64);

/// From an integer type to the floating-point ones. Every integer of up to 32 bits is exact in double precision.
macro_rules! from_integer {
    ($($name:literal $s:ident;)*) => { &[$(
        Form::new(
            concat!("cvt.{rn|rz|rm|rp}{.ftz|}{.sat|}.f32.", $name),
            alu!(mode => |m, a: $s| to_single(m, odd_double(i128::from(a)))),
        ),
        Form::new(
            concat!("cvt.{rn|rz|rm|rp}{.sat|}.f64.", $name),
            alu!(mode => |m, a: $s| to_double(m, i128::from(a))),
        ),
        Form::new(
            concat!("cvt.{rn|rz|rm|rp}{.sat|}.f16.", $name),
            alu!(mode => |m, a: $s| to_half(F16, m, odd_double(i128::from(a)))),
        ),
        Form::new(
            concat!("cvt.{rn|rz|rm|rp}.bf16.", $name),
            alu!(mode => |m, a: $s| to_half(BF16, m, odd_double(i128::from(a)))),
        ),
    )*] };
}
static FROM_INTEGER: &[Form] = from_integer! {
    "u8" u8; "s8" i8; "u16" u16; "s16" i16; "u32" u32; "s32" i32; "u64" u64; "s64" i64;
};

static FLOAT: &[Form] = &[
    Form::new(
        "cvt{.rni|.rzi|.rmi|.rpi|}{.ftz|}{.sat|}.f32.f32",
        alu!(mode => |m, a: f32| saturate_if(m.sat(), if m.integral() || m.ftz() { integral_f32(m, a) } else { a })),
    ),
    Form::new(
        "cvt{.rni|.rzi|.rmi|.rpi|}{.sat|}.f64.f64",
        alu!(mode => |m, a: f64| saturate_double(m, if m.integral() { settle(integral(m, a), [a]) } else { a })),
    ),
    Form::new("cvt.{rn|rz|rm|rp}{.ftz|}{.sat|}.f32.f64", alu!(mode => |m, a: f64| to_single(m, a))),
    Form::new(
        "cvt{.ftz|}{.sat|}.f64.f32",
        alu!(mode => |m, a: f32| {
            saturate_double(m, widen_single(if m.ftz() { flush(canon(a)) } else { a }))
        }),
    ),
    Form::new("cvt.rna{.satfinite|}.tf32.f32", alu!(mode => |m, a: f32| to_tf32_away(m, a))),
    Form::new("cvt.{rn|rz}{.relu|}.tf32.f32", alu!(mode => |m, a: f32| to_tf32(m, a))),
];

/// To and from a format of 16 bits.
static HALF: &[Form] = &[
    // `.ftz` makes no difference: a subnormal single is far below the smallest half.
    Form::new(
        "cvt.{rn|rz|rm|rp}{.ftz|}{.sat|}.f16.f32",
        alu!(mode => |m, a: f32| to_half(F16, m, f64::from(a))),
    ),
    Form::new(
        "cvt.{rn|rz}{.relu|}{.satfinite|}.f16.f32",
        alu!(mode => |m, a: f32| to_half(F16, m, f64::from(a))),
    ),
    Form::new("cvt.{rn|rz|rm|rp}.bf16.f32", alu!(mode => |m, a: f32| to_half(BF16, m, f64::from(a)))),
    Form::new(
        "cvt.{rn|rz}{.relu|}{.satfinite|}.bf16.f32",
        alu!(mode => |m, a: f32| to_half(BF16, m, f64::from(a))),
    ),
    Form::new("cvt.{rn|rz|rm|rp}{.sat|}.f16.f64", alu!(mode => |m, a: f64| double_to_half(F16, m, a))),
    Form::new("cvt.{rn|rz|rm|rp}.bf16.f64", alu!(mode => |m, a: f64| double_to_half(BF16, m, a))),
    Form::new(
        "cvt{.ftz|}{.sat|}.f32.f16",
        alu!(mode => |m, a: u16| saturate_if(m.sat(), canon(widen(F16, a)))),
    ),
    Form::new("cvt{.sat|}.f64.f16", alu!(mode => |m, a: u16| saturate_double(m, widen_half(F16, a)))),
    Form::new("cvt{.ftz|}.f32.bf16", alu!(mode => |m, a: u16| flush_if(m.ftz(), canon(widen(BF16, a))))),
    Form::new("cvt.f64.bf16", alu!(|a: u16| widen_half(BF16, a))),
    Form::new(
        "cvt{.rni|.rzi|.rmi|.rpi|}{.sat|}.f16.f16",
        alu!(mode => |m, a: u16| {
            half_to_half(F16, m, integral(m, f64::from(widen(F16, a))))
        }),
    ),
    Form::new(
        "cvt{.rni|.rzi|.rmi|.rpi|}.bf16.bf16",
        alu!(mode => |m, a: u16| half_to_half(BF16, m, integral(m, f64::from(widen(BF16, a))))),
    ),
    Form::new(
        "cvt.{rn|rz|rm|rp}.bf16.f16",
        alu!(mode => |m, a: u16| to_half(BF16, m, f64::from(widen(F16, a)))),
    ),
    Form::new(
        "cvt.{rn|rz|rm|rp}.f16.bf16",
        alu!(mode => |m, a: u16| to_half(F16, m, f64::from(widen(BF16, a)))),
    ),
    // The first source is the upper half.
    Form::new(
        "cvt.{rn|rz}{.relu|}{.satfinite|}.f16x2.f32",
        alu!(mode => |m, a: f32, b: f32| pair(|i| to_half(F16, m, f64::from(if i == 0 { b } else { a })))),
    ),
    Form::new(
        "cvt.{rn|rz}{.relu|}{.satfinite|}.bf16x2.f32",
        alu!(mode => |m, a: f32, b: f32| pair(|i| to_half(BF16, m, f64::from(if i == 0 { b } else { a })))),
    ),
];

/// Two 32-bit integers, clamped and packed; with a third operand they come above its lower bits.
static PACK: &[Form] = &[
    Form::new("cvt.pack.sat.u16.s32", alu!(|a: i32, b: i32| clamp_pair!(u16, a, b))),
    Form::new("cvt.pack.sat.s16.s32", alu!(|a: i32, b: i32| clamp_pair!(i16, a, b))),
    Form::new("cvt.pack.sat.u8.s32.b32", alu!(|a: i32, b: i32, c: u32| clamp_bytes!(u8, a, b, c))),
    Form::new("cvt.pack.sat.s8.s32.b32", alu!(|a: i32, b: i32, c: u32| clamp_bytes!(i8, a, b, c))),
];

/// To and from pairs of floating-point bytes. The first source is the upper byte.
static BYTES: &[Form] = &[
    Form::new(
        "cvt.rn.satfinite{.relu|}.e4m3x2.f32",
        alu!(mode => |m, a: f32, b: f32| byte_pair(E4M3, m, f64::from(a), f64::from(b))),
    ),
    Form::new(
        "cvt.rn.satfinite{.relu|}.e5m2x2.f32",
        alu!(mode => |m, a: f32, b: f32| byte_pair(E5M2, m, f64::from(a), f64::from(b))),
    ),
    Form::new(
        "cvt.rn.satfinite{.relu|}.e4m3x2.f16x2",
        alu!(mode => |m, a: u32| byte_pair(E4M3, m, half_of(a, 1), half_of(a, 0))),
    ),
    Form::new(
        "cvt.rn.satfinite{.relu|}.e5m2x2.f16x2",
        alu!(mode => |m, a: u32| byte_pair(E5M2, m, half_of(a, 1), half_of(a, 0))),
    ),
    Form::new(
        "cvt.rn{.relu|}.f16x2.e4m3x2",
        alu!(mode => |m, a: u16| pair(|i| to_half(F16, m, E4M3.value((a >> (8 * i)) as u8)))),
    ),
    Form::new(
        "cvt.rn{.relu|}.f16x2.e5m2x2",
        alu!(mode => |m, a: u16| pair(|i| to_half(F16, m, E5M2.value((a >> (8 * i)) as u8)))),
    ),
];

fn half_of(pair: u32, index: u32) -> f64 {
    f64::from(widen(F16, part(pair, index)))
}

fn byte_pair(format: ByteFormat, mode: Mode, upper: f64, lower: f64) -> u16 {
    let byte = |x: f64| format.bits(if mode.relu() && x <= 0.0 { 0.0 } else { x });
    u16::from(byte(upper)) << 8 | u16::from(byte(lower))
}

/// Rounded to an integral value if the mode says so.
#[inline(always)]
fn integral(mode: Mode, x: f64) -> f64 {
    if !mode.integral() {
        return x;
    }
    match mode.rounding() {
        Rounding::Zero => x.trunc(),
        Rounding::Down => x.floor(),
        Rounding::Up => x.ceil(),
        Rounding::Nearest | Rounding::NearestAway => x.round_ties_even(),
    }
}

/// The same for a single, after `.ftz`.
#[inline(always)]
fn integral_f32(mode: Mode, x: f32) -> f32 {
    canon(integral(mode, f64::from(flush_if(mode.ftz(), x))) as f32)
}

/// An integer as a double, rounded to odd.
#[inline(always)]
fn odd_double(value: i128) -> f64 {
    let nearest = value as f64;
    round::odd(nearest, (value - nearest as i128) as f64)
}

/// An integer as a double, rounded as the mode says.
#[inline(always)]
fn to_double(mode: Mode, value: i128) -> f64 {
    let nearest = value as f64;
    let error = value - nearest as i128;
    let rounded = match mode.rounding() {
        Rounding::Down if error < 0 => nearest.next_down(),
        Rounding::Up if error > 0 => nearest.next_up(),
        Rounding::Zero if error != 0 && (error < 0) == (value > 0) => {
            if value > 0 {
                nearest.next_down()
            } else {
                nearest.next_up()
            }
        }
        _ => nearest,
    };
    saturate_double(mode, rounded)
}

#[inline(always)]
fn saturate_if(sat: bool, x: f32) -> f32 {
    if sat { saturate(x) } else { x }
}

#[inline(always)]
fn saturate_double(mode: Mode, x: f64) -> f64 {
    if mode.sat() { saturate_f64(x) } else { x }
}

/// A single as a double. NaN keeps its payload.
#[inline(always)]
fn widen_single(x: f32) -> f64 {
    if x.is_nan() { round::widen_nan(x.to_bits(), F32) } else { f64::from(x) }
}

/// A half as a double, likewise.
#[inline(always)]
fn widen_half(format: Format, bits: u16) -> f64 {
    let x = widen(format, bits);
    if x.is_nan() { round::widen_nan(u32::from(bits), format) } else { f64::from(x) }
}

/// A double as the nearest single, likewise.
#[inline(always)]
fn narrow_double(x: f64) -> f32 {
    if x.is_nan() { f32::from_bits(round::narrow_nan(x, F32)) } else { x as f32 }
}

fn to_single(mode: Mode, x: f64) -> f32 {
    if x.is_nan() && !mode.sat() {
        return f32::from_bits(round::narrow_nan(x, F32));
    }
    finish(mode, x)
}

/// `.sat`, `.relu` and `.satfinite` on the way to a narrow format.
fn limited(format: Format, mode: Mode, x: f64) -> u32 {
    let x = saturate_double(mode, x);
    let x = if mode.relu() && x <= 0.0 { 0.0 } else { x };
    let bits = round::narrow(x, format, mode.rounding());
    let infinity = ((1 << format.exponent) - 1) << format.mantissa;
    let sign = 1 << (format.exponent + format.mantissa);
    if mode.satfinite() && bits & !sign == infinity { bits - 1 } else { bits }
}

fn to_half(format: Format, mode: Mode, x: f64) -> u16 {
    limited(format, mode, x) as u16
}

/// NaN keeps its payload here too, unlike in conversions from singles.
fn double_to_half(format: Format, mode: Mode, x: f64) -> u16 {
    if x.is_nan() && !mode.sat() { round::narrow_nan(x, format) as u16 } else { to_half(format, mode, x) }
}

fn to_tf32(mode: Mode, x: f32) -> u32 {
    limited(TF32, mode, f64::from(x)) << 13
}

/// `.rna` adds half a unit to the bits whatever they are, and `.satfinite` takes one from what then has the exponent
/// of an infinity. So NaNs change their payload, or become infinite.
fn to_tf32_away(mode: Mode, x: f32) -> u32 {
    const INFINITY: u32 = 0x7f80_0000;
    let rounded = x.to_bits().wrapping_add(0x1000) & !0x1fff;
    if mode.satfinite() && rounded & INFINITY == INFINITY { rounded - 0x2000 } else { rounded }
}

/// Between the same format: exact but for the integral rounding that has been done.
fn half_to_half(format: Format, mode: Mode, x: f64) -> u16 {
    round_to(format, saturate_double(mode, x), Rounding::Nearest)
}
