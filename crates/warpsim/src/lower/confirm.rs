//! Ordinary loads whose value a compare-and-swap confirms.
//!
//! The CUDA C++ Programming Guide builds atomic functions so (and the headers of NVIDIA's types do): an ordinary load makes
//! a first guess, and an `atomicCAS` of the same place goes wrong, to be tried again, unless the guess is what is there.
//! Whatever the load gave, nothing comes of it that others could have changed meanwhile: it counts as a relaxed load.
//!
//! One that compares with a fixed value takes a lock instead.

use crate::observer::Order;
use crate::program::{Constant, Instruction, Memory, Program, Register, Step};

/// Makes relaxed loads of those in the program's last function, which begins at instruction `first`; says if it takes locks.
pub(super) fn relax(program: &mut Program, first: u32, constants: &[(Register, Constant)]) {
    let mut takes_locks = false;
    let (code, instructions) = (&mut program.code[first as usize..], &program.instructions[first as usize..]);
    let swaps: Vec<(Memory, u16, Register)> = code
        .iter()
        .zip(instructions)
        .filter_map(|(inst, instruction)| match inst.step {
            Step::Atomic(memory, _) if compares(&memory, instruction) => {
                Some((memory, inst.ops.src[0], instruction.reads[instruction.reads.len() - 2]))
            }
            _ => None,
        })
        .collect();
    for (swap, base, compared) in swaps {
        let mut holders = vec![compared];
        let mut next = 0;
        while let Some(&holder) = holders.get(next) {
            next += 1;
            takes_locks |= constants
                .iter()
                .any(|(reg, constant)| *reg == holder && matches!(constant, Constant::Bits(_)));
            for (inst, instruction) in code
                .iter_mut()
                .zip(instructions)
                .filter(|(_, instruction)| instruction.writes.contains(&holder))
            {
                match inst.step {
                    // A copy, perhaps as another type.
                    Step::Alu(_)
                        if instruction.reads.len() == 1 && !holders.contains(&instruction.reads[0]) =>
                    {
                        holders.push(instruction.reads[0]);
                    }
                    Step::Load(memory) if is_same_place(&memory, inst.ops.src[0], &swap, base) => {
                        inst.step = Step::Load(Memory { order: Order::Relaxed, ..memory });
                    }
                    _ => {}
                }
            }
        }
    }
    program.takes_locks |= takes_locks;
}

/// Whether an atomic instruction, of those that read one value or two, reads two.
fn compares(memory: &Memory, instruction: &Instruction) -> bool {
    instruction.reads.len() == usize::from(memory.base.is_some()) + 2
}

fn is_same_place(load: &Memory, load_base: u16, swap: &Memory, swap_base: u16) -> bool {
    load.order == Order::Weak
        && load.base == swap.base
        && load_base == swap_base
        && load.offset == swap.offset
        && load.width() == swap.width()
}
