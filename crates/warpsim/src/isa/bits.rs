//! Logic, shifts, bit fields, permutations and moves.

use super::Form;
use super::form::Mode;
use crate::alu::alu;

pub(super) static TABLES: &[&[Form]] =
    &[PREDICATE, LOGIC16, LOGIC32, LOGIC64, SHIFT, COUNT, FIELD, PERMUTE, SELECT];

static PREDICATE: &[Form] = &[
    Form::new("mov.pred", alu!(whole => |a| a)),
    Form::new("and.pred", alu!(whole => |a, b| a & b)),
    Form::new("or.pred", alu!(whole => |a, b| a | b)),
    Form::new("xor.pred", alu!(whole => |a, b| a ^ b)),
    Form::new("not.pred", alu!(whole => |a| !a)),
];

macro_rules! logic {
    ($bits:literal, $u:ident) => {
        &[
            Form::new(concat!("mov.{b|u|s}", $bits), alu!(|a: $u| a)),
            Form::new(concat!("and.b", $bits), alu!(|a: $u, b: $u| a & b)),
            Form::new(concat!("or.b", $bits), alu!(|a: $u, b: $u| a | b)),
            Form::new(concat!("xor.b", $bits), alu!(|a: $u, b: $u| a ^ b)),
            Form::new(concat!("not.b", $bits), alu!(|a: $u| !a)),
            Form::new(concat!("cnot.b", $bits), alu!(|a: $u| $u::from(a == 0))),
            Form::new(concat!("selp.{b|u|s}", $bits), alu!(|a: $u, b: $u, p: bool| if p { a } else { b })),
            Form::new(
                concat!("slct.{b|u|s}", $bits, ".s32"),
                alu!(|a: $u, b: $u, c: i32| if c >= 0 { a } else { b }),
            ),
            Form::new(
                concat!("slct.ftz.{b|u|s}", $bits, ".f32"),
                alu!(|a: $u, b: $u, c: f32| if at_least_zero(true, c) { a } else { b }),
            ),
            Form::new(
                concat!("slct.{b|u|s}", $bits, ".f32"),
                alu!(|a: $u, b: $u, c: f32| if at_least_zero(false, c) { a } else { b }),
            ),
        ]
    };
}
static LOGIC16: &[Form] = logic!("16", u16);
static LOGIC32: &[Form] = logic!("32", u32);
static LOGIC64: &[Form] = logic!("64", u64);

/// The same for floating-point registers.
static SELECT: &[Form] = &[
    Form::new("mov.f32", alu!(|a: f32| a)),
    Form::new("mov.f64", alu!(|a: f64| a)),
    Form::new("selp.f32", alu!(|a: f32, b: f32, p: bool| if p { a } else { b })),
    Form::new("selp.f64", alu!(|a: f64, b: f64, p: bool| if p { a } else { b })),
    Form::new("slct.f32.s32", alu!(|a: f32, b: f32, c: i32| if c >= 0 { a } else { b })),
    Form::new("slct.f64.s32", alu!(|a: f64, b: f64, c: i32| if c >= 0 { a } else { b })),
    Form::new("slct.ftz.f32.f32", alu!(|a: f32, b: f32, c: f32| if at_least_zero(true, c) { a } else { b })),
    Form::new("slct.ftz.f64.f32", alu!(|a: f64, b: f64, c: f32| if at_least_zero(true, c) { a } else { b })),
    Form::new("slct.f32.f32", alu!(|a: f32, b: f32, c: f32| if at_least_zero(false, c) { a } else { b })),
    Form::new("slct.f64.f32", alu!(|a: f64, b: f64, c: f32| if at_least_zero(false, c) { a } else { b })),
];

/// With `.ftz` a negative subnormal is -0, which selects `a`. NaN never does.
#[inline(always)]
fn at_least_zero(ftz: bool, c: f32) -> bool {
    if ftz { c > -f32::MIN_POSITIVE } else { c >= 0.0 }
}

