//! `mma.sync`: a warp multiplies two small matrices, whose elements lie spread over its lanes.
//!
//! Every shape follows one scheme. Lane `l` belongs to group `g = l / 4` and has place `t = l % 4` in it; a register
//! holds `n` neighbouring elements of a row of A or a column of B. Then, of register `r` and element `e`:
//!
//! | matrix | row | column |
//! |---|---|---|
//! | A, M x K | `g + 8 (r % 2)` (M = 16) or `g` | `n t + e + 4n (r / 2)` (M = 16) or `n t + e` |
//! | B, K x N | `n t + e + 4n r` | `g` |
//! | C and D in 32 or 64 bits | `g + 8 (r / 2)` | `2t + r % 2` |
//! | C and D in f16, pairs | `g + 8 r` | `2t + e` |
//!
//! (PTX ISA, "Matrix Fragments for mma".)
//!
//! The manual leaves open how products are summed. What tensor cores were seen to do, and this does: all products of a
//! dot product and `c` are aligned to the largest exponent among them and cut [`EXTRA_BITS`] bits below the precision of
//! a single; the sum of what is left is exact, and cut to a single (Fasi, Higham, Mikaitis and Pranesh, "Numerical
//! behavior of NVIDIA tensor cores", 2021). An f16 result is rounded to nearest. Double precision is a chain of fused
//! multiply-adds in order of `k`. Integers wrap, or are clamped with `.satfinite`.

use super::float::canon_f64;
use super::form::Rounding;
use super::half::{part, round_to, widen};
use super::round::{BF16, F16, single};
use crate::registers::{Kind, Registers};

/// The type of the elements of A or B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    F16,
    Bf16,
    Tf32,
    F64,
    /// Integers of this many bits.
    Integer {
        bits: u32,
        signed: bool,
    },
    /// Single bits.
    Bit,
}

impl Element {
    pub(super) fn of(modifier: &str) -> Option<Element> {
        Some(match modifier {
            "f16" => Element::F16,
            "bf16" => Element::Bf16,
            "tf32" => Element::Tf32,
            "f64" => Element::F64,
            "u8" => Element::Integer { bits: 8, signed: false },
            "s8" => Element::Integer { bits: 8, signed: true },
            "u4" => Element::Integer { bits: 4, signed: false },
            "s4" => Element::Integer { bits: 4, signed: true },
            "b1" => Element::Bit,
            _ => return None,
        })
    }

    /// How many share a register.
    pub(super) fn per_register(self) -> usize {
        match self {
            Element::F16 | Element::Bf16 => 2,
            Element::Tf32 | Element::F64 => 1,
            Element::Integer { bits, .. } => 32 / bits as usize,
            Element::Bit => 32,
        }
    }

    /// Element `e` of a register.
    fn value(self, bits: u32, e: usize) -> f64 {
        match self {
            Element::F16 => f64::from(widen(F16, part(bits, e as u32))),
            Element::Bf16 => f64::from(widen(BF16, part(bits, e as u32))),
            // The lower bits of a single are not looked at.
            Element::Tf32 => f64::from(f32::from_bits(bits & !0x1fff)),
            Element::Integer { bits: width, signed } => {
                let field = bits << (32 - width * (e as u32 + 1));
                let value =
                    if signed { field as i32 >> (32 - width) } else { (field >> (32 - width)) as i32 };
                f64::from(value)
            }
            Element::Bit => f64::from(bits >> e & 1),
            Element::F64 => 0.0,
        }
    }
}

/// How C and D are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Accumulator {
    F16,
    F32,
    F64,
    S32,
}

/// How many registers a fragment takes, and of what kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fragment {
    pub(crate) kind: Kind,
    pub(crate) registers: usize,
}

/// One form of `mma.sync`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mma {
    /// M: 8 or 16. N is always 8.
    pub(super) rows: usize,
    /// K.
    pub(super) depth: usize,
    pub(super) a: Element,
    pub(super) b: Element,
    pub(super) c: Accumulator,
    pub(super) d: Accumulator,
    pub(super) saturate: bool,
    /// For single bits: exclusive or rather than and.
    pub(super) exclusive: bool,
}

impl Accumulator {
    pub(super) fn of(modifier: &str) -> Option<Accumulator> {
        match modifier {
            "f16" => Some(Accumulator::F16),
            "f32" => Some(Accumulator::F32),
            "f64" => Some(Accumulator::F64),
            "s32" => Some(Accumulator::S32),
            _ => None,
        }
    }
}

/// By how many bits the addends of a dot product are more precise than its result. 2 makes every recorded result of
/// compute capability 9.0 come out to the last bit.
const EXTRA_BITS: i32 = 2;

