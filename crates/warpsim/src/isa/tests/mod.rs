//! The register instructions against values from the manual, independent computation, and recorded hardware.

use crate::alu::{Alu, AluFn};
use crate::registers::{Class, FULL, Kind, Operands, Registers};

mod integer;
mod lookup;

/// The instruction of this name, or a panic that names it.
fn instruction(name: &str) -> Alu {
    let mut parts = name.split('.');
    let opcode = parts.next().unwrap();
    let modifiers: Vec<&str> = parts.collect();
    super::find(opcode, &modifiers).unwrap_or_else(|| panic!("no instruction `{name}`"))
}

/// All variants of an instruction that this CPU can run.
fn variants(alu: &Alu) -> Vec<AluFn> {
    let mut variants = vec![alu.portable];
    #[cfg(target_arch = "x86_64")]
    if crate::alu::has_avx2() {
        variants.push(alu.avx2);
    }
    variants
}

/// Runs an instruction on up to 32 lanes of sources (bits), and returns the bits of each destination.
fn run_variant(alu: &Alu, variant: AluFn, imm: u32, lanes: &[Vec<u64>]) -> Vec<Vec<u64>> {
    assert!(lanes.len() <= 32);
    let signature = alu.signature;
    let mut registers =
        Registers { pred: vec![0; 8], word: vec![[0; 32]; 8], wide: vec![[0; 32]; 8], ..Default::default() };
    let mut operands = Operands { imm, ..Default::default() };
    for (slot, kind) in signature.src.iter().enumerate() {
        let Some(kind) = kind else { break };
        operands.src[slot] = slot as u16;
        for (lane, sources) in lanes.iter().enumerate() {
            let bits = sources[slot];
            match kind.class() {
                Class::Pred => registers.pred[slot] |= u32::from(bits & 1 != 0) << lane,
                Class::Word => registers.word[slot][lane] = bits as u32,
                Class::Wide => registers.wide[slot][lane] = bits,
            }
        }
    }
    let mut destinations = Vec::new();
    for (slot, kind) in signature.dst.iter().enumerate() {
        let Some(kind) = kind else { break };
        operands.dst[slot] = 6 + slot as u16;
        destinations.push((kind.class(), 6 + slot));
    }
    // SAFETY: `variants` gives only what this CPU can run.
    unsafe { variant(&mut registers, &operands, FULL) };
    (0..lanes.len())
        .map(|lane| {
            let read = |&(class, index): &(Class, usize)| match class {
                Class::Pred => u64::from(registers.pred[index] >> lane & 1),
                Class::Word => u64::from(registers.word[index][lane]),
                Class::Wide => registers.wide[index][lane],
            };
            destinations.iter().map(read).collect()
        })
        .collect()
}

/// Runs an instruction on one lane, in every variant, which must agree.
fn run(name: &str, sources: &[u64]) -> Vec<u64> {
    let alu = instruction(name);
    run_with(name, &alu, alu.imm, sources)
}

fn run_with(name: &str, alu: &Alu, imm: u32, sources: &[u64]) -> Vec<u64> {
    let expected_sources = alu.signature.src.iter().flatten().count();
    assert_eq!(sources.len(), expected_sources, "sources of `{name}`");
    let mut results =
        variants(alu).into_iter().map(|variant| run_variant(alu, variant, imm, &[sources.to_vec()]));
    let first = results.next().unwrap().remove(0);
    for mut other in results {
        assert_eq!(first, other.remove(0), "`{name}` of {sources:x?} differs between CPUs");
    }
    first
}

/// Checks one result.
#[track_caller]
fn check(name: &str, sources: &[u64], expected: &[u64]) {
    let actual = run(name, sources);
    assert_eq!(actual, expected, "`{name}` of {sources:x?} is {actual:x?}, not {expected:x?}");
}

/// A small generator for inputs that mix special values and random ones: SplitMix64.
struct Inputs(u64);

impl Inputs {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A value of this kind: half of them from the corners of the type.
    fn value(&mut self, kind: Kind) -> u64 {
        let corner = self.next() % 2 == 0;
        let pick = |inputs: &mut Inputs, corners: &[u64]| corners[inputs.next() as usize % corners.len()];
        match kind {
            Kind::Pred => self.next() & 1,
            Kind::Bits(8) if corner => pick(self, &[0, 1, 0x7f, 0x80, 0xff]),
            Kind::Bits(16) if corner => pick(self, CORNERS_16),
            Kind::Bits(32) if corner => {
                pick(self, &[0, 1, 2, 31, 32, 33, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff])
            }
            Kind::Bits(64) if corner => {
                pick(self, &[0, 1, 63, 64, 0x7fff_ffff_ffff_ffff, 0x8000_0000_0000_0000, u64::MAX])
            }
            Kind::F32 if corner => pick(self, CORNERS_F32),
            Kind::F64 if corner => pick(self, CORNERS_F64),
            // Floating-point numbers near each other, so that sums cancel and quotients round.
            Kind::F32 => self.next() & 0x8fff_ffff | 0x3800_0000,
            Kind::F64 => self.next() & 0x80ff_ffff_ffff_ffff | 0x3f00_0000_0000_0000,
            Kind::Bits(bits) => self.next() & (u64::MAX >> (64 - u32::from(bits))),
        }
    }
}

/// Corners of integers and of both half-precision formats.
const CORNERS_16: &[u64] = &[
    0, 1, 0x7fff, 0x8000, 0xffff, 0x3c00, 0xbc00, 0x3f80, 0xbf80, 0x7c00, 0xfc00, 0x7f80, 0xff80, 0x7e00,
    0x7fc0, 0x03ff, 0x0400, 0x007f, 0x0080, 0x8001, 0x3800, 0x3800, 0x7bff, 0x7f7f,
];

const CORNERS_F32: &[u64] = &[
    0,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0xffc1_2345,
    0x7f80_0001,
    1,
    0x8000_0001,
    0x007f_ffff,
    0x0080_0000,
    0x8080_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x3f00_0000,
    0x4b00_0000,
    0x4f00_0000,
    0xcf00_0001,
    0x5f00_0000,
    0x3f7f_ffff,
    0x3f80_0001,
    0x3fc0_0000,
];

const CORNERS_F64: &[u64] = &[
    0,
    1 << 63,
    0x3ff0_0000_0000_0000,
    0xbff0_0000_0000_0000,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0xfff8_1234_5678_9abc,
    0x7ff0_0000_0000_0001,
    1,
    0x000f_ffff_ffff_ffff,
    0x0010_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
    0x41df_ffff_ffc0_0000,
    0x41e0_0000_0000_0000,
    0x43e0_0000_0000_0000,
    0x36a0_0000_0000_0000,
    0x3810_0000_0000_0000,
];
