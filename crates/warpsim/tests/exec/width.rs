//! Loads and stores of every width and type, and atomics on every type.

use super::support::{Run, by_hand};

/// A kernel with registers of every size that copies one element of `ty` per thread.
fn copying(space: &str, count: usize, ty: &str) -> String {
    let register = match ty {
        "b8" | "u8" | "s8" | "b16" | "u16" | "s16" => "h",
        "b64" | "u64" | "s64" | "f64" => "d",
        _ => "w",
    };
    let bytes = count * width(ty);
    let list: Vec<String> = (0..count).map(|i| format!("%{register}{i}")).collect();
    let list = if count == 1 { list[0].clone() } else { format!("{{{}}}", list.join(", ")) };
    let vector = if count == 1 { String::new() } else { format!(".v{count}") };
    let through = match space {
        "global" => String::new(),
        "shared" => format!(
            ".shared .align 16 .b8 memory[1024]; mov.u32 %r1, memory; mad.lo.u32 %r1, %t, {bytes}, %r1;
            st.shared{vector}.{ty} [%r1], {list}; ld.shared{vector}.{ty} {list}, [%r1];"
        ),
        "local" => format!(
            ".local .align 16 .b8 memory[64]; mov.u64 %rd3, memory;
            st.local{vector}.{ty} [%rd3+32], {list}; ld.local{vector}.{ty} {list}, [%rd3+32];"
        ),
        _ => format!(
            ".shared .align 16 .b8 memory[1024]; mov.u64 %rd3, memory; cvta.shared.u64 %rd3, %rd3;
            mad.wide.u32 %rd3, %t, {bytes}, %rd3; st{vector}.{ty} [%rd3], {list}; ld{vector}.{ty} {list}, [%rd3];"
        ),
    };
    by_hand(&format!(
        ".reg .b16 %h<4>; .reg .b32 %w<4>; .reg .b64 %d<4>;
        mad.wide.u32 %rd1, %t, {bytes}, %out; add.u64 %rd2, %rd1, {};
        ld.global{vector}.{ty} {list}, [%rd1]; {through} st.global{vector}.{ty} [%rd2], {list};",
        32 * bytes
    ))
}

fn width(ty: &str) -> usize {
    ty[1..].parse::<usize>().unwrap() / 8
}

#[test]
fn every_width_keeps_its_bytes() {
    let types =
        ["b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"];
    for ty in types {
        for count in [1, 2, 4].into_iter().filter(|count| count * width(ty) <= 16) {
            for space in ["global", "shared", "local", "generic"] {
                let bytes = 32 * count * width(ty);
                let mut run = Run::new(&copying(space, count, ty), "k", 1, 32);
                let data: Vec<u8> = (0..bytes).map(|i| (i * 7 + 129) as u8).collect();
                let out = run.bytes(data.iter().copied().chain(vec![0; bytes]).collect());
                let report = run.clean();
                assert_eq!(run.device.read(out)[bytes..], data, "{space} v{count} {ty}");
                assert_eq!(report.counters.global_load_bytes, bytes as u64);
            }
        }
    }
}

#[test]
fn narrow_loads_extend_by_their_type() {
    let body = "ld.global.s8 %r1, [%out]; st.global.u32 [%out+8], %r1; ld.global.u8 %r1, [%out];
        st.global.u32 [%out+12], %r1; ld.global.s16 %r1, [%out]; st.global.u32 [%out+16], %r1;
        ld.global.s8 %rd1, [%out]; st.global.u64 [%out+24], %rd1; ld.global.s32 %rd1, [%out]; st.global.u64 [%out+32], %rd1;
        ld.global.u32 %rd1, [%out]; st.global.u64 [%out+40], %rd1; st.global.u8 [%out+48], %rd1;";
    let mut run = Run::new(&by_hand(body), "k", 1, 1);
    let out = run.words([0x8182_8384u32 as i32].into_iter().chain([0; 12]));
    run.clean();
    let words = run.ints(out);
    assert_eq!(words[2..5], [-0x7c, 0x84, -0x7c7c]);
    assert_eq!(words[6..13], [-0x7c, -1, words[0], -1, words[0], 0, 0x84]);
}

