//! Comparisons and selections.

use super::*;

const NAN: u64 = 0x7fc0_0000;
const ONE: u64 = 0x3f80_0000;

#[test]
fn unordered_comparisons_hold_for_nan() {
    for (comparison, holds) in [
        ("eq", 0),
        ("ne", 0),
        ("lt", 0),
        ("le", 0),
        ("gt", 0),
        ("ge", 0),
        ("num", 0),
        ("equ", 1),
        ("neu", 1),
        ("ltu", 1),
        ("leu", 1),
        ("gtu", 1),
        ("geu", 1),
        ("nan", 1),
    ] {
        check(&format!("setp.{comparison}.f32"), &[NAN, ONE], &[holds]);
        check(&format!("set.{comparison}.u32.f32"), &[NAN, ONE], &[if holds == 1 { 0xffff_ffff } else { 0 }]);
        check(&format!("setp.{comparison}.f16"), &[0x7e00, 0x3c00], &[holds]);
        check(&format!("setp.{comparison}.f64"), &[0, 0x7ff8_0000_0000_0000], &[holds]);
    }
}

/// The frequent forms against the general one.
#[test]
fn fast_comparisons_agree_with_the_table() {
    let mut inputs = Inputs(19);
    for ty in ["u16", "s16", "u32", "s32", "u64", "s64", "f32", "ftz.f32", "f64"] {
        for comparison in ["eq", "ne", "lt", "le", "gt", "ge"] {
            let name = format!("setp.{comparison}.{ty}");
            let kind = instruction(&name).signature.src[0].unwrap();
            for _ in 0..200 {
                let sources = [inputs.value(kind), inputs.value(kind)];
                let both = run(&format!("{name}.|q"), &sources);
                assert_eq!(run(&name, &sources)[0], both[0], "{name} of {sources:x?}");
                assert_eq!(both[0] + both[1], 1);
            }
        }
    }
}

#[test]
fn results_combine_with_a_predicate() {
    check("setp.lt.and.s32.|q", &[1, 2, 1], &[1, 0]);
    check("setp.lt.and.s32.|q", &[2, 1, 1], &[0, 1]);
    check("setp.lt.and.s32.|q", &[2, 1, 0], &[0, 0]);
    check("setp.lt.or.s32", &[2, 1, 1], &[1]);
    check("setp.lt.xor.u64", &[1, 2, 1], &[0]);
    check("setp.lt.and.s32.!c", &[1, 2, 0], &[1]);
    check("setp.lt.and.s32.!c", &[1, 2, 1], &[0]);
    check("set.eq.or.f32.u32", &[1, 2, 1], &[ONE]);
    check("setp.gt.f16x2.|q", &[0x3c00_4000, 0x4000_3c00], &[1, 0]);
    check("set.gt.u32.f16x2", &[0x3c00_4000, 0x4000_3c00], &[0xffff]);
    check("set.gt.f16x2.f16x2", &[0x3c00_4000, 0x4000_3c00], &[0x3c00]);
}

#[test]
fn ftz_compares_subnormals_as_zero() {
    check("setp.gt.f32", &[1, 0], &[1]);
    check("setp.gt.ftz.f32", &[1, 0], &[0]);
    check("setp.eq.ftz.f16", &[0x0001, 0x8001], &[1]);
    check("setp.lt.u32", &[0xffff_ffff, 1], &[0]);
    check("setp.lt.s32", &[0xffff_ffff, 1], &[1]);
    check("setp.lo.u32", &[1, 2], &[1]);
}

#[test]
fn tests_of_the_kind_of_number() {
    check("testp.subnormal.f32", &[1], &[1]);
    check("testp.finite.f32", &[NAN], &[0]);
    check("testp.notanumber.f64", &[0x7ff0_0000_0000_0001], &[1]);
    check("copysign.f32", &[0x8000_0000, ONE], &[0xbf80_0000]);
    check("selp.f64", &[5, 6, 0], &[6]);
}
