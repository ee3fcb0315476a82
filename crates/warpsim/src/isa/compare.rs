//! Comparisons: `setp`, `set`, and `testp`.

#![allow(clippy::neg_cmp_op_on_partial_ord, reason = "that is what an unordered comparison is")]

use std::num::FpCategory;

use super::Form;
use super::float::{flush, flush_if};
use super::form::Mode;
use super::half::{pair, part, widen, widen_flushed};
use super::round::{BF16, F16};
use crate::alu::alu;

pub(super) static TABLES: &[&[Form]] = &[
    FAST16,
    FAST32,
    FAST64,
    FAST_F32,
    FAST_F32_FTZ,
    FAST_F64,
    SETP,
    SETP_PLAIN,
    SETP_F16X2,
    SETP_BF16X2,
    SET_U32,
    SET_F32,
    SET_TO_F16,
    SET_TO_BF16,
    SET_F16,
    SET_BF16,
    TESTP,
];

/// The comparisons of integers that programs are full of, as plain operators.
macro_rules! fast {
    ($bits:literal, $u:ident, $s:ident) => {
        &[
            Form::new(concat!("setp.eq.{b|u|s}", $bits), alu!(|a: $u, b: $u| a == b)),
            Form::new(concat!("setp.ne.{b|u|s}", $bits), alu!(|a: $u, b: $u| a != b)),
            Form::new(concat!("setp.{lt|lo}.u", $bits), alu!(|a: $u, b: $u| a < b)),
            Form::new(concat!("setp.{le|ls}.u", $bits), alu!(|a: $u, b: $u| a <= b)),
            Form::new(concat!("setp.{gt|hi}.u", $bits), alu!(|a: $u, b: $u| a > b)),
            Form::new(concat!("setp.{ge|hs}.u", $bits), alu!(|a: $u, b: $u| a >= b)),
            Form::new(concat!("setp.lt.s", $bits), alu!(|a: $s, b: $s| a < b)),
            Form::new(concat!("setp.le.s", $bits), alu!(|a: $s, b: $s| a <= b)),
            Form::new(concat!("setp.gt.s", $bits), alu!(|a: $s, b: $s| a > b)),
            Form::new(concat!("setp.ge.s", $bits), alu!(|a: $s, b: $s| a >= b)),
        ]
    };
}
static FAST16: &[Form] = fast!("16", u16, i16);
static FAST32: &[Form] = fast!("32", u32, i32);
static FAST64: &[Form] = fast!("64", u64, i64);

/// The same for floating point. The unordered ones hold for NaN too.
macro_rules! fast_float {
    ($ty:literal, $t:ident, $flush:ident) => {
        &[
            Form::new(concat!("setp.eq.", $ty), alu!(|a: $t, b: $t| $flush(a) == $flush(b))),
            Form::new(
                concat!("setp.ne.", $ty),
                alu!(|a: $t, b: $t| ($flush(a) < $flush(b)) | ($flush(a) > $flush(b))),
            ),
            Form::new(concat!("setp.lt.", $ty), alu!(|a: $t, b: $t| $flush(a) < $flush(b))),
            Form::new(concat!("setp.le.", $ty), alu!(|a: $t, b: $t| $flush(a) <= $flush(b))),
            Form::new(concat!("setp.gt.", $ty), alu!(|a: $t, b: $t| $flush(a) > $flush(b))),
            Form::new(concat!("setp.ge.", $ty), alu!(|a: $t, b: $t| $flush(a) >= $flush(b))),
            Form::new(concat!("setp.neu.", $ty), alu!(|a: $t, b: $t| $flush(a) != $flush(b))),
            Form::new(concat!("setp.ltu.", $ty), alu!(|a: $t, b: $t| !($flush(a) >= $flush(b)))),
            Form::new(concat!("setp.leu.", $ty), alu!(|a: $t, b: $t| !($flush(a) > $flush(b)))),
            Form::new(concat!("setp.gtu.", $ty), alu!(|a: $t, b: $t| !($flush(a) <= $flush(b)))),
            Form::new(concat!("setp.geu.", $ty), alu!(|a: $t, b: $t| !($flush(a) < $flush(b)))),
        ]
    };
}
static FAST_F32: &[Form] = fast_float!("f32", f32, same);
static FAST_F32_FTZ: &[Form] = fast_float!("ftz.f32", f32, flush);
static FAST_F64: &[Form] = fast_float!("f64", f64, same);

