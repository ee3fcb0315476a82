//! The table itself.

use super::*;
use crate::isa::form::{Mode, key};
use crate::isa::{NEGATED_C, find, forms};

#[test]
fn modifiers_come_in_any_order_but_types_keep_theirs() {
    let fma = find("fma", &["rn", "ftz", "f32"]).unwrap();
    assert_eq!(find("fma", &["f32", "ftz", "rn"]).unwrap().signature, fma.signature);
    let to_float = find("cvt", &["rn", "f32", "s32"]).unwrap();
    assert_eq!(to_float.signature.dst[0], Some(Kind::F32));
    let to_integer = find("cvt", &["rzi", "s32", "f32"]).unwrap();
    assert_eq!(to_integer.signature.src[0], Some(Kind::F32));
}

#[test]
fn unknown_instructions_are_none() {
    assert!(find("fma", &["f32"]).is_none());
    assert!(find("add", &["rq", "f32"]).is_none());
    assert!(find("nonsense", &[]).is_none());
    assert!(find("setp", &["lo", "s32"]).is_none());
    assert!(find("setp", &["s32", NEGATED_C]).is_none());
}

#[test]
fn every_name_is_found_with_its_own_mode() {
    for form in forms() {
        for name in form.names() {
            let alu = instruction(&name);
            let modifiers: Vec<&str> = name.split('.').skip(1).collect();
            assert_eq!(alu.imm, Mode::of(&modifiers).0, "{name}");
            assert_eq!(alu.signature, form.alu.signature, "{name} stands in two forms that differ");
        }
    }
}

#[test]
fn each_form_adds_an_instruction() {
    let mut seen = std::collections::HashSet::new();
    for form in forms() {
        let mut new = false;
        for name in form.names() {
            let parts: Vec<&str> = name.split('.').collect();
            new |= seen.insert((parts[0].to_owned(), key(&parts[1..])));
        }
        assert!(new, "{} is hidden by earlier forms", form.pattern);
    }
}

/// The portable and the vectorised variant of every instruction give the same bits.
#[test]
fn variants_agree() {
    for form in forms() {
        for name in form.names() {
            let alu = instruction(&name);
            let sources = Inputs::for_name(&name).lanes(&alu);
            let results: Vec<_> = variants(&alu)
                .into_iter()
                .map(|variant| run_variant(&alu, variant, alu.imm, &sources))
                .collect();
            for other in &results[1..] {
                for (lane, values) in other.iter().enumerate() {
                    assert_eq!(&results[0][lane], values, "`{name}` of {:x?}", sources[lane]);
                }
            }
        }
    }
}

/// What NVRTC writes for ordinary kernels.
#[test]
fn ordinary_instructions_are_there() {
    let ordinary = "add.s64 add.s32 fma.rn.f32 cvt.s64.s32 mov.u32 shl.b64 mov.f32 setp.ge.s32 mul.wide.s32 mov.u64 \
        or.pred shr.s32 shr.u32 and.b32 mad.lo.s32 add.f32 sub.s32 mul.lo.s64 mov.b32 cvt.u32.u64 not.pred and.pred \
        selp.b32 mul.f32 setp.eq.s32 mul.wide.u32 cvt.u64.u32 max.s32 not.b32 xor.b64 fma.rn.ftz.f32 div.rn.f32 \
        sqrt.rn.f32 rsqrt.approx.ftz.f32 ex2.approx.ftz.f32 lg2.approx.ftz.f32 sin.approx.ftz.f32 min.s32 rem.u32 \
        cvt.rn.f32.s32 cvt.rzi.s32.f32 lop3.b32 prmt.b32 shf.l.wrap.b32 bfe.u32 popc.b32 clz.b32 cvt.rn.f16.f32 \
        fma.rn.f16x2 cvt.rn.f16x2.f32 dp4a.s32.s32 selp.f32 set.gt.u32.f16x2 copysign.f64 testp.infinite.f64 mov.b64";
    for name in ordinary.split_whitespace() {
        instruction(name);
    }
}