// Amounts are unsigned; at the width and beyond, everything is shifted out.
static SHIFT: &[Form] = &[
    Form::new("shl.b16", alu!(|a: u16, n: u32| if n < 16 { a << n } else { 0 })),
    Form::new("shl.b32", alu!(|a: u32, n: u32| if n < 32 { a << n } else { 0 })),
    Form::new("shl.b64", alu!(|a: u64, n: u32| if n < 64 { a << n } else { 0 })),
    Form::new("shr.{u|b}16", alu!(|a: u16, n: u32| if n < 16 { a >> n } else { 0 })),
    Form::new("shr.{u|b}32", alu!(|a: u32, n: u32| if n < 32 { a >> n } else { 0 })),
    Form::new("shr.{u|b}64", alu!(|a: u64, n: u32| if n < 64 { a >> n } else { 0 })),
    Form::new("shr.s16", alu!(|a: i16, n: u32| a >> n.min(15))),
    Form::new("shr.s32", alu!(|a: i32, n: u32| a >> n.min(31))),
    Form::new("shr.s64", alu!(|a: i64, n: u32| a >> n.min(63))),
    Form::new("shf.l.wrap.b32", alu!(|a: u32, b: u32, n: u32| funnel_left(a, b, n & 31))),
    Form::new("shf.l.clamp.b32", alu!(|a: u32, b: u32, n: u32| funnel_left(a, b, n.min(32)))),
    Form::new("shf.r.wrap.b32", alu!(|a: u32, b: u32, n: u32| funnel_right(a, b, n & 31))),
    Form::new("shf.r.clamp.b32", alu!(|a: u32, b: u32, n: u32| funnel_right(a, b, n.min(32)))),
];

static COUNT: &[Form] = &[
    Form::new("popc.b32", alu!(|a: u32| a.count_ones())),
    Form::new("popc.b64", alu!(|a: u64| a.count_ones())),
    Form::new("clz.b32", alu!(|a: u32| a.leading_zeros())),
    Form::new("clz.b64", alu!(|a: u64| a.leading_zeros())),
    Form::new("brev.b32", alu!(|a: u32| a.reverse_bits())),
    Form::new("brev.b64", alu!(|a: u64| a.reverse_bits())),
    Form::new("bfind.u32", alu!(mode => |_m, a: u32| highest(31, a.leading_zeros()))),
    Form::new("bfind.u64", alu!(mode => |_m, a: u64| highest(63, a.leading_zeros()))),
    Form::new("bfind.s32", alu!(mode => |_m, a: i32| highest(31, (a ^ (a >> 31)).leading_zeros()))),
    Form::new("bfind.s64", alu!(mode => |_m, a: i64| highest(63, (a ^ (a >> 63)).leading_zeros()))),
    Form::new("bfind.shiftamt.u32", alu!(mode => |_m, a: u32| shift_to_highest(31, a.leading_zeros()))),
    Form::new("bfind.shiftamt.u64", alu!(mode => |_m, a: u64| shift_to_highest(63, a.leading_zeros()))),
    Form::new(
        "bfind.shiftamt.s32",
        alu!(mode => |_m, a: i32| shift_to_highest(31, (a ^ (a >> 31)).leading_zeros())),
    ),
    Form::new(
        "bfind.shiftamt.s64",
        alu!(mode => |_m, a: i64| shift_to_highest(63, (a ^ (a >> 63)).leading_zeros())),
    ),
    Form::new(
        "fns.b32",
        alu!(mode => |_m, mask: u32, base: u32, offset: i32| find_nth_set(mask, base, offset)),
    ),
];

