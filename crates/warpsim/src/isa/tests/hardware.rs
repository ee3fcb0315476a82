//! Register instructions against results recorded on an H200.
//!
//! `tests/isa/h200.txt` has one line per instruction: its name, then the destinations' bits of 32 lanes, whose
//! sources [`Inputs`] makes from the name (`mma`: three rounds, see [`Elements`]). `tests/isa/record.py` records it; it
//! reads what [`list`] prints. `ptxas` takes every instruction in the tables, so the list is also one of legal PTX.

use super::*;
use crate::isa::{Multiply, forms};

/// The table or other immediate that is used for an instruction.
fn immediate(name: &str, alu: &Alu) -> u32 {
    if name.starts_with("lop3") { Inputs::for_name(name).next() as u32 & 0xff } else { alu.imm }
}

/// Prints every instruction with its immediate, the kinds of its destinations and sources, and rounds of inputs.
#[test]
#[ignore = "prints what is needed to record results on hardware"]
fn list() {
    let letters = |kinds: &[Option<Kind>]| -> String {
        let letter = |kind: &Kind| match kind {
            Kind::Pred => 'p',
            Kind::Bits(8) => 'b',
            Kind::Bits(16) => 'h',
            Kind::Bits(32) | Kind::F32 => 'w',
            Kind::Bits(_) | Kind::F64 => 'd',
        };
        kinds.iter().flatten().map(letter).collect()
    };
    let rounds: usize = std::env::var("ROUNDS").ok().and_then(|r| r.parse().ok()).unwrap_or(1);
    for name in forms().flat_map(|form| form.names()) {
        let alu = instruction(&name);
        let mut inputs = Inputs::for_name(&name);
        let lanes: Vec<String> = (0..rounds)
            .flat_map(|_| inputs.lanes(&alu))
            .map(|sources| sources.iter().map(|bits| format!("{bits:x}")).collect::<Vec<_>>().join(","))
            .collect();
        let (dst, src) = (letters(&alu.signature.dst), letters(&alu.signature.src));
        println!("@ {name} {} {dst} {src} {}", immediate(&name, &alu), lanes.join(" "));
    }
    for name in ATOMIC {
        let mut inputs = Inputs::for_name(name);
        let kind = atomic_kind(name);
        let width = if kind.class() == RegisterFile::Wide {
            "d"
        } else if kind == Kind::Bits(16) {
            "h"
        } else {
            "w"
        };
        let lanes: Vec<String> = (0..rounds)
            .flat_map(|_| atomic_lanes(name, &mut inputs))
            .map(|lane| lane.iter().map(|bits| format!("{bits:x}")).collect::<Vec<_>>().join(","))
            .collect();
        println!("@ {name} 0 {} {} {}", width.repeat(2), width.repeat(3), lanes.join(" "));
    }
    for name in MATRIX {
        let mma = matrix(name);
        let [d, a, b, c] = mma.fragments;
        let counts = d.registers | a.registers << 4 | b.registers << 8 | c.registers << 12;
        let letter = if d.kind == Kind::F64 { "d" } else { "w" };
        let lanes: Vec<String> = (0..rounds)
            .flat_map(|round| matrix_lanes(name, &mma, round))
            .map(|lane| lane.iter().map(|bits| format!("{bits:x}")).collect::<Vec<_>>().join(","))
            .collect();
        let sources = a.registers + b.registers + c.registers;
        println!(
            "@ {name} {counts} {} {} {}",
            letter.repeat(d.registers),
            letter.repeat(sources),
            lanes.join(" ")
        );
    }
}

/// Atomic operations, with their space and type.
const ATOMIC: &[&str] = &[
    "atom.global.exch.b32",
    "atom.global.exch.b64",
    "atom.global.cas.b16",
    "atom.global.cas.b32",
    "atom.global.cas.b64",
    "atom.global.and.b32",
    "atom.global.or.b32",
    "atom.global.xor.b32",
    "atom.global.and.b64",
    "atom.global.or.b64",
    "atom.global.xor.b64",
    "atom.global.add.u32",
    "atom.global.add.s32",
    "atom.global.add.u64",
    "atom.global.add.f32",
    "atom.shared.add.f32",
    "atom.global.add.f64",
    "atom.shared.add.f64",
    "atom.global.add.noftz.f16",
    "atom.global.add.noftz.f16x2",
    "atom.global.add.noftz.bf16",
    "atom.global.add.noftz.bf16x2",
    "atom.global.inc.u32",
    "atom.global.dec.u32",
    "atom.global.min.u32",
    "atom.global.max.u32",
    "atom.global.min.s32",
    "atom.global.max.s32",
    "atom.global.min.u64",
    "atom.global.max.u64",
    "atom.global.min.s64",
    "atom.global.max.s64",
];

fn atomic_kind(name: &str) -> Kind {
    match name.rsplit('.').next().unwrap() {
        "f32" => Kind::F32,
        "f64" => Kind::F64,
        "b16" | "f16" | "bf16" => Kind::Bits(16),
        ty if ty.ends_with("64") => Kind::Bits(64),
        _ => Kind::Bits(32),
    }
}

