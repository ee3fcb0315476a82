//! Floating-point arithmetic, against exact integer arithmetic and other ways to the same number.

use super::*;

fn f32_bits(x: f32) -> u64 {
    u64::from(x.to_bits())
}

/// A finite single as an exact multiple of 2^-149.
fn exact(bits: u64) -> Option<i128> {
    let x = f32::from_bits(bits as u32);
    // Only what fits: numbers below 2^-30 or so in magnitude.
    (x.abs() < 2f32.powi(-30)).then(|| (f64::from(x) * 2f64.powi(149)) as i128)
}

const ROUNDINGS: [&str; 4] = ["rn", "rz", "rm", "rp"];

/// Whether `result` is `value` (in units of 2^-149 / 2^`shift`) rounded in this direction: no single lies between.
fn is_rounded(result: i128, value: i128, shift: u32, neighbours: [i128; 2], rounding: &str) -> bool {
    let scaled = |x: i128| x << shift;
    let [below, above] = neighbours.map(scaled);
    let result = scaled(result);
    match rounding {
        "rz" if value >= 0 => result <= value && value < above,
        "rz" => result >= value && value > below,
        "rm" => result <= value && value < above,
        "rp" => result >= value && value > below,
        _ => 2 * (value - result).abs() <= (above - result).min(result - below).max(1),
    }
}

#[test]
fn every_rounding_of_small_singles_is_right() {
    let mut inputs = Inputs(7);
    let mut checked = 0;
    for _ in 0..20_000 {
        // Exponents near the subnormal ones, so that results are multiples of 2^-149 that fit 128 bits.
        let mut small = || inputs.next() & 0x807f_ffff | (inputs.next() % 40) << 23;
        let (a, b) = (small(), small());
        let (Some(x), Some(y)) = (exact(a), exact(b)) else { continue };
        for rounding in ROUNDINGS {
            let bits = run(&format!("add.{rounding}.f32"), &[a, b])[0];
            let neighbours = [f32::from_bits(bits as u32).next_down(), f32::from_bits(bits as u32).next_up()];
            let neighbours = neighbours.map(|n| exact(f32_bits(n)).unwrap());
            assert!(
                is_rounded(exact(bits).unwrap(), x + y, 0, neighbours, rounding),
                "add.{rounding} of {a:x}, {b:x} is {bits:x}"
            );
            checked += 1;
        }
    }
    assert!(checked > 10_000);
}

#[test]
fn rounding_to_nearest_agrees_with_the_processor() {
    let mut inputs = Inputs(3);
    for _ in 0..5_000 {
        let mut next = || inputs.value(Kind::F32);
        let [a, b, c] = [next(), next(), next()];
        // `.sat` of the same numbers goes through the general way.
        for (fast, general, sources) in [
            ("add.rn.f32", "add.rn.sat.f32", vec![a, b]),
            ("sub.rn.f32", "sub.rn.sat.f32", vec![a, b]),
            ("mul.rn.f32", "mul.rn.sat.f32", vec![a, b]),
            ("fma.rn.f32", "fma.rn.sat.f32", vec![a, b, c]),
        ] {
            let plain = f32::from_bits(run(fast, &sources)[0] as u32);
            let clamped = if plain.is_nan() { 0.0 } else { plain.clamp(0.0, 1.0).abs() };
            check(general, &sources, &[f32_bits(clamped)]);
        }
    }
}

#[test]
fn doubles_round_in_every_direction() {
    let mut inputs = Inputs(5);
    let double = f64::from_bits;
    for _ in 0..5_000 {
        let mut next = || inputs.value(Kind::F64);
        let [a, b, c] = [next(), next(), next()];
        for (name, sources) in [
            ("add", vec![a, b]),
            ("sub", vec![a, b]),
            ("mul", vec![a, b]),
            ("fma", vec![a, b, c]),
            ("div", vec![a, b]),
            ("sqrt", vec![a]),
        ] {
            let of = |rounding: &str| double(run(&format!("{name}.{rounding}.f64"), &sources)[0]);
            let [nearest, zero, down, up] = ROUNDINGS.map(of);
            if nearest.is_nan() {
                assert!(zero.is_nan() && down.is_nan() && up.is_nan());
                continue;
            }
            assert!(down <= nearest && nearest <= up, "{name} of {sources:x?}: {down:e} {nearest:e} {up:e}");
            assert!(down == up || down.next_up() == up, "{name} of {sources:x?}: {down:e}, {up:e}");
            assert!(nearest == down || nearest == up);
            assert_eq!(zero, if down.abs() < up.abs() { down } else { up }, "{name} of {sources:x?}");
        }
    }
}

/// Results from an H200 that show when a result counts as subnormal: before it is rounded to fewer bits.
#[test]
fn flushing_looks_at_24_bits() {
    check("mul.ftz.f32", &[0x3f7f_ffff, 0x0080_0000], &[0]);
    check("mul.rp.ftz.f32", &[0x3f7f_fffe, 0x0080_0000], &[0]);
    check("mul.rp.ftz.f32", &[0x3f7f_ffff, 0x0080_0001], &[0x0080_0001]);
    check("fma.rn.ftz.f32", &[0x3f7f_ffff, 0x0080_0000, 0], &[0]);
    check("mul.f32", &[0x3f7f_ffff, 0x0080_0000], &[0x0080_0000]);
    check("div.rn.ftz.f32", &[0x00ff_ffff, 0x4000_0000], &[0]);
    check("cvt.rn.ftz.f32.f64", &[0x380f_ffff_e000_0001], &[0]);
    check("cvt.rn.ftz.f32.f64", &[0x380f_ffff_f000_0000], &[0x0080_0000]);
    check("mul.ftz.f32", &[0xbf7f_ffff, 0x0080_0000], &[0x8000_0000]);
}

