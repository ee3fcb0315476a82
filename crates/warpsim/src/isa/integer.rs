//! Integer arithmetic.

use super::Form;
use super::form::Mode;
use crate::alu::alu;

pub(super) static TABLES: &[&[Form]] =
    &[BITS16, BITS32, BITS64, U16, S16, U32, S32, U64, S64, NARROW, CARRY32, CARRY64, SPECIAL32, PACKED, DOT];

/// What does not depend on the sign.
macro_rules! any_sign {
    ($bits:literal, $u:ident) => {
        &[
            Form::new(concat!("add.{u|s}", $bits), alu!(|a: $u, b: $u| a.wrapping_add(b))),
            Form::new(concat!("sub.{u|s}", $bits), alu!(|a: $u, b: $u| a.wrapping_sub(b))),
            Form::new(concat!("mul.lo.{u|s}", $bits), alu!(|a: $u, b: $u| a.wrapping_mul(b))),
            Form::new(
                concat!("mad.lo.{u|s}", $bits),
                alu!(|a: $u, b: $u, c: $u| a.wrapping_mul(b).wrapping_add(c)),
            ),
        ]
    };
}
static BITS16: &[Form] = any_sign!("16", u16);
static BITS32: &[Form] = any_sign!("32", u32);
static BITS64: &[Form] = any_sign!("64", u64);

/// What does. `$wide` holds a full product.
macro_rules! by_sign {
    ($ty:literal, $t:ident, $wide:ident) => {
        &[
            Form::new(concat!("mul.hi.", $ty), alu!(|a: $t, b: $t| high::<$t, $wide>(a, b))),
            Form::new(
                concat!("mad.hi.", $ty),
                alu!(|a: $t, b: $t, c: $t| high::<$t, $wide>(a, b).wrapping_add(c)),
            ),
            Form::new(concat!("div.", $ty), alu!(|a: $t, b: $t| a.divide(b))),
            Form::new(concat!("rem.", $ty), alu!(|a: $t, b: $t| a.remainder(b))),
            Form::new(concat!("min.", $ty), alu!(|a: $t, b: $t| a.min(b))),
            Form::new(concat!("max.", $ty), alu!(|a: $t, b: $t| a.max(b))),
            Form::new(concat!("sad.", $ty), alu!(|a: $t, b: $t, c: $t| c.wrapping_add(a.abs_diff(b) as $t))),
        ]
    };
}
static U16: &[Form] = by_sign!("u16", u16, u32);
static S16: &[Form] = by_sign!("s16", i16, i32);
static U32: &[Form] = by_sign!("u32", u32, u64);
static S32: &[Form] = by_sign!("s32", i32, i64);
static U64: &[Form] = by_sign!("u64", u64, u128);
static S64: &[Form] = by_sign!("s64", i64, i128);

static NARROW: &[Form] = &[
    Form::new("mul.wide.u16", alu!(|a: u16, b: u16| u32::from(a) * u32::from(b))),
    Form::new("mul.wide.s16", alu!(|a: i16, b: i16| i32::from(a) * i32::from(b))),
    Form::new("mul.wide.u32", alu!(|a: u32, b: u32| u64::from(a) * u64::from(b))),
    Form::new("mul.wide.s32", alu!(|a: i32, b: i32| i64::from(a) * i64::from(b))),
    Form::new("mad.wide.u16", alu!(|a: u16, b: u16, c: u32| (u32::from(a) * u32::from(b)).wrapping_add(c))),
    Form::new("mad.wide.s16", alu!(|a: i16, b: i16, c: i32| (i32::from(a) * i32::from(b)).wrapping_add(c))),
    Form::new("mad.wide.u32", alu!(|a: u32, b: u32, c: u64| (u64::from(a) * u64::from(b)).wrapping_add(c))),
    Form::new("mad.wide.s32", alu!(|a: i32, b: i32, c: i64| (i64::from(a) * i64::from(b)).wrapping_add(c))),
    Form::new("abs.s16", alu!(|a: i16| a.wrapping_abs())),
    Form::new("abs.s32", alu!(|a: i32| a.wrapping_abs())),
    Form::new("abs.s64", alu!(|a: i64| a.wrapping_abs())),
    Form::new("neg.s16", alu!(|a: i16| a.wrapping_neg())),
    Form::new("neg.s32", alu!(|a: i32| a.wrapping_neg())),
    Form::new("neg.s64", alu!(|a: i64| a.wrapping_neg())),
];

