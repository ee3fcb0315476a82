//! `wmma`: matrices that a warp loads, multiplies and stores as a whole.
//!
//! Which lane holds which element is left open by the manual; programs may only rely on fragments of one kind having
//! one layout. Here it is that of `mma.sync` ([`super::matrix`]), of which NVIDIA's own devices of compute capability 8.0
//! and later make these instructions too: A is cut into blocks of 8 rows, B and C into blocks of 8 columns, and a
//! register holds a lane's share of one block. Fragments of halves have room for 16 elements a lane; where the matrix
//! has fewer, blocks repeat.
//!
//! To load or store, each lane takes pieces of 4 bytes (8 and 16 of C and D in 32 and 64 bits) that are contiguous in
//! memory, eight rows of four pieces at a time.

use super::matrix::{Accumulator, Element, Fragment, Mma};
use crate::registers::Kind;

/// One operand of a `wmma` instruction: how it lies in memory and in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tile {
    /// Rows of A, C and D; columns of B. A multiple of 8.
    across: usize,
    /// K of A and B; columns of C and D.
    along: usize,
    /// Bits per element.
    bits: usize,
    per_register: usize,
    pub(crate) fragment: Fragment,
    /// A row of A, C or D, a column of B is contiguous in memory.
    is_contiguous: bool,
    role: Role,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    A,
    B,
    /// C and D.
    C,
}

/// M, N and K.
type Shape = [usize; 3];

/// The most bytes that a tile has.
pub(crate) const TILE_BYTES: usize = 1024;

impl Tile {
    /// The operand of `wmma.load` or `wmma.store` with these modifiers, as in
    /// `wmma.load.a.sync.aligned.row.m16n16k16.global.f16`.
    pub(crate) fn find(modifiers: &[&str]) -> Option<Tile> {
        let role = match *modifiers.get(1)? {
            "a" if modifiers[0] == "load" => Role::A,
            "b" if modifiers[0] == "load" => Role::B,
            "c" if modifiers[0] == "load" => Role::C,
            "d" if modifiers[0] == "store" => Role::C,
            _ => return None,
        };
        let &["sync", "aligned", layout, shape, ref space @ .., ty] = &modifiers[2..] else { return None };
        if !space.iter().all(|s| s.starts_with("global") || s.starts_with("shared")) {
            return None;
        }
        let by_rows = match layout {
            "row" => true,
            "col" => false,
            _ => return None,
        };
        let shape = self::shape(shape)?;
        let tile = match role {
            Role::C => {
                let accumulator = Accumulator::of(ty)?;
                is_known(shape, None, accumulator).then(|| Tile::accumulator(shape, accumulator))?
            }
            _ => {
                let element = Element::of(ty)?;
                is_known(shape, Some(element), default_accumulator(element))
                    .then(|| Tile::factor(role, shape, element))?
            }
        };
        let is_contiguous = by_rows != (role == Role::B);
        // Elements of less than a byte cannot be far apart.
        (tile.bits >= 8 || is_contiguous).then_some(Tile { is_contiguous, ..tile })
    }

    fn factor(role: Role, [m, n, k]: Shape, element: Element) -> Tile {
        let across = if role == Role::A { m } else { n };
        let per_register = element.per_register();
        let (bits, kind) =
            if element == Element::F64 { (64, Kind::F64) } else { (32 / per_register, Kind::Bits(32)) };
        let blocks = across / 8 * (k / (4 * per_register));
        // Halves have fragments of one size, whatever the shape.
        let registers = if element == Element::F16 { 8 } else { blocks };
        let fragment = Fragment { kind, registers };
        Tile { across, along: k, bits, per_register, fragment, is_contiguous: true, role }
    }

    fn accumulator([m, n, _]: Shape, accumulator: Accumulator) -> Tile {
        let (bits, kind) = match accumulator {
            Accumulator::F16 => (16, Kind::Bits(32)),
            Accumulator::F32 => (32, Kind::F32),
            Accumulator::S32 => (32, Kind::Bits(32)),
            Accumulator::F64 => (64, Kind::F64),
        };
        let per_register = if bits == 16 { 2 } else { 1 };
        let fragment = Fragment { kind, registers: m * n / 32 / per_register };
        Tile { across: m, along: n, bits, per_register, fragment, is_contiguous: true, role: Role::C }
    }