/// Forms of `mma`.
const MATRIX: &[&str] = &[
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
    "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32",
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
    "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32",
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
    "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32",
    "mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32",
    "mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.s8.s32",
    "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32",
    "mma.sync.aligned.m8n8k32.row.col.s32.s4.u4.s32",
    "mma.sync.aligned.m16n8k32.row.col.s32.u4.s4.s32",
    "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32",
    "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc",
    "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc",
    "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc",
];

fn matrix(name: &str) -> Multiply {
    let modifiers: Vec<&str> = name.split('.').skip(1).collect();
    Multiply::find("mma", &modifiers).unwrap_or_else(|| panic!("no instruction `{name}`"))
}

/// What the floating-point elements of a matrix are like.
#[derive(Clone, Copy, PartialEq)]
enum Elements {
    /// Small integers: every order of summation gives the same.
    Integers,
    /// Between -2 and 2.
    Similar,
    /// Of very different sizes.
    Spread,
}

/// The registers of A, B and C of each lane.
fn matrix_lanes(name: &str, mma: &Multiply, round: usize) -> Vec<Vec<u64>> {
    let mut inputs = Inputs::for_name(&format!("{name} {round}"));
    let types: Vec<&str> =
        name.split('.').skip(6).filter(|t| !matches!(*t, "satfinite" | "xor" | "and" | "popc")).collect();
    let [_, a, b, c] = mma.fragments;
    let slots = [(types[1], a), (types[2], b), (types[3], c)];
    let elements = [Elements::Integers, Elements::Similar, Elements::Spread][round % 3];
    (0..32)
        .map(|_| {
            slots
                .iter()
                .flat_map(|&(ty, fragment)| std::iter::repeat_n(ty, fragment.registers))
                .map(|ty| matrix_value(ty, elements, &mut inputs))
                .collect()
        })
        .collect()
}

fn matrix_value(ty: &str, elements: Elements, inputs: &mut Inputs) -> u64 {
    let bits = inputs.next();
    let small = |bits: u64| (bits % 17) as f64 - 8.0;
    // Sign and mantissa at random, the exponent in a range.
    let random = |bits: u64, mantissa: u32, sign: u32, lowest: u64, highest: u64| {
        let exponent = if elements == Elements::Similar {
            lowest.midpoint(highest) - (bits >> 50) % 2
        } else {
            lowest + (bits >> 50) % (highest - lowest)
        };
        bits & ((1 << mantissa) - 1) | exponent << mantissa | (bits >> 60 & 1) << sign
    };
    let half = |bits: u64| match elements {
        Elements::Integers => u64::from(half::f16::from_f64(small(bits)).to_bits()),
        _ => random(bits, 10, 15, 3, 27),
    };
    let brain = |bits: u64| match elements {
        Elements::Integers => u64::from(half::bf16::from_f64(small(bits)).to_bits()),
        _ => random(bits, 7, 15, 115, 139),
    };
    match ty {
        "f16" => half(bits) | half(inputs.next()) << 16,
        "bf16" => brain(bits) | brain(inputs.next()) << 16,
        "tf32" | "f32" if elements == Elements::Integers => u64::from((small(bits) as f32).to_bits()),
        "tf32" | "f32" => random(bits, 23, 31, 115, 139),
        "f64" if elements == Elements::Integers => small(bits).to_bits(),
        "f64" => random(bits, 52, 63, 1011, 1035),
        _ => bits & 0xffff_ffff,
    }
}

/// Bit for bit, but for the approximate functions, which have the error that the manual allows.
fn agrees(name: &str, actual: &[u64], expected: &[u64]) -> bool {
    if name == "atom.global.add.f64" && expected.iter().any(|&bits| f64::from_bits(bits).is_nan()) {
        // The memory system leaves a signalling NaN as it is; which NaN comes out is not documented.
        return f64::from_bits(actual[0]).is_nan() && actual[1] == expected[1];
    }
    actual == expected || actual.iter().zip(expected).all(|(&a, &b)| is_close(name, a, b))
}