macro_rules! add_carry {
    ($u:ident, $a:expr, $b:expr, $carry:expr) => {{
        let (sum, first) = $a.overflowing_add($b);
        let (sum, second) = sum.overflowing_add($u::from($carry));
        (sum, first | second)
    }};
}
macro_rules! sub_borrow {
    ($u:ident, $a:expr, $b:expr, $borrow:expr) => {{
        let (difference, first) = $a.overflowing_sub($b);
        let (difference, second) = difference.overflowing_sub($u::from($borrow));
        (difference, first | second)
    }};
}
/// Arithmetic on numbers of several words. The carry is a second destination, a last source, or both.
macro_rules! with_carry {
    ($bits:literal, $u:ident, $s:ident, $uw:ident, $sw:ident) => {
        &[
            Form::new(concat!("add.cc.{u|s}", $bits), alu!(|a: $u, b: $u| a.overflowing_add(b))),
            Form::new(concat!("addc.{u|s}", $bits), alu!(|a: $u, b: $u, f: bool| add_carry!($u, a, b, f).0)),
            Form::new(concat!("addc.cc.{u|s}", $bits), alu!(|a: $u, b: $u, f: bool| add_carry!($u, a, b, f))),
            Form::new(concat!("sub.cc.{u|s}", $bits), alu!(|a: $u, b: $u| a.overflowing_sub(b))),
            Form::new(concat!("subc.{u|s}", $bits), alu!(|a: $u, b: $u, f: bool| sub_borrow!($u, a, b, f).0)),
            Form::new(
                concat!("subc.cc.{u|s}", $bits),
                alu!(|a: $u, b: $u, f: bool| sub_borrow!($u, a, b, f)),
            ),
            Form::new(
                concat!("mad.lo.cc.{u|s}", $bits),
                alu!(|a: $u, b: $u, c: $u| a.wrapping_mul(b).overflowing_add(c)),
            ),
            Form::new(
                concat!("mad.hi.cc.u", $bits),
                alu!(|a: $u, b: $u, c: $u| high::<$u, $uw>(a, b).overflowing_add(c)),
            ),
            Form::new(
                concat!("mad.hi.cc.s", $bits),
                alu!(|a: $s, b: $s, c: $u| (high::<$s, $sw>(a, b) as $u).overflowing_add(c)),
            ),
            Form::new(
                concat!("madc.lo.{u|s}", $bits),
                alu!(|a: $u, b: $u, c: $u, f: bool| add_carry!($u, a.wrapping_mul(b), c, f).0),
            ),
            Form::new(
                concat!("madc.lo.cc.{u|s}", $bits),
                alu!(|a: $u, b: $u, c: $u, f: bool| add_carry!($u, a.wrapping_mul(b), c, f)),
            ),
            Form::new(
                concat!("madc.hi.u", $bits),
                alu!(|a: $u, b: $u, c: $u, f: bool| add_carry!($u, high::<$u, $uw>(a, b), c, f).0),
            ),
            Form::new(
                concat!("madc.hi.cc.u", $bits),
                alu!(|a: $u, b: $u, c: $u, f: bool| add_carry!($u, high::<$u, $uw>(a, b), c, f)),
            ),
            Form::new(
                concat!("madc.hi.s", $bits),
                alu!(|a: $s, b: $s, c: $u, f: bool| add_carry!($u, high::<$s, $sw>(a, b) as $u, c, f).0),
            ),
            Form::new(
                concat!("madc.hi.cc.s", $bits),
                alu!(|a: $s, b: $s, c: $u, f: bool| add_carry!($u, high::<$s, $sw>(a, b) as $u, c, f)),
            ),
        ]
    };
}
static CARRY32: &[Form] = with_carry!("32", u32, i32, u64, i64);
static CARRY64: &[Form] = with_carry!("64", u64, i64, u128, i128);

