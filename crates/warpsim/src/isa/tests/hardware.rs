//! Register instructions against results recorded on an H200.
//!
//! `tests/isa/h200.txt` has one line per instruction: its name, then the destinations' bits of 32 lanes, whose
//! sources [`Inputs`] makes from the name. `tests/isa/record.py` records it; it reads what [`list`] prints.

use super::*;
use crate::isa::{Mma, forms};

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
        let width = if kind.class() == Class::Wide {
            "d"
        } else if kind == Kind::Bits(16) {
            "h"
        } else {
            "w"
        };
        let lanes: Vec<String> = (0..32 * rounds)
            .map(|_| (0..3).map(|_| format!("{:x}", inputs.value(kind))).collect::<Vec<_>>().join(","))
            .collect();
        println!("@ {name} 0 {} {} {}", width.repeat(2), width.repeat(3), lanes.join(" "));
    }
    for name in MATRIX {
        let mma = matrix(name);
        let [d, a, b, c] = mma.fragments();
        let counts = d.registers | a.registers << 4 | b.registers << 8 | c.registers << 12;
        let letter = if d.kind == Kind::F64 { "d" } else { "w" };
        let lanes: Vec<String> = (0..rounds)
            .flat_map(|round| matrix_lanes(name, mma, round))
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
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16",
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

fn matrix(name: &str) -> Mma {
    let modifiers: Vec<&str> = name.split('.').skip(1).collect();
    Mma::find(&modifiers).unwrap_or_else(|| panic!("no instruction `{name}`"))
}

/// The registers of A, B and C of each lane. In even rounds floating-point elements are small integers, so that every
/// order of summation gives the same; in odd ones they are between -2 and 2.
fn matrix_lanes(name: &str, mma: Mma, round: usize) -> Vec<Vec<u64>> {
    let mut inputs = Inputs::for_name(&format!("{name} {round}"));
    let types: Vec<&str> =
        name.split('.').skip(6).filter(|t| !matches!(*t, "satfinite" | "xor" | "and" | "popc")).collect();
    let [_, a, b, c] = mma.fragments();
    let slots = [(types[1], a), (types[2], b), (types[3], c)];
    let integer = round % 2 == 0;
    (0..32)
        .map(|_| {
            slots
                .iter()
                .flat_map(|&(ty, fragment)| std::iter::repeat_n(ty, fragment.registers))
                .map(|ty| matrix_value(ty, integer, &mut inputs))
                .collect()
        })
        .collect()
}

fn matrix_value(ty: &str, integer: bool, inputs: &mut Inputs) -> u64 {
    let bits = inputs.next();
    let small = |bits: u64| (bits % 17) as f64 - 8.0;
    let half = |bits: u64| -> u64 {
        if integer { u64::from(half::f16::from_f64(small(bits)).to_bits()) } else { bits & 0x83ff | 0x3800 }
    };
    let brain = |bits: u64| -> u64 {
        if integer { u64::from(half::bf16::from_f64(small(bits)).to_bits()) } else { bits & 0x80ff | 0x3f00 }
    };
    match ty {
        "f16" => half(bits) | half(bits >> 20) << 16,
        "bf16" => brain(bits) | brain(bits >> 20) << 16,
        "tf32" | "f32" if integer => u64::from((small(bits) as f32).to_bits()),
        "tf32" | "f32" => bits & 0x80ff_ffff | 0x3f00_0000,
        "f64" if integer => small(bits).to_bits(),
        "f64" => bits & 0x801f_ffff_ffff_ffff | 0x3fe0_0000_0000_0000,
        _ => bits & 0xffff_ffff,
    }
}