/// The registers of `cvt` may be wider than its types.
#[test]
fn conversions_take_and_give_wider_registers() {
    let body = "ld.global.u64 %rd1, [%out]; cvt.s64.s8 %rd2, %rd1; st.global.u64 [%out+8], %rd2;
        cvt.u64.u16 %rd2, %rd1; st.global.u64 [%out+16], %rd2; cvt.s8.s32 %rd2, %rd1; st.global.u64 [%out+24], %rd2;
        cvt.u16.u64 %rd2, %rd1; st.global.u64 [%out+32], %rd2; cvt.rn.f32.s16 %r1, %rd1; st.global.u32 [%out+40], %r1;
        setp.eq.u32 %p1, %t, 1; @%p1 cvt.u8.u32 %rd2, %rd1; st.global.u64 [%out+48], %rd2;";
    let mut run = Run::new(&by_hand(body), "k", 1, 1);
    let out = run.bytes(0x1234_5678_9abc_de85u64.to_le_bytes().into_iter().chain([0; 48]).collect());
    run.clean();
    let bytes = run.device.read(out);
    let told: Vec<u64> = bytes.chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().unwrap())).collect();
    assert_eq!(told[1..5], [0xffff_ffff_ffff_ff85, 0xde85, 0xffff_ffff_ffff_ff85, 0xde85]);
    assert_eq!(f32::from_bits(told[5] as u32), f32::from(0xde85_u16 as i16));
    assert_eq!(told[6], 0xde85, "a guard that does not hold keeps the old value");
}

/// Parameters of a kernel may be vectors, and structures are read a few words at a time.
#[test]
fn parameters_are_read_as_vectors() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64
        .func (.param .align 16 .b8 r[16]) swap(.param .align 16 .b8 x[16]) {
            .reg .f32 %f<4>; ld.param.v4.f32 {%f0, %f1, %f2, %f3}, [x]; st.param.v4.f32 [r], {%f3, %f2, %f1, %f0}; ret;
        }
        .visible .entry k(.param .align 16 .b8 s[32], .param .u64 out) {
            .reg .f32 %f<4>; .reg .b64 %o, %d<2>; .reg .b32 %i;
            ld.param.u64 %o, [out]; ld.param.v4.f32 {%f0, %f1, %f2, %f3}, [s];
            { .param .align 16 .b8 a[16]; .param .align 16 .b8 b[16]; st.param.v4.f32 [a], {%f0, %f1, %f2, %f3};
              call (b), swap, (a); ld.param.v2.f32 {%f2, %f3}, [b]; ld.param.v2.f32 {%f0, %f1}, [b+8]; }
            st.global.v4.f32 [%o], {%f0, %f1, %f2, %f3};
            ld.param.v2.u64 {%d0, %d1}, [s+16]; st.global.v2.u64 [%o+16], {%d1, %d0}; ret;
        }";
    let mut run = Run::new(text, "k", 1, 1);
    run.arg(warpsim::Arg::Bytes((0..8u32).flat_map(|i| (i + 10).to_le_bytes()).collect()));
    let out = run.room(8);
    run.clean();
    assert_eq!(run.ints(out), [11, 10, 13, 12, 16, 17, 14, 15]);
}

/// An atomic operation, its type, and what it makes of the old value and the operand.
type Operation = (&'static str, &'static str, fn(u64, u64) -> u64);

/// `atom` and `red` of every operation and type in three spaces: the threads of a warp one after another.
#[test]
fn atomics_on_every_type() {
    let word: &[Operation] = &[
        ("add", "u32", |a, b| (a as u32).wrapping_add(b as u32).into()),
        ("add", "s32", |a, b| (a as u32).wrapping_add(b as u32).into()),
        ("add", "f32", |a, b| (f32::from_bits(a as u32) + f32::from_bits(b as u32)).to_bits().into()),
        ("min", "u32", |a, b| (a as u32).min(b as u32).into()),
        ("max", "u32", |a, b| (a as u32).max(b as u32).into()),
        ("min", "s32", |a, b| ((a as i32).min(b as i32) as u32).into()),
        ("max", "s32", |a, b| ((a as i32).max(b as i32) as u32).into()),
        ("inc", "u32", |a, b| if a >= b { 0 } else { a + 1 }),
        ("dec", "u32", |a, b| if a == 0 || a > b { b } else { a - 1 }),
        ("and", "b32", |a, b| a & b),
        ("or", "b32", |a, b| a | b),
        ("xor", "b32", |a, b| a ^ b),
        ("exch", "b32", |_, b| b),
    ];
    let wide: &[Operation] = &[
        ("add", "u64", u64::wrapping_add),
        ("add", "f64", |a, b| (f64::from_bits(a) + f64::from_bits(b)).to_bits()),
        ("min", "u64", u64::min),
        ("max", "u64", u64::max),
        ("min", "s64", |a, b| (a as i64).min(b as i64) as u64),
        ("max", "s64", |a, b| (a as i64).max(b as i64) as u64),
        ("and", "b64", |a, b| a & b),
        ("or", "b64", |a, b| a | b),
        ("xor", "b64", |a, b| a ^ b),
        ("exch", "b64", |_, b| b),
    ];
    for (cases, bytes) in [(word, 4), (wide, 8)] {
        for &(operation, ty, meaning) in cases {
            for space in ["global", "shared", ""] {
                atomic(operation, ty, space, bytes, meaning);
            }
        }
    }
}

