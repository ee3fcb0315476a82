//! Finds straight lines: what a full warp can execute without looking at anything in between.

use std::ops::Range;

use crate::fault::Space;
use crate::observer::{Repeat, Repeats};
use crate::program::{BaseSlot, Guard, MOST_ROWS, Memory, Move, Program, Reg, Rows, Step, StraightLine};

/// Fewer instructions than this are not worth a straight line.
const LEAST: u32 = 2;

/// Cuts straight lines out of a block of instructions that are entered and left at its ends only.
pub(super) fn find(program: &mut Program, block: Range<u32>) {
    let mut line = StraightLine { length: 0, moves: Vec::new(), rows: Vec::new() };
    // For each slot of bases the rows that are open.
    let mut open = [None; crate::program::BASE_SLOTS];
    for pc in block.clone() {
        if !extend(program, pc, &mut line, &mut open) {
            end(program, pc, &mut line);
            open = Default::default();
            // It may be that the line had no room for more rows.
            extend(program, pc, &mut line, &mut open);
        }
    }
    end(program, block.end, &mut line);
}

/// Takes the instruction into the line, if it fits there.
fn extend(
    program: &Program,
    pc: u32,
    line: &mut StraightLine,
    open: &mut [Option<u8>; crate::program::BASE_SLOTS],
) -> bool {
    let inst = &program.code[pc as usize];
    if inst.guard != Guard::Always {
        return false;
    }
    match inst.step {
        Step::Nothing => {}
        Step::Alu(function) => line.moves.push(Move::Alu(function, inst.ops)),
        Step::LoadWord(memory @ Memory { space: Some(Space::Shared), base: Some(class), .. }, slot) => {
            let known = open[usize::from(slot.number)].filter(|_| !slot.leads);
            let distance_from = |rows: &Rows| i32::try_from(memory.offset.wrapping_sub(rows.offset)).ok();
            let placed = known.and_then(|number| {
                let distance = distance_from(&line.rows[usize::from(number)])?;
                // Whether all are aligned is asked once.
                (distance % 4 == 0).then_some((number, distance))
            });
            let (rows, distance) = match placed {
                Some(placed) => placed,
                None if line.rows.len() < MOST_ROWS => {
                    let number = line.rows.len() as u8;
                    line.rows.push(Rows {
                        base: Reg { class, index: inst.ops.src[0] },
                        offset: memory.offset,
                        scope: memory.scope,
                        loads: Repeats { each: Vec::new(), lowest: 0, highest: 0 },
                    });
                    line.moves.push(Move::Look(number));
                    open[usize::from(slot.number)] = (slot != BaseSlot::NONE).then_some(number);
                    (number, 0)
                }
                None => return false,
            };
            let loads = &mut line.rows[usize::from(rows)].loads;
            loads.each.push(Repeat { pc, distance: i64::from(distance) });
            loads.lowest = loads.lowest.min(i64::from(distance));
            loads.highest = loads.highest.max(i64::from(distance));
            line.moves.push(Move::Load { rows, distance, to: inst.ops.dst[0], pc });
        }
        _ => return false,
    }
    line.length += 1;
    true
}

/// The line ends before `pc`; begins another one.
fn end(program: &mut Program, pc: u32, line: &mut StraightLine) {
    let line = std::mem::replace(line, StraightLine { length: 0, moves: Vec::new(), rows: Vec::new() });
    if line.length >= LEAST {
        program.code[(pc - line.length) as usize].straight = program.straight.len() as u32;
        program.straight.push(line);
    }
}