#[inline(always)]
fn same<T>(x: T) -> T {
    x
}

/// What integers can be compared for.
macro_rules! signed {
    () => {
        "{eq|ne|lt|le|gt|ge}"
    };
}
macro_rules! unsigned {
    () => {
        "{eq|ne|lt|le|gt|ge|lo|ls|hi|hs}"
    };
}
macro_rules! equality {
    () => {
        "{eq|ne}"
    };
}
/// And floating-point numbers, with `.ftz`.
macro_rules! ordered_or_not {
    () => {
        "{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}"
    };
}

/// `setp` combined with a predicate, and with the complement as second destination (the name
/// then ends in `|q`). `$compare` compares two values as the immediate says.
macro_rules! setp {
    ($($comparison:ident $ty:literal $t:ident $compare:ident;)*) => { &[$(
        Form::new(
            concat!("setp.", $comparison!(), $ty, ".|q"),
            alu!(mode => |m, a: $t, b: $t| {
                let holds = $compare(m, a, b);
                (holds, !holds)
            }),
        ),
        Form::new(
            concat!("setp.", $comparison!(), ".{and|or|xor}", $ty),
            alu!(mode => |m, a: $t, b: $t, c: bool| m.combine($compare(m, a, b), c)),
        ),
        Form::new(
            concat!("setp.", $comparison!(), ".{and|or|xor}", $ty, ".|q"),
            alu!(mode => |m, a: $t, b: $t, c: bool| {
                let holds = $compare(m, a, b);
                (m.combine(holds, c), m.combine(!holds, c))
            }),
        ),
    )*] };
}
static SETP: &[Form] = setp! {
    unsigned ".u16" u16 integers;
    equality ".b16" u16 integers;
    unsigned ".u32" u32 integers;
    equality ".b32" u32 integers;
    unsigned ".u64" u64 integers;
    equality ".b64" u64 integers;
    signed ".s16" i16 integers;
    signed ".s32" i32 integers;
    signed ".s64" i64 integers;
    ordered_or_not "{.ftz|}.f32" f32 singles;
    ordered_or_not ".f64" f64 doubles;
};

/// `setp` with one destination, where it is not frequent. Halves never have two.
static SETP_PLAIN: &[Form] = &[
    Form::new("setp.{equ|num|nan}{.ftz|}.f32", alu!(mode => |m, a: f32, b: f32| singles(m, a, b))),
    Form::new("setp.{equ|num|nan}.f64", alu!(mode => |m, a: f64, b: f64| doubles(m, a, b))),
    Form::new(
        concat!("setp.", ordered_or_not!(), "{.ftz|}.f16"),
        alu!(mode => |m, a: u16, b: u16| halves(m, a, b)),
    ),
    Form::new(
        concat!("setp.", ordered_or_not!(), ".{and|or|xor}{.ftz|}.f16"),
        alu!(mode => |m, a: u16, b: u16, c: bool| m.combine(halves(m, a, b), c)),
    ),
    Form::new(
        concat!("setp.", ordered_or_not!(), ".bf16"),
        alu!(mode => |m, a: u16, b: u16| brain_halves(m, a, b)),
    ),
    Form::new(
        concat!("setp.", ordered_or_not!(), ".{and|or|xor}.bf16"),
        alu!(mode => |m, a: u16, b: u16, c: bool| m.combine(brain_halves(m, a, b), c)),
    ),
];

