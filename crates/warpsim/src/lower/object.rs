//! Which variable of shared memory a memory instruction means.
//!
//! In C++ a pointer into one array never reaches another one, though they lie side by side. So addresses are followed
//! from where a variable is named, through whatever computes with them, to where they are used. What may come from
//! several variables, or from elsewhere, is left open.

use crate::program::{Constant, FlowRule, FrameSize, Inst, Instruction, Program, Register, Step};
use crate::registers::RegisterFile;

/// What a register may hold: an address in which variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    /// Nothing yet.
    Unset,
    /// No address of a known variable.
    Other,
    /// One in this variable.
    Variable(u32),
    /// One of several, or perhaps none.
    Any,
}

impl Holds {
    /// It is one or the other.
    fn or(self, other: Holds) -> Holds {
        match (self, other) {
            (Holds::Unset, one) | (one, Holds::Unset) => one,
            _ if self == other => self,
            _ => Holds::Any,
        }
    }

    /// It is computed from both.
    fn with(self, other: Holds) -> Holds {
        match (self, other) {
            (Holds::Other, one) | (one, Holds::Other) => one,
            _ => self.or(other),
        }
    }
}

/// For each instruction of a function, from `first` on, the number of its variable, if that is known.
pub(super) fn find(
    program: &Program,
    first: usize,
    constants: &[(Register, Constant)],
    size: FrameSize,
) -> Vec<Option<u32>> {
    let (code, instructions) = (&program.code[first..], &program.instructions[first..]);
    if program.shared.len() < 2 {
        return vec![None; code.len()];
    }
    let unified = |reg| size.unified(reg);
    let mut holds = vec![Holds::Unset; size.total() + 1];
    for &(reg, constant) in constants {
        holds[unified(reg) as usize] = match constant {
            Constant::Shared { variable, .. } => Holds::Variable(variable),
            _ => Holds::Other,
        };
    }
    let is_address = |reg: &&Register| reg.file != RegisterFile::Pred;
    let mut changes = true;
    while changes {
        changes = false;
        for ((inst, instruction), flow) in code.iter().zip(instructions).zip(&program.flow[first..]) {
            let from =
                || instruction.reads.iter().filter(is_address).map(|reg| holds[unified(*reg) as usize]);
            let result = match inst.step {
                Step::Alu(_) | Step::Pack { .. } | Step::Unpack { .. } | Step::Shuffle { .. } => {
                    if flow.rule == FlowRule::Select {
                        from().fold(Holds::Unset, Holds::or)
                    } else if from().any(|held| held == Holds::Unset) {
                        Holds::Unset
                    } else {
                        from().fold(Holds::Other, Holds::with)
                    }
                }
                _ => Holds::Other,
            };
            for reg in instruction.writes.iter().filter(is_address) {
                let held = &mut holds[unified(*reg) as usize];
                let now = held.or(result);
                changes |= now != *held;
                *held = now;
            }
        }
    }
    let variable = |(inst, instruction): (&Inst, &Instruction)| {
        let memory = program.memory_of(inst)?;
        match (memory.base, instruction.object) {
            (None, object) => object,
            (Some(class), _) => {
                match holds[unified(Register { file: class, index: inst.ops.src[0] }) as usize] {
                    Holds::Variable(variable) => Some(variable),
                    _ => None,
                }
            }
        }
    };
    code.iter().zip(instructions).map(variable).collect()
}