static SPECIAL32: &[Form] = &[
    Form::new("add.sat.s32", alu!(mode => |_m, a: i32, b: i32| a.saturating_add(b))),
    Form::new("sub.sat.s32", alu!(mode => |_m, a: i32, b: i32| a.saturating_sub(b))),
    Form::new(
        "mad.hi.sat.s32",
        alu!(mode => |_m, a: i32, b: i32, c: i32| high::<i32, i64>(a, b).saturating_add(c)),
    ),
    Form::new("min.relu.s32", alu!(mode => |_m, a: i32, b: i32| a.min(b).max(0))),
    Form::new("max.relu.s32", alu!(mode => |_m, a: i32, b: i32| a.max(b).max(0))),
    Form::new("mul24.lo.u32", alu!(mode => |_m, a: u32, b: u32| product24_u32(a, b) as u32)),
    Form::new("mul24.lo.s32", alu!(mode => |_m, a: i32, b: i32| product24_s32(a, b) as i32)),
    Form::new("mul24.hi.u32", alu!(mode => |_m, a: u32, b: u32| (product24_u32(a, b) >> 16) as u32)),
    Form::new("mul24.hi.s32", alu!(mode => |_m, a: i32, b: i32| (product24_s32(a, b) >> 16) as i32)),
    Form::new(
        "mad24.lo.u32",
        alu!(mode => |_m, a: u32, b: u32, c: u32| (product24_u32(a, b) as u32).wrapping_add(c)),
    ),
    Form::new(
        "mad24.lo.s32",
        alu!(mode => |_m, a: i32, b: i32, c: i32| (product24_s32(a, b) as i32).wrapping_add(c)),
    ),
    Form::new(
        "mad24.hi.u32",
        alu!(mode => |_m, a: u32, b: u32, c: u32| ((product24_u32(a, b) >> 16) as u32).wrapping_add(c)),
    ),
    Form::new(
        "mad24.hi.s32",
        alu!(mode => |_m, a: i32, b: i32, c: i32| ((product24_s32(a, b) >> 16) as i32).wrapping_add(c)),
    ),
    Form::new(
        "mad24.hi.sat.s32",
        alu!(mode => |_m, a: i32, b: i32, c: i32| ((product24_s32(a, b) >> 16) as i32).saturating_add(c)),
    ),
];

static PACKED: &[Form] = &[
    Form::new("add.{u|s}16x2", alu!(|a: u32, b: u32| halves(a, b, |a, b| a.wrapping_add(b)))),
    Form::new("min.u16x2", alu!(|a: u32, b: u32| halves(a, b, |a, b| a.min(b)))),
    Form::new("max.u16x2", alu!(|a: u32, b: u32| halves(a, b, |a, b| a.max(b)))),
    Form::new(
        "min{.relu|}.s16x2",
        alu!(mode => |m, a: u32, b: u32| halves(a, b, |a, b| relu(m, (a as i16).min(b as i16)))),
    ),
    Form::new(
        "max{.relu|}.s16x2",
        alu!(mode => |m, a: u32, b: u32| halves(a, b, |a, b| relu(m, (a as i16).max(b as i16)))),
    ),
];