/// `setp` on pairs: one predicate for each half, always two.
macro_rules! setp_pair {
    ($ty:literal, $compare:ident) => {
        &[
            Form::new(
                concat!("setp.", ordered_or_not!(), $ty, ".|q"),
                alu!(mode => |m, a: u32, b: u32| {
                    ($compare(m, part(a, 0), part(b, 0)), $compare(m, part(a, 1), part(b, 1)))
                }),
            ),
            Form::new(
                concat!("setp.", ordered_or_not!(), ".{and|or|xor}", $ty, ".|q"),
                alu!(mode => |m, a: u32, b: u32, c: bool| {
                    let half = |i| m.combine($compare(m, part(a, i), part(b, i)), c);
                    (half(0), half(1))
                }),
            ),
        ]
    };
}
static SETP_F16X2: &[Form] = setp_pair!("{.ftz|}.f16x2", halves);
static SETP_BF16X2: &[Form] = setp_pair!(".bf16x2", brain_halves);

/// `set` to one type: `$one` where the comparison holds, else `$zero`.
macro_rules! set {
    ($d:literal $one:literal $zero:literal: $($comparison:ident $ftz:literal $ty:literal $t:ident $compare:ident;)*) => {
        &[$(
            Form::new(
                concat!("set.", $comparison!(), $ftz, ".", $d, ".", $ty),
                alu!(mode => |m, a: $t, b: $t| if $compare(m, a, b) { $one } else { $zero }),
            ),
            Form::new(
                concat!("set.", $comparison!(), ".{and|or|xor}", $ftz, ".", $d, ".", $ty),
                alu!(mode => |m, a: $t, b: $t, c: bool| {
                    if m.combine($compare(m, a, b), c) { $one } else { $zero }
                }),
            ),
        )*]
    };
}
macro_rules! set_from_all {
    ($d:literal $one:literal $zero:literal: $($more:tt)*) => {
        set! { $d $one $zero:
            unsigned "" "u16" u16 integers;
            equality "" "b16" u16 integers;
            unsigned "" "u32" u32 integers;
            equality "" "b32" u32 integers;
            unsigned "" "u64" u64 integers;
            equality "" "b64" u64 integers;
            signed "" "s16" i16 integers;
            signed "" "s32" i32 integers;
            signed "" "s64" i64 integers;
            ordered_or_not "" "f64" f64 doubles;
            $($more)*
        }
    };
}
static SET_U32: &[Form] = set_from_all! { "{u|s}32" 0xffff_ffff_u32 0u32:
    ordered_or_not "{.ftz|}" "f32" f32 singles;
    ordered_or_not "{.ftz|}" "f16" u16 halves;
    ordered_or_not "" "bf16" u16 brain_halves;
};
static SET_F32: &[Form] = set_from_all! { "f32" 1.0f32 0.0f32:
    ordered_or_not "{.ftz|}" "f32" f32 singles;
};
static SET_TO_F16: &[Form] = set_from_all! { "f16" 0x3c00_u16 0u16:
    ordered_or_not "{.ftz|}" "f32" f32 singles;
    ordered_or_not "{.ftz|}" "f16" u16 halves;
};
static SET_TO_BF16: &[Form] = set_from_all! { "bf16" 0x3f80_u16 0u16:
    ordered_or_not "" "f32" f32 singles;
    ordered_or_not "" "f16" u16 halves;
    ordered_or_not "" "bf16" u16 brain_halves;
};

