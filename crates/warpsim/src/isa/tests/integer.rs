//! Integer arithmetic and bit operations.

use super::*;

const MIN32: u64 = 0x8000_0000;

#[test]
fn division_by_zero_does_not_trap() {
    check("div.u32", &[7, 0], &[0xffff_ffff]);
    check("rem.u32", &[7, 0], &[0xffff_ffff]);
    check("div.s32", &[MIN32, 0xffff_ffff], &[MIN32]);
    check("rem.s32", &[MIN32, 0xffff_ffff], &[0]);
    check("div.s32", &[0xffff_fff9, 2], &[0xffff_fffd]);
    check("rem.s32", &[0xffff_fff9, 2], &[0xffff_ffff]);
}

#[test]
fn products() {
    check("mul.hi.s32", &[0xffff_ffff, 2], &[0xffff_ffff]);
    check("mul.hi.u32", &[0xffff_ffff, 2], &[1]);
    check("mul.wide.s32", &[0xffff_ffff, 2], &[u64::MAX - 1]);
    check("mul.wide.u16", &[0xffff, 0xffff], &[0xfffe_0001]);
    check("mul.hi.u64", &[u64::MAX, u64::MAX], &[u64::MAX - 1]);
    check("mul.hi.s64", &[u64::MAX, u64::MAX], &[0]);
    check("mad.hi.sat.s32", &[0x7fff_ffff, 0x7fff_ffff, 0x7fff_ffff], &[0x7fff_ffff]);
    check("mul24.lo.s32", &[0xff80_0000, 2], &[0xff00_0000]);
    check("mul24.hi.s32", &[0x0080_0000, 2], &[0xffff_ff00]);
    check("mul24.hi.u32", &[0x00ff_ffff, 0x00ff_ffff], &[0xffff_fe00]);
}

#[test]
fn carries_chain_through_words() {
    // 2^64 - 1 + 1 in 32-bit words.
    let low = run("add.cc.u32", &[0xffff_ffff, 1]);
    assert_eq!(low, [0, 1]);
    assert_eq!(run("addc.cc.u32", &[0xffff_ffff, 0, low[1]]), [0, 1]);
    assert_eq!(run("sub.cc.u32", &[0, 1]), [0xffff_ffff, 1]);
    assert_eq!(run("subc.u32", &[5, 2, 1]), [2]);
    assert_eq!(run("subc.cc.u32", &[0, 0xffff_ffff, 1]), [0, 1]);
    // A 64 x 64 product by words, as a compiler writes it.
    let (a, b) = (0x1234_5678_9abc_def0_u64, 0xfedc_ba98_7654_3210_u64);
    let [a0, a1, b0, b1] = [a & 0xffff_ffff, a >> 32, b & 0xffff_ffff, b >> 32];
    let r0 = run("mul.lo.u32", &[a0, b0])[0];
    let r1 = run("mul.hi.u32", &[a0, b0])[0];
    let step = run("mad.lo.cc.u32", &[a1, b0, r1]);
    let r2 = run("madc.hi.u32", &[a1, b0, 0, step[1]])[0];
    let step1 = run("mad.lo.cc.u32", &[a0, b1, step[0]]);
    let step2 = run("madc.hi.cc.u32", &[a0, b1, r2, step1[1]]);
    let r3 = step2[1];
    let step3 = run("mad.lo.cc.u32", &[a1, b1, step2[0]]);
    let r3 = run("madc.hi.u32", &[a1, b1, r3, step3[1]])[0];
    let product = u128::from(a) * u128::from(b);
    let words = [r0, step1[0], step3[0], r3];
    assert_eq!(words.iter().rev().fold(0, |sum, &word| sum << 32 | u128::from(word)), product);
}

#[test]
fn shifts_clamp_their_amount() {
    check("shl.b32", &[1, 31], &[MIN32]);
    check("shl.b32", &[1, 32], &[0]);
    check("shl.b64", &[1, 0xffff_ffff], &[0]);
    check("shr.s32", &[MIN32, 40], &[0xffff_ffff]);
    check("shr.u32", &[MIN32, 40], &[0]);
    check("shr.s16", &[0x8000, 200], &[0xffff]);
    check("shf.l.wrap.b32", &[0x89ab_cdef, 0x0123_4567, 36], &[0x1234_5678]);
    check("shf.l.clamp.b32", &[0x89ab_cdef, 0x0123_4567, 36], &[0x89ab_cdef]);
    check("shf.r.wrap.b32", &[0x89ab_cdef, 0x0123_4567, 4], &[0x789a_bcde]);
    check("shf.r.clamp.b32", &[0x89ab_cdef, 0x0123_4567, 99], &[0x0123_4567]);
}

