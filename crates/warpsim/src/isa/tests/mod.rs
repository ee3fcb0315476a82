//! The register instructions against values from the manual, independent computation, and recorded hardware.

use crate::alu::{Alu, AluFn};
use crate::registers::{FULL, Kind, Operands, RegisterFile, Registers};

mod compare;
mod float;
mod hardware;
mod integer;
mod lookup;
mod narrow;

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
                RegisterFile::Pred => registers.pred[slot] |= u32::from(bits & 1 != 0) << lane,
                RegisterFile::Word => registers.word[slot][lane] = bits as u32,
                RegisterFile::Wide => registers.wide[slot][lane] = bits,
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
            let read = |&(class, index): &(RegisterFile, usize)| match class {
                RegisterFile::Pred => u64::from(registers.pred[index] >> lane & 1),
                RegisterFile::Word => u64::from(registers.word[index][lane]),
                RegisterFile::Wide => registers.wide[index][lane],
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
    /// Inputs that depend on nothing but the instruction.
    fn for_name(name: &str) -> Inputs {
        // FNV-1a.
        Inputs(name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        }))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn pick(&mut self, values: &[u64]) -> u64 {
        values[self.next() as usize % values.len()]
    }

    /// A value of this kind: from the corners of the type, from a range where results are interesting, or any.
    fn value(&mut self, kind: Kind) -> u64 {
        let class = self.next() % 8;
        let random = self.next();
        match (kind, class) {
            (Kind::Pred, _) => random & 1,
            (Kind::Bits(8), 0..3) => self.pick(&[0, 1, 0x7f, 0x80, 0xff]),
            (Kind::Bits(16), 0..3) => self.pick(CORNERS_16),
            (Kind::Bits(32), 0..3) => self.pick(CORNERS_32),
            (Kind::Bits(64), 0..3) => self.pick(CORNERS_64),
            (Kind::F32, 0..3) => self.pick(CORNERS_F32),
            (Kind::F64, 0..3) => self.pick(CORNERS_F64),
            // Shift amounts, positions, small divisors.
            (Kind::Bits(32 | 64), 3) => random % 72,
            // Near 1 and each other, so that sums cancel and quotients round.
            (Kind::F32, 3..6) => random & 0x80ff_ffff | 0x3f00_0000,
            (Kind::F64, 3..6) => random & 0x801f_ffff_ffff_ffff | 0x3fe0_0000_0000_0000,
            // The range of integers.
            (Kind::F32, 6) => random & 0x9fff_ffff | 0x4000_0000,
            (Kind::F64, 6) => random & 0x83ff_ffff_ffff_ffff | 0x4000_0000_0000_0000,
            (Kind::F32, _) => random & 0xffff_ffff,
            (Kind::F64, _) => random,
            (Kind::Bits(bits), _) => random & (u64::MAX >> (64 - u32::from(bits))),
        }
    }

    /// 32 lanes of sources for an instruction.
    fn lanes(&mut self, alu: &Alu) -> Vec<Vec<u64>> {
        (0..32).map(|_| alu.signature.src.iter().flatten().map(|&kind| self.value(kind)).collect()).collect()
    }
}

const CORNERS_32: &[u64] = &[
    0,
    1,
    2,
    31,
    32,
    33,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x0000_ffff,
    0x8000_7fff,
    0x7c00_3c00,
    0xfc01_03ff,
];

const CORNERS_64: &[u64] = &[
    0,
    1,
    63,
    64,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    u64::MAX,
    0xffff_ffff,
    0x8000_0000,
    0x40_0000_0000_0001,
];

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