static FIELD: &[Form] = &[
    Form::new(
        "bfe.u32",
        alu!(|a: u32, pos: u32, len: u32| extract_u64(32, u64::from(a), byte(pos), byte(len)) as u32),
    ),
    Form::new("bfe.u64", alu!(|a: u64, pos: u32, len: u32| extract_u64(64, a, pos, len.min(64)))),
    Form::new(
        "bfe.s32",
        alu!(|a: i32, pos: u32, len: u32| extract_s64(i64::from(a), 31, byte(pos), byte(len)) as i32),
    ),
    Form::new("bfe.s64", alu!(|a: i64, pos: u32, len: u32| extract_s64(a, 63, pos.min(64), len.min(64)))),
    Form::new(
        "bfi.b32",
        alu!(|a: u32, b: u32, pos: u32, len: u32| insert(u64::from(a), u64::from(b), byte(pos), byte(len))
            as u32),
    ),
    Form::new("bfi.b64", alu!(|a: u64, b: u64, pos: u32, len: u32| insert(a, b, pos, len))),
    Form::new("szext.{clamp|wrap}.u32", alu!(mode => |m, a: u32, n: u32| a & low_bits(m, n))),
    Form::new("szext.{clamp|wrap}.s32", alu!(mode => |m, a: u32, n: u32| sign_extend(m, a, n))),
    Form::new("bmsk.{clamp|wrap}.b32", alu!(mode => |m, pos: u32, len: u32| bit_mask(m, pos, len))),
];

static PERMUTE: &[Form] = &[
    Form::new("prmt.b32", alu!(|a: u32, b: u32, c: u32| permute(a, b, c))),
    Form::new(
        "prmt.b32.f4e",
        alu!(mode => |_m, a: u32, b: u32, c: u32| permute(a, b, [0x3210, 0x4321, 0x5432, 0x6543][c as usize & 3])),
    ),
    Form::new(
        "prmt.b32.b4e",
        alu!(mode => |_m, a: u32, b: u32, c: u32| permute(a, b, [0x5670, 0x6701, 0x7012, 0x0123][c as usize & 3])),
    ),
    Form::new(
        "prmt.b32.rc8",
        alu!(mode => |_m, a: u32, b: u32, c: u32| permute(a, b, [0x0000, 0x1111, 0x2222, 0x3333][c as usize & 3])),
    ),
    Form::new(
        "prmt.b32.ecl",
        alu!(mode => |_m, a: u32, b: u32, c: u32| permute(a, b, [0x3210, 0x3211, 0x3222, 0x3333][c as usize & 3])),
    ),
    Form::new(
        "prmt.b32.ecr",
        alu!(mode => |_m, a: u32, b: u32, c: u32| permute(a, b, [0x0000, 0x1110, 0x2210, 0x3210][c as usize & 3])),
    ),
    Form::new(
        "prmt.b32.rc16",
        alu!(mode => |_m, a: u32, b: u32, c: u32| permute(a, b, [0x1010, 0x3232, 0x1010, 0x3232][c as usize & 3])),
    ),
    Form::new("lop3.b32", alu!(imm => |table, a: u32, b: u32, c: u32| lookup(table, a, b, c))),
    Form::new(
        "lop3.or.b32",
        alu!(imm => |table, a: u32, b: u32, c: u32, q: bool| {
            let d = lookup(table, a, b, c);
            (d, (d != 0) | q)
        }),
    ),
    Form::new(
        "lop3.and.b32",
        alu!(imm => |table, a: u32, b: u32, c: u32, q: bool| {
            let d = lookup(table, a, b, c);
            (d, (d != 0) & q)
        }),
    ),
];

/// The upper word of `b:a` shifted left by at most 32.
#[inline(always)]
fn funnel_left(a: u32, b: u32, n: u32) -> u32 {
    ((u64::from(b) << 32 | u64::from(a)) << n >> 32) as u32
}

/// The lower word of `b:a` shifted right by at most 32.
#[inline(always)]
fn funnel_right(a: u32, b: u32, n: u32) -> u32 {
    ((u64::from(b) << 32 | u64::from(a)) >> n) as u32
}

/// The position of the highest set bit, or all ones.
#[inline(always)]
fn highest(msb: u32, leading_zeros: u32) -> u32 {
    if leading_zeros > msb { u32::MAX } else { msb - leading_zeros }
}

/// By how much to shift left to bring the highest set bit to the top, or all ones.
#[inline(always)]
fn shift_to_highest(msb: u32, leading_zeros: u32) -> u32 {
    if leading_zeros > msb { u32::MAX } else { leading_zeros }
}

