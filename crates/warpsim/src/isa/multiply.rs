//! What matrix instructions have in common: a multiplication made of one or more parts.

use super::matrix::{Fragment, Mma};
use super::quads::Quads;
use super::wmma;
use crate::registers::Registers;

/// Numbers of the registers of D, A, B and C, as an instruction lists them.
type Selection = [Vec<usize>; 4];

/// A matrix instruction that multiplies: `mma.sync`, `wmma.mma`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Multiply {
    /// The fragments of D, A, B and C.
    pub(crate) fragments: [Fragment; 4],
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    One(Mma),
    /// Multiplications of smaller matrices, with the registers that each of them takes.
    Parts(Vec<(Mma, Selection)>),
    Quads(Quads),
}

impl Multiply {
    /// The instruction `mma` or `wmma.mma` with these modifiers.
    pub(crate) fn find(opcode: &str, modifiers: &[&str]) -> Option<Multiply> {
        if opcode == "wmma" {
            let (fragments, parts) = wmma::multiply(modifiers)?;
            return Some(Multiply { fragments, kind: Kind::Parts(parts) });
        }
        if let Some(quads) = Quads::find(modifiers) {
            return Some(Multiply { fragments: quads.fragments(), kind: Kind::Quads(quads) });
        }
        let mma = Mma::find(modifiers)?;
        Some(Multiply { fragments: mma.fragments(), kind: Kind::One(mma) })
    }

    /// D = A B + C, for a whole warp. The arguments are the registers of each fragment; those of D may be among the
    /// others.
    pub(crate) fn run(&self, registers: &mut Registers, fragments: [&[u16]; 4]) {
        match &self.kind {
            Kind::One(mma) => {
                let [d, a, b, c] = fragments;
                let product = mma.product(registers, [a, b, c]);
                mma.write(registers, d, &product);
            }
            Kind::Quads(quads) => quads.run(registers, fragments),
            Kind::Parts(parts) => {
                let chosen = |numbers: &Selection| -> [Vec<u16>; 4] {
                    std::array::from_fn(|i| numbers[i].iter().map(|&n| fragments[i][n]).collect())
                };
                let parts: Vec<_> = parts.iter().map(|(mma, numbers)| (mma, chosen(numbers))).collect();
                // All of them read before any of them writes.
                let products: Vec<_> =
                    parts.iter().map(|(mma, [_, a, b, c])| mma.product(registers, [a, b, c])).collect();
                for ((mma, [d, ..]), product) in parts.iter().zip(&products) {
                    mma.write(registers, d, product);
                }
            }
        }
    }
}