const COLUMNS: usize = 8;
/// The result by row and column, before it is rounded.
pub(super) type Product = [[f64; COLUMNS]; 16];
/// The largest K.
const DEPTH: usize = 256;

impl Mma {
    /// The form with these modifiers, as in `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32`.
    pub(crate) fn find(modifiers: &[&str]) -> Option<Mma> {
        let has = |name: &str| modifiers.contains(&name);
        let (rows, depth) = modifiers.iter().find_map(|m| {
            let (rows, depth) = m.strip_prefix('m')?.split_once("n8k")?;
            Some((rows.parse().ok()?, depth.parse().ok()?))
        })?;
        let types: Vec<&str> = modifiers
            .iter()
            .copied()
            .filter(|&m| Element::of(m).is_some() || matches!(m, "f32" | "s32"))
            .collect();
        let &[d, a, b, c] = types.as_slice() else { return None };
        let mma = Mma {
            rows,
            depth,
            a: Element::of(a)?,
            b: Element::of(b)?,
            c: Accumulator::of(c)?,
            d: Accumulator::of(d)?,
            saturate: has("satfinite"),
            exclusive: has("xor"),
        };
        let known = ["sync", "aligned", "row", "col", "satfinite", "xor", "and", "popc", "rn"];
        let shape = format!("m{rows}n8k{depth}");
        let understood = modifiers.iter().all(|m| known.contains(m) || types.contains(m) || **m == shape);
        (has("sync") && has("row") && has("col") && understood && mma.is_legal()).then_some(mma)
    }

    fn is_legal(self) -> bool {
        let unit = 4 * self.a.per_register();
        let shape = match self.rows {
            16 => self.depth == unit || self.depth == 2 * unit,
            8 => self.depth == unit && !matches!(self.a, Element::F16 | Element::Bf16 | Element::Tf32),
            _ => false,
        };
        let types = match (self.a, self.b) {
            (Element::F16, Element::F16) => {
                matches!(self.c, Accumulator::F16 | Accumulator::F32)
                    && matches!(self.d, Accumulator::F16 | Accumulator::F32)
            }
            (Element::Bf16, Element::Bf16) | (Element::Tf32, Element::Tf32) => {
                self.c == Accumulator::F32 && self.d == Accumulator::F32
            }
            (Element::F64, Element::F64) => {
                self.c == Accumulator::F64 && self.d == Accumulator::F64 && self.rows == 8
            }
            (Element::Integer { bits: x, .. }, Element::Integer { bits: y, .. }) => {
                x == y && self.c == Accumulator::S32 && self.d == Accumulator::S32
            }
            (Element::Bit, Element::Bit) => self.c == Accumulator::S32 && self.d == Accumulator::S32,
            _ => false,
        };
        shape && types
    }

    /// The fragments of D, A, B and C.
    pub(crate) fn fragments(self) -> [Fragment; 4] {
        let blocks = self.depth / (4 * self.a.per_register());
        let kind = if self.a == Element::F64 { Kind::F64 } else { Kind::Bits(32) };
        let half_rows = self.rows / 8;
        let accumulator = |held| match held {
            Accumulator::F16 => Fragment { kind: Kind::Bits(32), registers: half_rows },
            Accumulator::F32 => Fragment { kind: Kind::F32, registers: 2 * half_rows },
            Accumulator::S32 => Fragment { kind: Kind::Bits(32), registers: 2 * half_rows },
            Accumulator::F64 => Fragment { kind: Kind::F64, registers: 2 * half_rows },
        };
        [
            accumulator(self.d),
            Fragment { kind, registers: half_rows * blocks },
            Fragment { kind, registers: blocks },
            accumulator(self.c),
        ]
    }