/// `set` from halves to 16 bits, and from pairs to pairs.
macro_rules! set_half {
    ($ftz:literal, $ty:literal, $compare:ident, $one:literal) => {
        &[
            Form::new(
                concat!("set.", ordered_or_not!(), $ftz, ".{u|s}16.", $ty),
                alu!(mode => |m, a: u16, b: u16| if $compare(m, a, b) { u16::MAX } else { 0 }),
            ),
            Form::new(
                concat!("set.", ordered_or_not!(), ".{and|or|xor}", $ftz, ".{u|s}16.", $ty),
                alu!(mode => |m, a: u16, b: u16, c: bool| {
                    if m.combine($compare(m, a, b), c) { u16::MAX } else { 0 }
                }),
            ),
            Form::new(
                concat!("set.", ordered_or_not!(), $ftz, ".{u|s}32.", $ty, "x2"),
                alu!(mode => |m, a: u32, b: u32| {
                    pair(|i| if $compare(m, part(a, i), part(b, i)) { u16::MAX } else { 0 })
                }),
            ),
            Form::new(
                concat!("set.", ordered_or_not!(), ".{and|or|xor}", $ftz, ".{u|s}32.", $ty, "x2"),
                alu!(mode => |m, a: u32, b: u32, c: bool| {
                    pair(|i| if m.combine($compare(m, part(a, i), part(b, i)), c) { u16::MAX } else { 0 })
                }),
            ),
            Form::new(
                concat!("set.", ordered_or_not!(), $ftz, ".", $ty, "x2.", $ty, "x2"),
                alu!(mode => |m, a: u32, b: u32| {
                    pair(|i| if $compare(m, part(a, i), part(b, i)) { $one } else { 0 })
                }),
            ),
            Form::new(
                concat!("set.", ordered_or_not!(), ".{and|or|xor}", $ftz, ".", $ty, "x2.", $ty, "x2"),
                alu!(mode => |m, a: u32, b: u32, c: bool| {
                    pair(|i| if m.combine($compare(m, part(a, i), part(b, i)), c) { $one } else { 0 })
                }),
            ),
        ]
    };
}
static SET_F16: &[Form] = set_half!("{.ftz|}", "f16", halves, 0x3c00);
static SET_BF16: &[Form] = set_half!("", "bf16", brain_halves, 0x3f80);

// Zero passes as normal, on the hardware too.
static TESTP: &[Form] = &[
    Form::new("testp.finite.f32", alu!(|a: f32| a.is_finite())),
    Form::new("testp.infinite.f32", alu!(|a: f32| a.is_infinite())),
    Form::new("testp.number.f32", alu!(|a: f32| !a.is_nan())),
    Form::new("testp.notanumber.f32", alu!(|a: f32| a.is_nan())),
    Form::new("testp.normal.f32", alu!(|a: f32| a.is_normal() | (a == 0.0))),
    Form::new("testp.subnormal.f32", alu!(|a: f32| a.classify() == FpCategory::Subnormal)),
    Form::new("testp.finite.f64", alu!(|a: f64| a.is_finite())),
    Form::new("testp.infinite.f64", alu!(|a: f64| a.is_infinite())),
    Form::new("testp.number.f64", alu!(|a: f64| !a.is_nan())),
    Form::new("testp.notanumber.f64", alu!(|a: f64| a.is_nan())),
    Form::new("testp.normal.f64", alu!(|a: f64| a.is_normal() | (a == 0.0))),
    Form::new("testp.subnormal.f64", alu!(|a: f64| a.classify() == FpCategory::Subnormal)),
];

#[inline(always)]
fn integers<T: Ord>(mode: Mode, a: T, b: T) -> bool {
    mode.comparison().holds(Some(a.cmp(&b)))
}

#[inline(always)]
fn singles(mode: Mode, a: f32, b: f32) -> bool {
    let ftz = mode.ftz();
    mode.comparison().holds(flush_if(ftz, a).partial_cmp(&flush_if(ftz, b)))
}

#[inline(always)]
fn doubles(mode: Mode, a: f64, b: f64) -> bool {
    mode.comparison().holds(a.partial_cmp(&b))
}

#[inline(always)]
fn halves(mode: Mode, a: u16, b: u16) -> bool {
    let value = |bits| widen_flushed(F16, mode.ftz(), bits);
    mode.comparison().holds(value(a).partial_cmp(&value(b)))
}

#[inline(always)]
fn brain_halves(mode: Mode, a: u16, b: u16) -> bool {
    mode.comparison().holds(widen(BF16, a).partial_cmp(&widen(BF16, b)))
}
