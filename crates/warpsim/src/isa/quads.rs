//! `mma.m8n8k4` of halves: each of the four quad pairs of a warp (lanes 4q to 4q+3 and 4q+16 to 4q+19) multiplies
//! matrices of its own.
//!
//! Lane `l` has place `p = l % 4`, and is in the lower half `h = 0` (lanes below 16) or the upper one `h = 1`. Element `i`
//! of its fragment is (PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f16 floating point type"):
//!
//! | matrix | row | column |
//! |---|---|---|
//! | A `.row` | `p + 4h` | `i` |
//! | A `.col` | `i % 4 + 4h` | `p` |
//! | B `.row` | `p` | `i + 4h` |
//! | B `.col` | `i` | `p + 4h` |
//! | C and D in f16 | `p + 4h` | `i` |
//! | C and D in f32 | `p % 2 + i & 2 + 4h` | `i & 4 + p & 2 + i & 1` |

use super::form::Rounding;
use super::half::{part, round_to, widen};
use super::matrix::{Fragment, aligned_sum};
use super::round::{F16, single};
use crate::registers::{Kind, Registers};

/// One form of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quads {
    a_by_columns: bool,
    b_by_columns: bool,
    c_is_single: bool,
    d_is_single: bool,
}

const PLACES: usize = 4;

impl Quads {
    /// The form with these modifiers, as in `mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32`.
    pub(super) fn find(modifiers: &[&str]) -> Option<Quads> {
        let &["sync", "aligned", "m8n8k4", a, b, d, "f16", "f16", c] = modifiers else { return None };
        let by_columns = |layout| match layout {
            "row" => Some(false),
            "col" => Some(true),
            _ => None,
        };
        let is_single = |ty| match ty {
            "f16" => Some(false),
            "f32" => Some(true),
            _ => None,
        };
        Some(Quads {
            a_by_columns: by_columns(a)?,
            b_by_columns: by_columns(b)?,
            c_is_single: is_single(c)?,
            d_is_single: is_single(d)?,
        })
    }

    /// The fragments of D, A, B and C.
    pub(super) fn fragments(self) -> [Fragment; 4] {
        let halves = Fragment { kind: Kind::Bits(32), registers: 2 };
        let accumulator = |is_single| match is_single {
            true => Fragment { kind: Kind::F32, registers: 8 },
            false => Fragment { kind: Kind::Bits(32), registers: 4 },
        };
        [accumulator(self.d_is_single), halves, halves, accumulator(self.c_is_single)]
    }

    /// D = A B + C in every quad pair.
    pub(super) fn run(self, registers: &mut Registers, [d, a, b, c]: [&[u16]; 4]) {
        let half = |regs: &[u16], lane: usize, i: usize| {
            f64::from(widen(F16, part(registers.word(regs[i / 2])[lane], (i % 2) as u32)))
        };
        // By quad pair, row and column.
        let mut results = [[[0.0; 8]; 8]; PLACES];
        for (quad, result) in results.iter_mut().enumerate() {
            let (mut left, mut right) = ([[0.0; 4]; 8], [[0.0; 4]; 8]);
            for (lane, place, upper) in lanes(quad) {
                for i in 0..4 {
                    let (row, k) =
                        if self.a_by_columns { (i + 4 * upper, place) } else { (place + 4 * upper, i) };
                    left[row][k] = half(a, lane, i);
                    let (k, column) =
                        if self.b_by_columns { (i, place + 4 * upper) } else { (place, i + 4 * upper) };
                    right[column][k] = half(b, lane, i);
                }
            }
            for (lane, place, upper) in lanes(quad) {
                for i in 0..8 {
                    let (row, column) = accumulated(self.c_is_single, place, upper, i);
                    let start = match self.c_is_single {
                        true => f64::from(f32::from_bits(registers.word(c[i])[lane])),
                        false => half(c, lane, i),
                    };
                    result[row][column] = aligned_sum(start, left[row].iter().zip(&right[column]));
                }
            }
        }
        let mut out = vec![[0u32; 32]; d.len()];
        for (quad, result) in results.iter().enumerate() {
            for (lane, place, upper) in lanes(quad) {
                for i in 0..8 {
                    let (row, column) = accumulated(self.d_is_single, place, upper, i);
                    let value = result[row][column];
                    if self.d_is_single {
                        out[i][lane] = single(value, Rounding::Zero).to_bits();
                    } else {
                        let bits = u32::from(round_to(F16, value, Rounding::Nearest));
                        out[i / 2][lane] |= bits << (16 * (i % 2));
                    }
                }
            }
        }
        for (&register, lanes) in d.iter().zip(&out) {
            registers.set_word(register, lanes, u32::MAX);
        }
    }
}

/// The lanes of a quad pair: their number, place and half.
fn lanes(quad: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..2).flat_map(move |upper| (0..PLACES).map(move |place| (4 * quad + place + 16 * upper, place, upper)))
}

/// Row and column of element `i` of C or D.
fn accumulated(is_single: bool, place: usize, upper: usize, i: usize) -> (usize, usize) {
    if is_single {
        ((place & 1) + (i & 2) + 4 * upper, (i & 4) + (place & 2) + (i & 1))
    } else {
        (place + 4 * upper, i)
    }
}