    /// A B + C, for a whole warp. The arguments are the registers of each fragment.
    pub(super) fn product(self, registers: &Registers, [a, b, c]: [&[u16]; 3]) -> Product {
        let mut left = [[0.0; DEPTH]; 16];
        let mut right = [[0.0; DEPTH]; COLUMNS];
        let per = self.a.per_register();
        let half_rows = self.rows / 8;
        for lane in 0..32 {
            let (group, place) = (lane / 4, lane % 4);
            for (r, &register) in a.iter().enumerate() {
                let row = &mut left[group + 8 * (r % half_rows)];
                let first = per * place + 4 * per * (r / half_rows);
                for e in 0..per {
                    row[first + e] = self.element(registers, self.a, register, lane, e);
                }
            }
            for (r, &register) in b.iter().enumerate() {
                for e in 0..per {
                    right[group][per * place + e + 4 * per * r] =
                        self.element(registers, self.b, register, lane, e);
                }
            }
        }
        let mut result = [[0.0; COLUMNS]; 16];
        for lane in 0..32 {
            let (group, place) = (lane / 4, lane % 4);
            for half_row in 0..half_rows {
                for e in 0..2 {
                    let (row, column) = (group + 8 * half_row, 2 * place + e);
                    let start = match self.c {
                        Accumulator::F16 => {
                            f64::from(widen(F16, part(registers.word(c[half_row])[lane], e as u32)))
                        }
                        Accumulator::F32 => {
                            f64::from(f32::from_bits(registers.word(c[2 * half_row + e])[lane]))
                        }
                        Accumulator::S32 => f64::from(registers.word(c[2 * half_row + e])[lane] as i32),
                        Accumulator::F64 => f64::from_bits(registers.wide(c[2 * half_row + e])[lane]),
                    };
                    result[row][column] = self.dot(&left[row], &right[column], start);
                }
            }
        }
        result
    }

    fn element(self, registers: &Registers, element: Element, register: u16, lane: usize, e: usize) -> f64 {
        if element == Element::F64 {
            return f64::from_bits(registers.wide(register)[lane]);
        }
        element.value(registers.word(register)[lane], e)
    }

    fn dot(self, row: &[f64; DEPTH], column: &[f64; DEPTH], start: f64) -> f64 {
        let pairs = row[..self.depth].iter().zip(&column[..self.depth]);
        match (self.a, self.exclusive) {
            (Element::Bit, true) => pairs.fold(start, |sum, (a, b)| sum + (a - b).abs()),
            (Element::F64, _) => pairs.fold(start, |sum, (a, b)| a.mul_add(*b, sum)),
            (Element::Integer { .. } | Element::Bit, _) => pairs.fold(start, |sum, (a, b)| sum + a * b),
            _ => aligned_sum(start, pairs),
        }
    }

    /// Puts a product into the registers of D.
    pub(super) fn write(self, registers: &mut Registers, d: &[u16], result: &Product) {
        for half_row in 0..self.rows / 8 {
            let value = |lane: usize, e: usize| result[lane / 4 + 8 * half_row][2 * (lane % 4) + e];
            if self.d == Accumulator::F16 {
                let half = |lane, e| u32::from(round_to(F16, value(lane, e), Rounding::Nearest));
                let pairs = std::array::from_fn(|lane| half(lane, 0) | half(lane, 1) << 16);
                registers.set_word(d[half_row], &pairs, u32::MAX);
                continue;
            }
            for e in 0..2 {
                let register = d[2 * half_row + e];
                match self.d {
                    Accumulator::F64 => {
                        let lanes = std::array::from_fn(|lane| canon_f64(value(lane, e)).to_bits());
                        registers.set_wide(register, &lanes, u32::MAX);
                    }
                    Accumulator::S32 => {
                        let lanes = std::array::from_fn(|lane| self.integer(value(lane, e)));
                        registers.set_word(register, &lanes, u32::MAX);
                    }
                    _ => {
                        let lanes =
                            std::array::from_fn(|lane| single(value(lane, e), Rounding::Zero).to_bits());
                        registers.set_word(register, &lanes, u32::MAX);
                    }
                }
            }
        }
    }

    /// Sums of integers stay below 2^53: exact.
    fn integer(self, sum: f64) -> u32 {
        if self.saturate { sum as i32 as u32 } else { sum as i64 as u32 }
    }
}

/// The sum of `start` and the products, each cut below the precision of the largest.
pub(super) fn aligned_sum<'a>(start: f64, pairs: impl Iterator<Item = (&'a f64, &'a f64)> + Clone) -> f64 {
    // The exponent of a product is that of its factors: its significand may reach 4.
    let largest = pairs.clone().fold(exponent(start), |largest, (a, b)| {
        if a * b == 0.0 { largest } else { largest.max(exponent(*a) + exponent(*b)) }
    });
    let unit = power_of_two((largest - 23 - EXTRA_BITS).clamp(-1000, 1000));
    let cut = |x: f64| if x.is_finite() { (x / unit).trunc() * unit } else { x };
    pairs.fold(cut(start), |sum, (a, b)| sum + cut(a * b))
}

/// The exponent of a finite number, as the base 2 logarithm rounded down; of 0 less than any other.
fn exponent(x: f64) -> i32 {
    (x.to_bits() >> 52 & 0x7ff) as i32 - 1023
}

/// 2^`n`, for a normal result.
fn power_of_two(n: i32) -> f64 {
    f64::from_bits(((n + 1023) as u64) << 52)
}