    /// Elements that lie one after another in memory, and how many such rows (or columns) there are.
    fn contiguous(&self) -> (usize, usize) {
        if self.is_contiguous { (self.along, self.across) } else { (self.across, self.along) }
    }

    /// Elements from the start of one contiguous row (or column) to the next, if the instruction does not say.
    pub(crate) fn default_stride(&self) -> usize {
        self.contiguous().0
    }

    /// Bytes that a lane moves in one request.
    pub(crate) fn piece_bytes(&self) -> usize {
        let pair = if self.role == Role::C { 2 } else { 1 };
        (pair * self.bits / 8).max(4)
    }

    /// How many requests it takes, each with all lanes.
    pub(crate) fn requests(&self) -> usize {
        self.across * self.along * self.bits / 8 / self.piece_bytes() / 32
    }

    /// What a lane moves in a request: the contiguous row (or column), and the byte in it.
    pub(crate) fn piece(&self, request: usize, lane: usize) -> (usize, usize) {
        let (length, lines) = self.contiguous();
        let pieces = length * self.bits / 8 / self.piece_bytes();
        let (line, piece) = if lines.is_multiple_of(8) && pieces.is_multiple_of(4) {
            let (block, wide) = (request % (lines / 8), request / (lines / 8));
            (8 * block + lane / 4, 4 * wide + lane % 4)
        } else {
            let number = 32 * request + lane;
            (number / pieces, number % pieces)
        };
        (line, piece * self.piece_bytes())
    }

    /// Where a byte of a contiguous row (or column) is when they are packed one after another.
    pub(crate) fn packed(&self, line: usize, byte: usize) -> usize {
        line * (self.contiguous().0 * self.bits / 8) + byte
    }

    /// Bytes from one contiguous row (or column) to the next, `stride` elements apart.
    pub(crate) fn stride_bytes(&self, stride: u64) -> u64 {
        stride.wrapping_mul(self.bits as u64) / 8
    }

    /// The bits of one element in the packed tile, and how many: element `e` of `register` in `lane`.
    fn bit_of(&self, register: usize, lane: usize, e: usize) -> usize {
        let (group, place) = (lane / 4, lane % 4);
        let rows = self.across / 8;
        let (across, along) = match self.role {
            Role::C => {
                let (block, e) =
                    if self.per_register == 2 { (register, e) } else { (register / 2, register % 2) };
                (group + 8 * (block % rows), 2 * place + e + 8 * (block / rows))
            }
            Role::A | Role::B => {
                let width = 4 * self.per_register;
                let columns = self.along / width;
                let block = register % (rows * columns);
                let (row, column) = if self.role == Role::A {
                    (block % rows, block / rows)
                } else {
                    (block / columns, block % columns)
                };
                (group + 8 * row, self.per_register * place + e + width * column)
            }
        };
        let (line, element) = if self.is_contiguous { (across, along) } else { (along, across) };
        (line * self.contiguous().0 + element) * self.bits
    }

    /// What a register of a lane holds, from the packed tile.
    pub(crate) fn gather(&self, packed: &[u8; TILE_BYTES], register: usize, lane: usize) -> u64 {
        (0..self.per_register).fold(0, |value, e| {
            let bit = self.bit_of(register, lane, e);
            let mut raw = [0; 8];
            let bytes = self.bits.div_ceil(8);
            raw[..bytes].copy_from_slice(&packed[bit / 8..bit / 8 + bytes]);
            let element = u64::from_le_bytes(raw) >> (bit % 8) & (u64::MAX >> (64 - self.bits));
            value | element << (e * self.bits)
        })
    }

    /// Puts what a register of a lane holds into the packed tile. Elements of C and D have at least a byte.
    pub(crate) fn scatter(&self, packed: &mut [u8; TILE_BYTES], register: usize, lane: usize, value: u64) {
        for e in 0..self.per_register {
            let at = self.bit_of(register, lane, e) / 8;
            let element = (value >> (e * self.bits)).to_le_bytes();
            packed[at..at + self.bits / 8].copy_from_slice(&element[..self.bits / 8]);
        }
    }
}