/// Whether two results of an approximate function are as close as the manual says (with one result's error on each
/// side). Halves in pairs are compared one by one.
fn is_close(name: &str, actual: u64, expected: u64) -> bool {
    let opcode = name.split('.').next().unwrap();
    let single = |bits: u64| f64::from(f32::from_bits(bits as u32));
    let half = |bits: u64| f64::from(half::f16::from_bits(bits as u16));
    let brain = |bits: u64| f64::from(half::bf16::from_bits(bits as u16));
    let (values, relative, absolute): (Vec<(f64, f64)>, f64, f64) = if name.ends_with("bf16x2") {
        let pairs = vec![(brain(actual), brain(expected)), (brain(actual >> 16), brain(expected >> 16))];
        (pairs, 2f64.powi(-7), 0.0)
    } else if name.ends_with("f16x2") {
        let pairs = vec![(half(actual), half(expected)), (half(actual >> 16), half(expected >> 16))];
        (pairs, 2f64.powf(-9.9), 2f64.powi(-24))
    } else if name.ends_with("bf16") {
        (vec![(brain(actual), brain(expected))], 2f64.powi(-7), 0.0)
    } else if name.ends_with("f16") {
        (vec![(half(actual), half(expected))], 2f64.powf(-9.9), 2f64.powi(-24))
    } else if name.ends_with("f64") {
        let relative = if name.contains("ftz") { 2f64.powi(-19) } else { 2f64.powi(-51) };
        (vec![(f64::from_bits(actual), f64::from_bits(expected))], relative, 0.0)
    } else {
        let (relative, absolute) = match opcode {
            "tanh" => (2f64.powi(-10), 0.0),
            "sin" | "cos" => (0.0, 2f64.powf(-19.5)),
            "lg2" => (2f64.powi(-21), 2f64.powi(-21)),
            _ => (2f64.powi(-21), 2f64.powi(-149)),
        };
        (vec![(single(actual), single(expected))], relative, absolute)
    };
    let approximate = name.contains(".approx") || name.contains(".full");
    approximate
        && values.iter().all(|&(a, b)| {
            a.to_bits() == b.to_bits()
                || (a - b).abs() <= absolute.max(relative * b.abs())
                    && a.is_sign_negative() == b.is_sign_negative()
        })
}

#[test]
fn results_are_those_of_the_hardware() {
    let recorded = include_str!("../../../tests/isa/h200.txt");
    let mut wrong = Vec::new();
    for line in recorded.lines() {
        let mut words = line.split(' ');
        let name = words.next().unwrap();
        let expected: Vec<Vec<u64>> = words
            .map(|w| w.split(',').map(|bits| u64::from_str_radix(bits, 16).unwrap()).collect())
            .collect();
        for (round, expected) in expected.chunks(32).enumerate() {
            let (sources, results) = execute(name, round);
            let lanes = sources.iter().zip(&results).zip(expected);
            wrong.extend(lanes.filter(|((_, actual), expected)| !agrees(name, actual, expected)).map(
                |((sources, actual), expected)| {
                    format!("`{name}` of {sources:x?} is {actual:x?}, on hardware {expected:x?}")
                },
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} results differ; the first ones:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(20)].join("\n")
    );
}

/// Runs what one recorded line is about: the sources, and the results.
fn execute(name: &str, round: usize) -> (Vec<Vec<u64>>, Vec<Vec<u64>>) {
    if name.starts_with("mma") {
        let mma = matrix(name);
        let sources = matrix_lanes(name, &mma, round);
        let results = run_matrix(&mma, &sources);
        return (sources, results);
    }
    let mut inputs = Inputs::for_name(name);
    if name.starts_with("atom") {
        let sources = atomic_lanes(name, &mut inputs);
        let results = run_atomic(name, &sources);
        return (sources, results);
    }
    let alu = instruction(name);
    let sources = inputs.lanes(&alu);
    let results = run_variant(&alu, alu.select(), immediate(name, &alu), &sources);
    (sources, results)
}

/// The old value and two operands for each lane.
fn atomic_lanes(name: &str, inputs: &mut Inputs) -> Vec<Vec<u64>> {
    let kind = atomic_kind(name);
    (0..32).map(|_| (0..3).map(|_| inputs.value(kind)).collect()).collect()
}

/// What `atom` leaves in memory, and what it returns.
fn run_atomic(name: &str, sources: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let parts: Vec<&str> = name.split('.').collect();
    let (operation, ty) = (parts[2], *parts.last().unwrap());
    let operation = if name == "atom.global.add.f32" { "add.ftz" } else { operation };
    let function = crate::isa::atomic(operation, ty).unwrap_or_else(|| panic!("no instruction `{name}`"));
    sources.iter().map(|lane| vec![function(lane[0], lane[1], lane[2]), lane[0]]).collect()
}

/// Runs `mma` on the registers of all lanes.
fn run_matrix(mma: &Multiply, sources: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let mut registers = Registers {
        word: vec![[0; 32]; 16],
        wide: vec![[0; 32]; 16],
        pred: vec![0; 1],
        ..Default::default()
    };
    for (lane, values) in sources.iter().enumerate() {
        for (slot, &bits) in values.iter().enumerate() {
            registers.word[slot][lane] = bits as u32;
            registers.wide[slot][lane] = bits;
        }
    }
    let [d, a, b, c] = mma.fragments;
    let index: Vec<u16> = (0..16).collect();
    let (to_b, to_c, to_d) = (a.registers, a.registers + b.registers, 12);
    let slots = [
        &index[to_d..to_d + d.registers],
        &index[..to_b],
        &index[to_b..to_c],
        &index[to_c..to_c + c.registers],
    ];
    mma.run(&mut registers, slots);
    (0..32)
        .map(|lane| {
            let read = |slot: usize| match d.kind.class() {
                RegisterFile::Wide => registers.wide[slot][lane],
                _ => u64::from(registers.word[slot][lane]),
            };
            (to_d..to_d + d.registers).map(read).collect()
        })
        .collect()
}