#[test]
fn zeros_and_infinities() {
    let (zero, minus_zero, one, infinity) = (0, 0x8000_0000, 0x3f80_0000, 0x7f80_0000);
    check("add.rm.f32", &[one, 0xbf80_0000], &[minus_zero]);
    check("add.rn.f32", &[one, 0xbf80_0000], &[zero]);
    check("min.f32", &[zero, minus_zero], &[minus_zero]);
    check("max.f32", &[minus_zero, zero], &[zero]);
    check("add.rz.f32", &[0x7f7f_ffff, 0x7f7f_ffff], &[0x7f7f_ffff]);
    check("add.rp.f32", &[0x7f7f_ffff, 0x7f7f_ffff], &[infinity]);
    check("mul.sat.f32", &[minus_zero, one], &[zero]);
    check("div.approx.f32", &[infinity, 0x7f00_0000], &[0x7fff_ffff]);
    check("div.approx.f32", &[0xbf80_0000, 0x7f00_0000], &[minus_zero]);
    check("rcp.rn.f32", &[minus_zero], &[0xff80_0000]);
    check("sqrt.rn.f32", &[minus_zero], &[minus_zero]);
}

#[test]
fn nans_are_canonical_in_single_and_carried_in_double_precision() {
    let nan = 0x7fff_ffff;
    check("add.f32", &[0xffc1_2345, 0], &[nan]);
    check("min.f32", &[0xffc1_2345, 0x3f80_0000], &[0x3f80_0000]);
    check("min.NaN.f32", &[0xffc1_2345, 0x3f80_0000], &[nan]);
    check("max.f32", &[0xffc1_2345, 0x7f80_0001], &[nan]);
    check("min.xorsign.abs.f32", &[0xc000_0000, 0x3f80_0000], &[0xbf80_0000]);
    check("add.f64", &[0x7ff0_0000_0000_0001, 0], &[0x7ff8_0000_0000_0001]);
    check("sub.f64", &[0, 0xfff8_1234_5678_9abc], &[0xfff8_1234_5678_9abc]);
    check("sub.f64", &[0x7ff0_0000_0000_0000, 0x7ff0_0000_0000_0000], &[0xfff8_0000_0000_0000]);
}

/// The largest error over a range, in the terms of the manual.
fn worst(name: &str, from: u32, to: u32, step: usize, reference: impl Fn(f64) -> f64, relative: bool) -> f64 {
    (from..to)
        .step_by(step)
        .map(|bits| {
            let x = f64::from(f32::from_bits(bits));
            let actual = f64::from(f32::from_bits(run(name, &[u64::from(bits)])[0] as u32));
            let expected = reference(x);
            let error = (actual - expected).abs();
            if relative { error / expected.abs() } else { error }
        })
        .fold(0.0, f64::max)
}

#[test]
fn approximations_stay_within_the_manuals_errors() {
    let (small, one, pi) = (0x3000_0000, 0x3f80_0000, std::f32::consts::PI.to_bits());
    let step = 99_991;
    assert!(worst("sin.approx.f32", small, pi, step, f64::sin, false) < 2f64.powf(-20.5));
    assert!(worst("cos.approx.f32", small, pi, step, f64::cos, false) < 2f64.powf(-20.5));
    assert!(worst("ex2.approx.f32", 0, 0x42f0_0000, step, f64::exp2, true) < 2f64.powi(-22));
    assert!(worst("ex2.approx.f32", 0x8000_0000, 0xc2f0_0000, step, f64::exp2, true) < 2f64.powi(-22));
    assert!(worst("lg2.approx.f32", 0x0080_0000, 0x3f00_0000, step, f64::log2, true) < 2f64.powi(-22));
    assert!(worst("lg2.approx.f32", 0x3f00_0000, 0x4000_0000, step, f64::log2, false) < 2f64.powi(-22));
    assert!(worst("tanh.approx.f32", 0x0080_0000, 0x4180_0000, step, f64::tanh, true) < 2f64.powi(-11));
    assert!(
        worst("rsqrt.approx.f32", 0x0080_0000, 0x7f00_0000, step, |x| 1.0 / x.sqrt(), true)
            < 2f64.powf(-22.9)
    );
    assert!(worst("rcp.approx.ftz.f32", 0x0080_0000, 0x7e00_0000, step, f64::recip, true) < 2f64.powi(-23));
    check("ex2.approx.f32", &[f32_bits(-149.0)], &[1]);
    check("ex2.approx.ftz.f32", &[f32_bits(-127.0)], &[0]);
    check("lg2.approx.f32", &[0], &[0xff80_0000]);
    check("lg2.approx.f32", &[one], &[0]);
}