/// The manual's own loop for `bfe`.
fn bfe(bits: u32, signed: bool, a: u64, pos: u64, len: u64) -> u64 {
    let (msb, pos, len) = (u64::from(bits) - 1, pos & 0xff, len & 0xff);
    let bit = |i: u64| a >> i & 1;
    let sign = if !signed || len == 0 { 0 } else { bit((pos + len - 1).min(msb)) };
    (0..=msb).map(|i| (if i < len && pos + i <= msb { bit(pos + i) } else { sign }) << i).sum()
}

/// And for `bfi`.
fn bfi(bits: u32, a: u64, b: u64, pos: u64, len: u64) -> u64 {
    let (msb, pos, len) = (u64::from(bits) - 1, pos & 0xff, len & 0xff);
    let mut f = b;
    let mut i = 0;
    while i < len && pos + i <= msb {
        f = f & !(1 << (pos + i)) | (a >> i & 1) << (pos + i);
        i += 1;
    }
    f
}

#[test]
fn bit_fields_match_the_manual() {
    let a = 0x9234_5678_9abc_def1_u64;
    for pos in (0..70).chain([255]) {
        for len in (0..70).chain([255]) {
            check("bfe.u32", &[a & 0xffff_ffff, pos, len], &[bfe(32, false, a & 0xffff_ffff, pos, len)]);
            check("bfe.s32", &[a & 0xffff_ffff, pos, len], &[bfe(32, true, a & 0xffff_ffff, pos, len)]);
            check("bfe.u64", &[a, pos, len], &[bfe(64, false, a, pos, len)]);
            check("bfe.s64", &[a, pos, len], &[bfe(64, true, a, pos, len)]);
            let b = 0x5555_0000_ffff_1234;
            let low = |x: u64| x & 0xffff_ffff;
            check("bfi.b32", &[low(a), low(b), pos, len], &[low(bfi(32, low(a), low(b), pos, len))]);
            check("bfi.b64", &[a, b, pos, len], &[bfi(64, a, b, pos, len)]);
        }
    }
}

#[test]
fn finding_bits() {
    check("bfind.u32", &[0], &[0xffff_ffff]);
    check("bfind.u32", &[0x0001_0000], &[16]);
    check("bfind.s32", &[0xffff_ffff], &[0xffff_ffff]);
    check("bfind.s32", &[0xffff_0000], &[15]);
    check("bfind.shiftamt.u64", &[1], &[63]);
    check("bfind.shiftamt.s32", &[0], &[0xffff_ffff]);
    check("fns.b32", &[0b1011_0100, 0, 2], &[4]);
    check("fns.b32", &[0b1011_0100, 7, 0xffff_fffe], &[5]);
    check("fns.b32", &[0b1011_0100, 3, 0], &[0xffff_ffff]);
    check("fns.b32", &[0b1011_0100, 2, 0], &[2]);
    check("fns.b32", &[0b1011_0100, 0, 9], &[0xffff_ffff]);
    check("clz.b64", &[0], &[64]);
    check("popc.b64", &[u64::MAX], &[64]);
    check("brev.b32", &[1], &[MIN32]);
}

#[test]
fn permutations() {
    check("prmt.b32", &[0x3322_1100, 0x7766_5544, 0x7531], &[0x7755_3311]);
    // A nibble with its top bit set spreads the sign.
    check("prmt.b32", &[0x0000_8000, 0, 0x0009], &[0x0000_00ff]);
    check("prmt.b32.f4e", &[0x3322_1100, 0x7766_5544, 3], &[0x6655_4433]);
    check("prmt.b32.b4e", &[0x3322_1100, 0x7766_5544, 1], &[0x6677_0011]);
    check("prmt.b32.rc8", &[0x3322_1100, 0x7766_5544, 2], &[0x2222_2222]);
    check("prmt.b32.ecl", &[0x3322_1100, 0x7766_5544, 1], &[0x3322_1111]);
    check("prmt.b32.ecr", &[0x3322_1100, 0x7766_5544, 2], &[0x2222_1100]);
    check("prmt.b32.rc16", &[0x3322_1100, 0x7766_5544, 1], &[0x3322_3322]);
}