static DOT: &[Form] = &[
    Form::new("dp4a.u32.u32", alu!(|a: u32, b: u32, c: u32| c.wrapping_add(dot4(unsigned, unsigned, a, b)))),
    Form::new("dp4a.u32.s32", alu!(|a: u32, b: u32, c: u32| c.wrapping_add(dot4(unsigned, signed, a, b)))),
    Form::new("dp4a.s32.u32", alu!(|a: u32, b: u32, c: u32| c.wrapping_add(dot4(signed, unsigned, a, b)))),
    Form::new("dp4a.s32.s32", alu!(|a: u32, b: u32, c: u32| c.wrapping_add(dot4(signed, signed, a, b)))),
    Form::new("dp2a.lo.u32.u32", alu!(|a: u32, b: u32, c: u32| c.wrapping_add(dot2(false, unsigned, a, b)))),
    Form::new("dp2a.lo.u32.s32", alu!(|a: u32, b: u32, c: u32| c.wrapping_add(dot2(false, signed, a, b)))),
    Form::new("dp2a.lo.s32.u32", alu!(|a: u32, b: u32, c: u32| c.wrapping_add(dot2(true, unsigned, a, b)))),
    Form::new("dp2a.lo.s32.s32", alu!(|a: u32, b: u32, c: u32| c.wrapping_add(dot2(true, signed, a, b)))),
    Form::new(
        "dp2a.hi.u32.u32",
        alu!(|a: u32, b: u32, c: u32| c.wrapping_add(dot2(false, unsigned, a, b >> 16))),
    ),
    Form::new(
        "dp2a.hi.u32.s32",
        alu!(|a: u32, b: u32, c: u32| c.wrapping_add(dot2(false, signed, a, b >> 16))),
    ),
    Form::new(
        "dp2a.hi.s32.u32",
        alu!(|a: u32, b: u32, c: u32| c.wrapping_add(dot2(true, unsigned, a, b >> 16))),
    ),
    Form::new(
        "dp2a.hi.s32.s32",
        alu!(|a: u32, b: u32, c: u32| c.wrapping_add(dot2(true, signed, a, b >> 16))),
    ),
];

/// Integers as the instructions see them.
trait Integer<Wide>: Copy {
    /// The upper half of the product.
    fn high(self, other: Self) -> Self;
}

#[inline(always)]
fn high<T: Integer<Wide>, Wide>(a: T, b: T) -> T {
    a.high(b)
}

/// Division as the hardware does it: nothing traps.
trait Divide {
    /// The quotient, towards zero; by zero: all ones.
    fn divide(self, divisor: Self) -> Self;
    /// What is left, with the dividend's sign; by zero: all ones.
    fn remainder(self, divisor: Self) -> Self;
}

macro_rules! integer {
    ($($t:ident $wide:ident)*) => { $(
        impl Integer<$wide> for $t {
            #[inline(always)]
            fn high(self, other: $t) -> $t {
                ((self as $wide * other as $wide) >> $t::BITS) as $t
            }
        }

        impl Divide for $t {
            #[inline(always)]
            fn divide(self, divisor: $t) -> $t {
                if divisor == 0 { !0 } else { self.wrapping_div(divisor) }
            }

            #[inline(always)]
            fn remainder(self, divisor: $t) -> $t {
                if divisor == 0 { !0 } else { self.wrapping_rem(divisor) }
            }
        }
    )* };
}
integer!(u16 u32 i16 i32 u32 u64 i32 i64 u64 u128 i64 i128);

/// The 48-bit product of the low 24 bits.
#[inline(always)]
fn product24_u32(a: u32, b: u32) -> u64 {
    u64::from(a << 8 >> 8) * u64::from(b << 8 >> 8)
}

#[inline(always)]
fn product24_s32(a: i32, b: i32) -> i64 {
    i64::from(a << 8 >> 8) * i64::from(b << 8 >> 8)
}

#[inline(always)]
fn halves(a: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    u32::from(f(a as u16, b as u16)) | u32::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16
}

#[inline(always)]
fn relu(mode: Mode, value: i16) -> u16 {
    if mode.relu() { value.max(0) as u16 } else { value as u16 }
}

#[inline(always)]
fn unsigned(byte: u32) -> i32 {
    (byte & 0xff) as i32
}

#[inline(always)]
fn signed(byte: u32) -> i32 {
    i32::from(byte as i8)
}

/// The sum of the products of four bytes.
#[inline(always)]
fn dot4(left: impl Fn(u32) -> i32, right: impl Fn(u32) -> i32, a: u32, b: u32) -> u32 {
    (0..4).map(|i| left(a >> (8 * i)) * right(b >> (8 * i))).sum::<i32>() as u32
}

/// The sum of the products of two halves of `a` and the low two bytes of `b`.
#[inline(always)]
fn dot2(a_signed: bool, right: impl Fn(u32) -> i32, a: u32, b: u32) -> u32 {
    let half = |value: u32| if a_signed { i32::from(value as i16) } else { i32::from(value as u16) };
    half(a).wrapping_mul(right(b)).wrapping_add(half(a >> 16).wrapping_mul(right(b >> 8))) as u32
}