/// The position of the `offset`-th set bit from `base` on, upwards or (negative) downwards; 0: `base` itself.
fn find_nth_set(mask: u32, base: u32, offset: i32) -> u32 {
    let is_set = |position: i64| (0..32).contains(&position) && mask >> position & 1 != 0;
    let mut position = i64::from(base);
    if offset == 0 {
        return if is_set(position) { base } else { u32::MAX };
    }
    let mut left = offset.unsigned_abs();
    while (0..32).contains(&position) {
        if is_set(position) {
            left -= 1;
            if left == 0 {
                return position as u32;
            }
        }
        position += i64::from(offset.signum());
    }
    u32::MAX
}

/// Of positions and lengths the manual wants the low byte only. The hardware does so in 32 bits; in 64 it takes the
/// whole number, and so does this.
#[inline(always)]
fn byte(x: u32) -> u32 {
    x & 0xff
}

/// Bits `pos..pos + len`; what lies beyond the width is 0.
#[inline(always)]
fn extract_u64(width: u32, a: u64, pos: u32, len: u32) -> u64 {
    let field = if pos < width { a >> pos } else { 0 };
    if len < 64 { field & ((1 << len) - 1) } else { field }
}

/// The same, filled up with the field's highest bit, or the value's where the field reaches beyond it.
#[inline(always)]
fn extract_s64(a: i64, msb: u32, pos: u32, len: u32) -> i64 {
    if len == 0 {
        return 0;
    }
    let field = a >> pos.min(63);
    if pos + len > msb { if pos > msb { a >> 63 } else { field } } else { field << (64 - len) >> (64 - len) }
}

/// `b` with bits `pos..pos + len` replaced by the low ones of `a`.
#[inline(always)]
fn insert(a: u64, b: u64, pos: u32, len: u32) -> u64 {
    if pos > 63 {
        return b;
    }
    let field = if len < 64 { (1 << len) - 1 } else { u64::MAX } << pos;
    (b & !field) | (a << pos & field)
}

/// A mask of the low `n` bits; 32 and more: all of them with `.clamp`, `n` modulo 32 with `.wrap`.
#[inline(always)]
fn low_bits(mode: Mode, n: u32) -> u32 {
    if mode.clamp() && n >= 32 { u32::MAX } else { (1 << (n & 31)) - 1 }
}

#[inline(always)]
fn sign_extend(mode: Mode, a: u32, n: u32) -> u32 {
    let mask = low_bits(mode, n);
    let negative = mask != u32::MAX && mask != 0 && a & (mask ^ mask >> 1) != 0;
    a & mask | if negative { !mask } else { 0 }
}

/// `len` ones from bit `pos` on.
#[inline(always)]
fn bit_mask(mode: Mode, pos: u32, len: u32) -> u32 {
    let clamp = mode.clamp();
    let from = if clamp && pos >= 32 { 0 } else { u32::MAX << (pos & 31) };
    let end = (pos & 31) + (len & 31);
    let beyond = if end >= 32 || (clamp && (pos >= 32 || len >= 32)) { 0 } else { u32::MAX << end };
    from & !beyond
}

/// Each nibble of `selector` picks a byte of `b:a`; its top bit spreads that byte's sign instead.
#[inline(always)]
fn permute(a: u32, b: u32, selector: u32) -> u32 {
    let bytes = u64::from(b) << 32 | u64::from(a);
    let mut d = 0;
    for i in 0..4 {
        let nibble = selector >> (4 * i);
        let byte = (bytes >> (8 * (nibble & 7))) as u8;
        let byte = if nibble & 8 != 0 { ((byte as i8) >> 7) as u8 } else { byte };
        d |= u32::from(byte) << (8 * i);
    }
    d
}

/// The truth table `table` applied to each bit position.
#[inline(always)]
fn lookup(table: u32, a: u32, b: u32, c: u32) -> u32 {
    let mut d = 0;
    for row in 0..8 {
        let pick = |value: u32, bit: u32| if row >> bit & 1 != 0 { value } else { !value };
        let chosen = if table >> row & 1 != 0 { u32::MAX } else { 0 };
        d |= chosen & pick(a, 2) & pick(b, 1) & pick(c, 0);
    }
    d
}