#[test]
fn lop3_applies_its_table() {
    let alu = instruction("lop3.b32");
    let (a, b, c) = (0xf0f0_1234, 0xcccc_5678, 0xaaaa_9abc);
    // The manual: compute the function on these constants to get the table.
    let (ta, tb, tc) = (0xf0_u32, 0xcc_u32, 0xaa_u32);
    let cases: [(u32, u64); 4] = [
        (ta & tb & tc, a & b & c),
        (ta | tb | tc, a | b | c),
        ((ta & tb | tc) & 0xff, a & b | c),
        ((ta ^ tb ^ !tc) & 0xff, (a ^ b ^ !c) & 0xffff_ffff),
    ];
    for (table, expected) in cases {
        assert_eq!(run_with("lop3.b32", &alu, table, &[a, b, c]), [expected]);
    }
    let with_predicate = instruction("lop3.and.b32");
    assert_eq!(run_with("lop3.and.b32", &with_predicate, 0xc0, &[3, 2, 0, 1]), [2, 1]);
    assert_eq!(run_with("lop3.and.b32", &with_predicate, 0xc0, &[1, 2, 0, 1]), [0, 0]);
}

#[test]
fn dot_products() {
    check("dp4a.s32.s32", &[0x01ff_02fe, 0x0101_0101, 10], &[10]);
    check("dp4a.u32.u32", &[0xffff_ffff, 0xffff_ffff, 0], &[4 * 255 * 255]);
    check("dp2a.lo.s32.s32", &[0xffff_0002, 0x0305_ff04, 1], &[10]);
    check("dp2a.hi.u32.u32", &[0x0001_0002, 0x0304_0000, 0], &[2 * 4 + 3]);
}

#[test]
fn masks_and_extensions() {
    check("bmsk.clamp.b32", &[4, 8], &[0xff0]);
    check("bmsk.clamp.b32", &[28, 8], &[0xf000_0000]);
    check("bmsk.clamp.b32", &[32, 1], &[0]);
    check("bmsk.clamp.b32", &[0, 32], &[0xffff_ffff]);
    check("bmsk.wrap.b32", &[0, 32], &[0]);
    check("szext.clamp.s32", &[0x80, 8], &[0xffff_ff80]);
    check("szext.wrap.u32", &[0x1ff, 40], &[0xff]);
    check("szext.clamp.s32", &[MIN32, 32], &[MIN32]);
    check("szext.clamp.s32", &[1, 0], &[0]);
}

#[test]
fn extremes_wrap_or_saturate() {
    check("abs.s32", &[MIN32], &[MIN32]);
    check("neg.s64", &[1 << 63], &[1 << 63]);
    check("add.sat.s32", &[0x7fff_ffff, 1], &[0x7fff_ffff]);
    check("sub.sat.s32", &[MIN32, 1], &[MIN32]);
    check("sad.u32", &[1, 5, 10], &[14]);
    check("sad.s32", &[MIN32, 0x7fff_ffff, 0], &[0xffff_ffff]);
    check("cnot.b32", &[0], &[1]);
    check("slct.u32.s32", &[1, 2, MIN32], &[2]);
    check("slct.u32.f32", &[1, 2, MIN32], &[1]);
    check("slct.u32.f32", &[1, 2, 0x7fc0_0000], &[2]);
}

#[test]
fn elements_of_words() {
    check("vabsdiff4.u32.u32.u32", &[0x0100_ff05, 0x02ff_0003, 0], &[0x01ff_ff02]);
    check("vabsdiff4.u32.u32.u32.add", &[0x0100_ff05, 0x02ff_0003, 10], &[10 + 1 + 255 + 255 + 2]);
    check("vadd4.u32.u32.u32", &[0xff01_02ff, 0x0101_0101, 0], &[0x0002_0300]);
    check("vadd4.u32.u32.u32.sat", &[0xff01_02ff, 0x0101_0101, 0], &[0xff02_03ff]);
    check("vsub2.s32.s32.s32.sat", &[0x8000_0005, 0x0001_0007, 0], &[0x8000_fffe]);
    check("vmax2.s32.s32.s32", &[0xffff_0001, 0x0000_ffff, 0], &[0x0000_0001]);
    check("vavrg4.u32.u32.u32", &[0x0102_0304, 0x0203_0303, 0], &[0x0203_0304]);
}
