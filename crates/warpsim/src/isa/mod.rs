//! What every register instruction means, listed like a table.
//!
//! Each file holds one family as lines of [`Form`]s: a pattern in the manual's spelling and a function of one lane.
//! [`find`] looks an instruction up. Conventions where PTX has something that is not an ordinary operand:
//!
//! - **Carry flag** (`CC.CF`): a predicate. `.cc` forms have it as their second destination; `addc`, `subc` and
//!   `madc` as their last source. After a subtraction it is the borrow.
//! - **Two predicates** (`setp ... p|q`): add the modifier [`SECOND_PREDICATE`].
//! - **Predicate `c`** of `set` and `setp` with `.and`, `.or`, `.xor`: the third source. Written `!c`, add the
//!   modifier [`NEGATED_C`].
//! - **`lop3`**: its table is no source but [`Operands::imm`](crate::registers::Operands), see [`immediate_operand`].
//!   With a boolean operation it has the destinations `d`, `p` and the sources `a`, `b`, `c`, `q`.
//! - **Everything else that modifiers say** is in [`Alu::imm`](crate::alu::Alu): copy it to `Operands::imm`.
//! - **Narrow results of `cvt`** are extended to 32 bits, so that they are right in wider destinations too.
//! - **`mma.sync` and `wmma`** work on whole fragments: [`Multiply`], [`Tile`]. **`atom`, `red`, `redux`** combine two values: [`atomic()`].

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use crate::alu::Alu;

mod approx;
mod atomic;
mod bits;
mod byte;
mod compare;
mod convert;
mod double;
mod float;
mod form;
mod half;
mod integer;
mod matrix;
mod multiply;
mod quads;
mod round;
mod simd;
#[cfg(test)]
mod tests;
mod wmma;

pub(crate) use atomic::{AtomicFn, atomic};
#[cfg(feature = "fuse")]
pub(crate) use float::{canon, fused};
pub(crate) use form::{Form, Mode};
use form::{expand, key};
pub(crate) use matrix::Fragment;
pub(crate) use multiply::Multiply;
pub(crate) use wmma::{TILE_BYTES, Tile};

/// A modifier that asks for the `setp` form with a second destination, the complement.
pub(crate) const SECOND_PREDICATE: &str = "|q";

/// A modifier that says that the predicate `c` is to be complemented.
pub(crate) const NEGATED_C: &str = "!c";

/// All tables. Where two forms stand for the same instruction, the first one counts.
static TABLES: &[&[&[Form]]] = &[
    integer::TABLES,
    bits::TABLES,
    float::TABLES,
    half::TABLES,
    compare::TABLES,
    convert::TABLES,
    simd::TABLES,
];

/// The instructions of an opcode by their modifiers: first only the forms, and all names once one is asked for.
struct Opcode {
    forms: Vec<(&'static str, Alu)>,
    by_modifiers: OnceLock<HashMap<String, Alu>>,
}

impl Opcode {
    fn find(&self, modifiers: &[&str]) -> Option<Alu> {
        self.by_modifiers.get_or_init(|| self.index()).get(&key(modifiers)).copied()
    }

    fn index(&self) -> HashMap<String, Alu> {
        let mut index = HashMap::new();
        for &(pattern, alu) in &self.forms {
            for name in expand(pattern) {
                let modifiers: Vec<&str> = name.split('.').skip(1).collect();
                index.entry(key(&modifiers)).or_insert(Alu { imm: Mode::of(&modifiers).0, ..alu });
            }
        }
        index
    }
}

static OPCODES: LazyLock<HashMap<String, Opcode>> = LazyLock::new(|| {
    let mut opcodes: HashMap<String, Opcode> = HashMap::new();
    for form in forms() {
        let (names, modifiers) = form.split();
        for opcode in names {
            let opcode = opcodes
                .entry(opcode)
                .or_insert_with(|| Opcode { forms: Vec::new(), by_modifiers: OnceLock::new() });
            opcode.forms.push((modifiers, form.alu));
        }
    }
    opcodes
});

/// The meaning of `opcode` with `modifiers` (in any order, but for types: `cvt.f32.s32`), or `None` if it is no
/// register instruction that the simulator knows.
pub(crate) fn find(opcode: &str, modifiers: &[&str]) -> Option<Alu> {
    let opcode = OPCODES.get(opcode)?;
    if !modifiers.contains(&NEGATED_C) {
        return opcode.find(modifiers);
    }
    let plain: Vec<&str> = modifiers.iter().copied().filter(|&m| m != NEGATED_C).collect();
    let alu = opcode.find(&plain)?;
    Some(Alu { imm: alu.imm | Mode::of(&[NEGATED_C]).0, ..alu })
}

/// All forms, in the order of the tables.
pub(crate) fn forms() -> impl Iterator<Item = &'static Form> {
    TABLES.iter().flat_map(|family| family.iter()).flat_map(|table| table.iter())
}

/// Which source operand of the text becomes [`Operands::imm`](crate::registers::Operands), if any.
pub(crate) fn immediate_operand(opcode: &str) -> Option<usize> {
    (opcode == "lop3").then_some(3)
}