fn atomic(operation: &str, ty: &str, space: &str, bytes: usize, meaning: fn(u64, u64) -> u64) {
    let (reg, bits) = if bytes == 8 { ("%rd", 64) } else { ("%r", 32) };
    let dot = if space.is_empty() { String::new() } else { format!(".{space}") };
    let at = if space == "shared" { "memory" } else { "%out" };
    let is_red = operation != "exch";
    let red = if is_red { format!("red{dot}.{operation}.{ty} [{at}], {reg}4;") } else { String::new() };
    let body = format!(
        ".shared .align 8 .b8 memory[8];
        mad.wide.u32 %rd1, %t, {bytes}, %out;
        setp.eq.u32 %p1, %t, 0; ld.global.b{bits} {reg}5, [%out]; @%p1 st.shared.b{bits} [memory], {reg}5; bar.sync 0;
        ld.global.b{bits} {reg}3, [%rd1+8]; ld.global.b{bits} {reg}4, [%rd1+{}];
        atom{dot}.{operation}.{ty} {reg}6, [{at}], {reg}3; st.global.b{bits} [%rd1+{}], {reg}6;
        bar.sync 0; {red} bar.sync 0;
        {} @%p1 st.global.b{bits} [%out], {reg}5;",
        8 + 32 * bytes,
        8 + 64 * bytes,
        if space == "shared" { format!("ld.shared.b{bits} {reg}5, [memory];") } else { format!("ld.global.b{bits} {reg}5, [%out]; bar.sync 0;") }
    );
    // Numbers that every type can add exactly, and whose order differs between signed and unsigned.
    let value = |i: u64| -> u64 {
        let small = (i * 7 % 13) as f64 - 6.0;
        match ty {
            "f32" => u64::from((small as f32).to_bits()),
            "f64" => small.to_bits(),
            _ if operation == "inc" || operation == "dec" => 5 + i % 4,
            _ => (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ i) & (u64::MAX >> (64 - bits)),
        }
    };
    let mut data: Vec<u8> = value(99).to_le_bytes().to_vec();
    (0..64).for_each(|i| data.extend(&value(i).to_le_bytes()[..bytes]));
    data.extend(vec![0; 32 * bytes]);
    let mut run = Run::new(&by_hand(&body), "k", 1, 32);
    let out = run.bytes(data);
    run.clean();
    let told = run.device.read(out);
    let read = |at: usize| {
        let mut raw = [0; 8];
        raw[..bytes].copy_from_slice(&told[at..at + bytes]);
        u64::from_le_bytes(raw)
    };
    let keep = u64::MAX >> (64 - bits);
    let mut memory = value(99) & keep;
    for t in 0..32 {
        assert_eq!(read(8 + (64 + t) * bytes), memory, "atom{dot}.{operation}.{ty}, thread {t}");
        memory = meaning(memory, value(t as u64)) & keep;
    }
    if is_red {
        memory = (0..32).fold(memory, |memory, t| meaning(memory, value(32 + t)) & keep);
    }
    assert_eq!(read(0), memory, "{operation}.{ty} in {space:?}");
}

#[test]
fn compare_and_swap_of_every_width() {
    for (bits, reg, ty) in [(16, "%h", "b16"), (32, "%r", "b32"), (64, "%rd", "b64")] {
        // Each thread swaps its number in after that of the thread before it.
        let convert = match bits {
            16 => "cvt.u16.u32 %h1, %t; add.u16 %h2, %h1, 1;",
            32 => "mov.u32 %r1, %t; add.u32 %r2, %r1, 1;",
            _ => "cvt.u64.u32 %rd1, %t; add.u64 %rd2, %rd1, 1;",
        };
        let body = format!(
            ".reg .b16 %h<5>; {convert} atom.global.cas.{ty} {reg}3, [%out], {reg}1, {reg}2;
            mad.wide.u32 %rd5, %t, 8, %out; st.global.b{bits} [%rd5+8], {reg}3;"
        );
        let mut run = Run::new(&by_hand(&body), "k", 1, 32);
        let out = run.words([0; 66]);
        run.clean();
        let words = run.ints(out);
        assert_eq!(words[0], 32, "{ty}");
        assert_eq!((1..33).map(|i| words[2 * i]).collect::<Vec<_>>(), (0..32).collect::<Vec<_>>(), "{ty}");
    }
}