/// `wmma.mma` with these modifiers, as in `wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32`: its fragments D, A, B and C,
/// and the multiplications of smaller matrices that it comes to, with the registers of each.
#[allow(clippy::type_complexity)]
pub(super) fn multiply(modifiers: &[&str]) -> Option<([Fragment; 4], Vec<(Mma, [Vec<usize>; 4])>)> {
    let (operation, rest) = match modifiers {
        ["mma", operation @ ("and" | "xor"), "popc", rest @ ..] => (Some(*operation), rest),
        ["mma", rest @ ..] => (None, rest),
        _ => return None,
    };
    let ["sync", "aligned", "row" | "col", "row" | "col", shape, types @ ..] = rest else { return None };
    let shape @ [m, n, k] = self::shape(shape)?;
    let (types, saturate) = match types {
        [types @ .., "satfinite"] => (types, true),
        [types @ .., "rn"] => (types, false),
        types => (types, false),
    };
    let (d, a, b, c) = match *types {
        [d, c] => (d, "f16", "f16", c),
        [d, a, b, c] if a != "f16" => (d, a, b, c),
        _ => return None,
    };
    let (element, d, c) = (Element::of(a)?, Accumulator::of(d)?, Accumulator::of(c)?);
    let known = a == b && is_known(shape, Some(element), d) && is_known(shape, Some(element), c);
    if !known || (element == Element::Bit) != operation.is_some() {
        return None;
    }
    let rows = m.min(16);
    let exclusive = operation == Some("xor");
    let mma = Mma { rows, depth: k, a: element, b: element, c, d, saturate, exclusive };
    let deep = k / (4 * element.per_register());
    let (all, own) = (m / 8, rows / 8);
    let mut parts = Vec::new();
    for i in 0..m / rows {
        for j in 0..n / 8 {
            let row = |r: usize| i * own + r;
            let a = (0..deep).flat_map(|depth| (0..own).map(move |r| row(r) + all * depth)).collect();
            let b = (0..deep).map(|depth| depth + deep * j).collect();
            let accumulator = |held| -> Vec<usize> {
                let blocks = (0..own).map(|r| row(r) + all * j);
                if held == Accumulator::F16 {
                    blocks.collect()
                } else {
                    blocks.flat_map(|b| [2 * b, 2 * b + 1]).collect()
                }
            };
            parts.push((mma, [accumulator(d), a, b, accumulator(c)]));
        }
    }
    let fragments = [
        Tile::accumulator(shape, d),
        Tile::factor(Role::A, shape, element),
        Tile::factor(Role::B, shape, element),
        Tile::accumulator(shape, c),
    ];
    Some((fragments.map(|tile| tile.fragment), parts))
}

fn shape(modifier: &str) -> Option<Shape> {
    let (m, rest) = modifier.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
}

fn default_accumulator(element: Element) -> Accumulator {
    match element {
        Element::F16 | Element::Bf16 | Element::Tf32 => Accumulator::F32,
        Element::F64 => Accumulator::F64,
        Element::Integer { .. } | Element::Bit => Accumulator::S32,
    }
}

/// Whether there are such matrices; without an element: whether C and D may be so.
fn is_known(shape: Shape, element: Option<Element>, accumulator: Accumulator) -> bool {
    const BIG: [Shape; 3] = [[16, 16, 16], [32, 8, 16], [8, 32, 16]];
    let fits = |element| {
        let (shapes, accumulators): (&[Shape], &[Accumulator]) = match element {
            Element::F16 => (&BIG, &[Accumulator::F16, Accumulator::F32]),
            Element::Bf16 => (&BIG, &[Accumulator::F32]),
            Element::Tf32 => (&[[16, 16, 8]], &[Accumulator::F32]),
            Element::F64 => (&[[8, 8, 4]], &[Accumulator::F64]),
            Element::Integer { bits: 8, .. } => (&BIG, &[Accumulator::S32]),
            Element::Integer { .. } => (&[[8, 8, 32]], &[Accumulator::S32]),
            Element::Bit => (&[[8, 8, 128]], &[Accumulator::S32]),
        };
        shapes.contains(&shape) && accumulators.contains(&accumulator)
    };
    match element {
        Some(element) => fits(element),
        None => {
            ["f16", "bf16", "tf32", "f64", "s8", "s4", "b1"].into_iter().filter_map(Element::of).any(fits)
        }
    }
}
