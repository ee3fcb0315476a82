//! Half precision and conversions.

use half::{bf16, f16};

use super::*;

/// Runs a one-operand instruction on all 65,536 values.
fn for_all_halves(name: &str, check_one: impl Fn(u16, u64)) {
    let alu = instruction(name);
    for variant in variants(&alu) {
        for start in (0..=u16::MAX).step_by(32) {
            let lanes: Vec<Vec<u64>> = (0..32).map(|lane| vec![u64::from(start) + lane]).collect();
            for (lane, result) in run_variant(&alu, variant, alu.imm, &lanes).iter().enumerate() {
                check_one(start + lane as u16, result[0]);
            }
        }
    }
}

#[test]
fn every_half_converts_to_single_and_back() {
    for_all_halves("cvt.f32.f16", |bits, result| {
        let expected = f16::from_bits(bits).to_f32();
        let actual = f32::from_bits(result as u32);
        assert!(actual.to_bits() == expected.to_bits() || actual.is_nan() && expected.is_nan(), "{bits:x}");
        if !expected.is_nan() {
            check("cvt.rn.f16.f32", &[result], &[u64::from(bits)]);
        }
    });
    for_all_halves("cvt.f32.bf16", |bits, result| {
        assert_eq!(result, u64::from(bits) << 16);
    });
}

#[test]
fn singles_round_to_halves_in_every_direction() {
    let mut inputs = Inputs(11);
    for _ in 0..20_000 {
        // Around the range of halves, subnormal ones included.
        let bits = inputs.next() & 0x8fff_ffff | 0x3000_0000 | (inputs.next() & 1) << 30;
        let x = f32::from_bits(bits as u32);
        if x.is_nan() {
            continue;
        }
        let to = |name: &str| run(name, &[bits])[0] as u16;
        assert_eq!(to("cvt.rn.f16.f32"), f16::from_f32(x).to_bits(), "{x:e}");
        assert_eq!(to("cvt.rn.bf16.f32"), bf16::from_f32(x).to_bits(), "{x:e}");
        let [down, up, zero] = ["cvt.rm.f16.f32", "cvt.rp.f16.f32", "cvt.rz.f16.f32"]
            .map(|name| f16::from_bits(to(name)).to_f32());
        assert!(down <= x && x <= up, "{x:e} is not in {down:e}...{up:e}");
        assert_eq!(zero, if x > 0.0 { down } else { up });
    }
}

#[test]
fn arithmetic_rounds_once() {
    let mut inputs = Inputs(13);
    for _ in 0..20_000 {
        let mut next = || inputs.next() & 0xffff;
        let [a, b, c] = [next(), next(), next()];
        let [x, y, z] = [a, b, c].map(|bits| f64::from(f16::from_bits(bits as u16)));
        // Products of halves are exact in double precision, and so is a sum in the range where it matters.
        for (name, sources, expected) in [
            ("add.f16", vec![a, b], x + y),
            ("mul.f16", vec![a, b], x * y),
            ("fma.rn.f16", vec![a, b, c], x * y + z),
        ] {
            let actual = f16::from_bits(run(name, &sources)[0] as u16);
            let expected = f16::from_f64(expected);
            assert!(actual == expected || actual.is_nan() && expected.is_nan(), "{name} of {sources:x?}");
        }
    }
    // 1.0625 squared is half way between two neighbours; what decides is far below the precision of a double.
    let (factor, tiny) =
        (u64::from(bf16::from_f32(1.0625).to_bits()), u64::from(bf16::from_f32(1e-30).to_bits()));
    check("fma.rn.bf16", &[factor, factor, tiny], &[0x3f91]);
    check("fma.rn.bf16", &[factor, factor, 0], &[0x3f90]);
    check("fma.rn.bf16", &[factor, factor, tiny | 0x8000], &[0x3f90]);
}

#[test]
fn pairs_are_two_halves() {
    let mut inputs = Inputs(17);
    for _ in 0..2_000 {
        let (a, b) = (inputs.value(Kind::Bits(32)), inputs.value(Kind::Bits(32)));
        for name in
            ["add.f16", "mul.sat.f16", "min.NaN.f16", "max.bf16", "sub.ftz.f16", "neg.bf16", "abs.f16"]
        {
            let sources =
                if name.starts_with("neg") || name.starts_with("abs") { vec![a] } else { vec![a, b] };
            let half = |shift: u32| {
                let sources: Vec<u64> = sources.iter().map(|bits| bits >> shift & 0xffff).collect();
                run(name, &sources)[0]
            };
            check(&format!("{name}x2"), &sources, &[half(0) | half(16) << 16]);
        }
    }
    check("cvt.rn.f16x2.f32", &[0x3f80_0000, 0x4000_0000], &[0x3c00_4000]);
}

