//! How many registers hold something that is still needed.

use ptx::Operand;

use super::listing::{Kind, Listing, Reg};

/// A set of registers.
type Set = Vec<u64>;

/// Passes over the listing after which sets have settled, jumps back included.
const PASSES: usize = 4;

/// What is alive where.
pub(super) struct Liveness {
    /// For each instruction, the registers that it or a later one reads before they are written.
    alive: Vec<Set>,
    /// Registers of 32 bits that each takes.
    weights: Vec<u32>,
}

impl Liveness {
    /// `is_shared_address` tells the registers that hold offsets in shared memory, which need no more than 32 bits.
    pub(super) fn new(listing: &Listing<'_>, is_shared_address: &[bool]) -> Liveness {
        let words = listing.kinds.len().div_ceil(64);
        let end = listing.lines.len();
        let mut alive = vec![vec![0; words]; end + 1];
        for _ in 0..PASSES {
            for at in (0..end).rev() {
                let line = &listing.lines[at];
                let is_conditional = line.instruction.guard.is_some();
                let falls_through = line.instruction.opcode != "bra" || is_conditional;
                let mut now = if falls_through { alive[at + 1].clone() } else { vec![0; words] };
                if let Some(target) = line.target {
                    now.iter_mut().zip(&alive[target]).for_each(|(now, there)| *now |= there);
                }
                if !is_conditional {
                    line.writes.iter().for_each(|reg| now[*reg as usize / 64] &= !(1 << (reg % 64)));
                }
                line.reads.iter().for_each(|reg| now[*reg as usize / 64] |= 1 << (reg % 64));
                alive[at] = now;
            }
        }
        let registers = 0..listing.kinds.len() as Reg;
        let weights = registers.map(|reg| weight(listing, reg, is_shared_address)).collect();
        Liveness { alive, weights }
    }

    /// Registers of 32 bits that are taken where an instruction begins.
    pub(super) fn taken(&self, at: usize) -> u32 {
        let set = &self.alive[at];
        let is_alive = |reg: &usize| set[reg / 64] >> (reg % 64) & 1 == 1;
        (0..self.weights.len()).filter(is_alive).map(|reg| self.weights[reg]).sum()
    }
}

/// Parameters lie in constant memory, predicates in a file of their own.
fn weight(listing: &Listing<'_>, reg: Reg, is_shared_address: &[bool]) -> u32 {
    let is_parameter = listing.definition(reg).is_some_and(|definition| {
        definition.opcode == "cvta" || definition.opcode == "ld" && definition.has("param")
    });
    match listing.kinds[reg as usize] {
        _ if is_parameter => 0,
        Kind::Predicate => 0,
        Kind::Wide if !is_shared_address[reg as usize] => 2,
        Kind::Wide | Kind::Word => 1,
    }
}

/// For each register whether it is, or goes into, an address in shared memory.
pub(super) fn shared_addresses(listing: &Listing<'_>) -> Vec<bool> {
    let mut found = vec![false; listing.kinds.len()];
    for (at, line) in listing.lines.iter().enumerate() {
        if !(line.instruction.has("shared") || line.instruction.has("shared::cta")) {
            continue;
        }
        for operand in &line.instruction.operands {
            let Operand::Address(address) = operand else { continue };
            let base = address.base.as_deref().and_then(|base| listing.register(at, base));
            base.into_iter().for_each(|reg| found[reg as usize] = true);
        }
    }
    const PASSES_ON: [&str; 10] = ["add", "mov", "cvta", "mad", "cvt", "sub", "shl", "selp", "xor", "or"];
    for _ in 0..6 {
        for line in &listing.lines {
            let instruction = line.instruction;
            let is_wide = ["s64", "u64", "b64"].iter().any(|ty| instruction.has(ty));
            let passes_on = PASSES_ON.contains(&instruction.opcode.as_str());
            if is_wide && passes_on && line.writes.iter().any(|reg| found[*reg as usize]) {
                line.reads.iter().for_each(|reg| found[*reg as usize] = true);
            }
        }
    }
    found
}
