//! Finds straight lines: what a full warp can execute without looking at anything in between.

use std::collections::HashMap;
use std::ops::Range;

use super::function::Draft;
use crate::fault::Space;
use crate::isa;
use crate::observer::{Order, Repeat, Repeats};
use crate::program::{Guard, Memory, Move, NOWHERE, Program, Reg, Rows, Step, StraightLine};
use crate::registers::Class;

/// Fewer instructions than this are not worth a straight line.
const LEAST: u32 = 2;

/// Cuts straight lines out of a block of instructions that are entered and left at its ends only; `drafts` are those of
/// the instructions from `first` on.
pub(super) fn find(program: &mut Program, first: u32, drafts: &[Draft], block: Range<u32>) {
    let mut line = Builder::default();
    for pc in block.clone() {
        if !line.take(program, pc, &drafts[(pc - first) as usize]) {
            std::mem::take(&mut line).end(program, pc);
        }
    }
    line.end(program, block.end);
}

/// A line that may get longer.
#[derive(Default)]
struct Builder {
    length: u32,
    moves: Vec<Move>,
    rows: Vec<Rows>,
    /// Rows that may get more loads, by their base.
    open: HashMap<Reg, usize>,
    /// The last instruction that read or wrote each register.
    last_use: HashMap<Reg, u32>,
}

impl Builder {
    /// Takes an instruction into the line, if it fits there.
    fn take(&mut self, program: &Program, pc: u32, draft: &Draft) -> bool {
        let inst = &program.code[pc as usize];
        if inst.guard != Guard::Always {
            return false;
        }
        match inst.step {
            Step::Nothing => {}
            Step::Alu(function) if isa::is_multiply_add(function) => {
                self.moves.push(Move::MultiplyAdd(inst.ops));
            }
            Step::Alu(function) => self.moves.push(Move::Alu(function, inst.ops)),
            Step::LoadWord(ref memory @ Memory { space: Some(Space::Shared), base: Some(class), .. }, _) => {
                let base = Reg { class, index: inst.ops.src[0] };
                self.load(pc, base, memory, inst.ops.dst[0]);
            }
            Step::LoadWord(..) => self.access(pc),
            Step::Load(memory) | Step::Store(memory) if memory.order == Order::Weak => self.access(pc),
            _ => return false,
        }
        for &reg in draft.reads.iter().chain(&draft.writes) {
            self.last_use.insert(reg, pc);
        }
        for written in &draft.writes {
            self.open.remove(written);
        }
        self.length += 1;
        true
    }

    /// A load of words of shared memory. It is done together with earlier ones from the same base, unless its register
    /// is still needed for something else then.
    fn load(&mut self, pc: u32, base: Reg, memory: &Memory, to: u16) {
        let last_use = self.last_use.get(&Reg { class: Class::Word, index: to });
        let open = self.open.get(&base).and_then(|&number| {
            let rows = &mut self.rows[number];
            let distance = i32::try_from(memory.offset.wrapping_sub(rows.offset)).ok()?;
            let is_free = last_use.is_none_or(|&pc| pc < rows.loads.each[0].pc);
            // Whether all are aligned is asked once.
            (is_free && distance % 4 == 0).then_some((rows, distance))
        });
        if let Some((rows, distance)) = open {
            let distance = i64::from(distance);
            rows.to.push(to);
            rows.loads.each.push(Repeat { pc, distance });
            rows.loads.lowest = rows.loads.lowest.min(distance);
            rows.loads.highest = rows.loads.highest.max(distance);
            return;
        }
        let loads = Repeats { each: vec![Repeat { pc, distance: 0 }], lowest: 0, highest: 0 };
        self.open.insert(base, self.rows.len());
        self.moves.push(Move::Loads(self.rows.len() as u32));
        self.rows.push(Rows { base, offset: memory.offset, scope: memory.scope, loads, to: vec![to] });
    }

    /// Another access. The line may end with it, and it may write what loads behind it read: those are not done before.
    fn access(&mut self, pc: u32) {
        self.moves.push(Move::Access { pc });
        self.open.clear();
    }

    /// The line ends before `pc`.
    fn end(self, program: &mut Program, pc: u32) {
        let Builder { length, moves, rows, .. } = self;
        if length >= LEAST {
            let begin = &mut program.code[(pc - length) as usize];
            debug_assert_eq!(begin.straight, NOWHERE);
            begin.straight = program.straight.len() as u32;
            program.straight.push(StraightLine { length, moves, rows });
        }
    }
}