#[test]
fn conversions_to_integers_clamp() {
    check("cvt.rzi.s32.f32", &[0x4f00_0000], &[0x7fff_ffff]);
    check("cvt.rzi.u32.f32", &[0xbf80_0000], &[0]);
    check("cvt.rni.s32.f32", &[0x4020_0000], &[2]);
    check("cvt.rmi.s32.f32", &[0xbf00_0000], &[0xffff_ffff]);
    check("cvt.rpi.s8.f32", &[0x4348_0000], &[0x7f]);
    check("cvt.rzi.s32.f32", &[0x7fc0_0000], &[0]);
    check("cvt.rzi.s64.f32", &[0x7fc0_0000], &[1 << 63]);
    check("cvt.rzi.s32.f64", &[0x7ff8_0000_0000_0000], &[0x8000_0000]);
    check("cvt.sat.u8.s32", &[0xffff_ffff], &[0]);
    check("cvt.sat.s8.u32", &[200], &[127]);
    check("cvt.u8.u32", &[0x1ff], &[0xff]);
    // Narrow signed results fill a wider register.
    check("cvt.s8.s32", &[0x80], &[0xffff_ff80]);
    check("cvt.s64.s32", &[0x8000_0000], &[0xffff_ffff_8000_0000]);
    check("cvt.pack.sat.u16.s32", &[0x1_0000, 0xffff_ffff], &[0xffff_0000]);
    check("cvt.pack.sat.s8.s32.b32", &[200, 0xffff_ff00, 0x1234_5678], &[0x5678_7f80]);
}

#[test]
fn conversions_from_integers_round_once() {
    // Between two singles, and just above the middle by less than a double shows.
    check("cvt.rn.f32.u64", &[0x8000_0080_0000_0001], &[0x5f00_0001]);
    check("cvt.rz.f32.u64", &[0x8000_0080_0000_0001], &[0x5f00_0000]);
    check("cvt.rp.f32.s32", &[0x7fff_ffff], &[0x4f00_0000]);
    check("cvt.rm.f32.s32", &[0x7fff_ffff], &[0x4eff_ffff]);
    check("cvt.rz.f64.s64", &[0x7fff_ffff_ffff_ffff], &[0x43df_ffff_ffff_ffff]);
    check("cvt.rn.f16.u32", &[65_520], &[0x7c00]);
    check("cvt.rz.f16.u32", &[0xffff_ffff], &[0x7bff]);
    check("cvt.rna.tf32.f32", &[0x3f80_1000], &[0x3f80_2000]);
    check("cvt.rn.satfinite.f16.f32", &[0x7f00_0000], &[0x7bff]);
    check("cvt.rn.relu.f16.f32", &[0xbf80_0000], &[0]);
}

#[test]
fn pairs_of_bytes_convert() {
    // 448 and -0.5, the first above; 1e9 is clamped; NaN is 0x7f.
    check("cvt.rn.satfinite.e4m3x2.f32", &[0x43e0_0000, 0xbf00_0000], &[0x7eb0]);
    check("cvt.rn.satfinite.e4m3x2.f32", &[0x4e6e_6b28, 0x7fc0_0000], &[0x7e7f]);
    check("cvt.rn.satfinite.relu.e4m3x2.f32", &[0xc3e0_0000, 0x3f00_0000], &[0x0030]);
    check("cvt.rn.satfinite.e5m2x2.f32", &[0x3f80_0000, 0xff80_0000], &[0x3cfb]);
    check("cvt.rn.satfinite.e4m3x2.f16x2", &[0x3c00_c000], &[0x38c0]);
    check("cvt.rn.satfinite.e5m2x2.f16x2", &[0x3c00_c000], &[0x3cc0]);
    check("cvt.rn.f16x2.e4m3x2", &[0x7eb0], &[0x5f00_b800]);
    check("cvt.rn.f16x2.e4m3x2", &[0x7f01], &[0x7fff_1800]);
    check("cvt.rn.f16x2.e5m2x2", &[0x3cfb], &[0x3c00_fb00]);
    check("cvt.rn.relu.f16x2.e5m2x2", &[0x3cfb], &[0x3c00_0000]);
}
