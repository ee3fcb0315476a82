//! What every register instruction means, listed like a table.

use crate::alu::Alu;

mod integer;

/// One instruction form in PTX spelling: `add.s32`, `setp.lt.and.f32`.
pub(crate) struct Form {
    /// Opcode and modifiers, in the order of the PTX manual.
    pub(crate) name: &'static str,
    /// What it does.
    pub(crate) alu: Alu,
}

/// Finds the meaning of `opcode` with `modifiers` (in any order).
pub(crate) fn find(opcode: &str, modifiers: &[&str]) -> Option<Alu> {
    let mut name = opcode.to_owned();
    for m in modifiers {
        name.push('.');
        name.push_str(m);
    }
    integer::FORMS.iter().find(|f| f.name == name).map(|f| f.alu)
}
