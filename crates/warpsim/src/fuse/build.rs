//! Finds straight lines: what a full warp can execute without looking at anything in between.

use std::collections::HashMap;
use std::ops::Range;

use super::{Move, RowProducts, Rows, StraightLine, Sum};
use crate::fault::Space;
use crate::isa;
use crate::observer::{Order, Repeat, Repeats};
use crate::program::{Guard, Instruction, Memory, NOWHERE, Place, Program, Register, Step};
use crate::registers::RegisterFile;

/// Fewer instructions than this are not worth a straight line.
const LEAST: u32 = 2;

/// Branches that a line has at most: they are on the lines that begin behind them, too.
const MOST_BRANCHES: u32 = 4;

/// Cuts straight lines out of a block of instructions that are entered and left at its ends only; it is in the program's
/// last function. The last line of a block goes on after its end.
pub(crate) fn find(program: &mut Program, uses: &Uses, block: Range<u32>) {
    let end = program.code.len() as u32;
    let mut pc = block.start;
    while pc < block.end {
        let mut line = Builder::default();
        let from = pc;
        while pc < end && line.goes_on() && line.take(program, pc) {
            pc += 1;
        }
        line.end(program, uses, from);
        pc += 1;
    }
}

/// How often the instructions of a function read and write each register.
pub(crate) struct Uses(HashMap<Register, [u32; 2]>);

impl Uses {
    /// `returned` is what the function's caller reads.
    pub(crate) fn new(instructions: &[Instruction], returned: &[Place]) -> Uses {
        let mut uses: HashMap<Register, [u32; 2]> = HashMap::new();
        for instruction in instructions {
            instruction.reads.iter().for_each(|&reg| uses.entry(reg).or_default()[0] += 1);
            instruction.writes.iter().for_each(|&reg| uses.entry(reg).or_default()[1] += 1);
        }
        for place in returned {
            if let &Place::Register(reg) = place {
                uses.entry(reg).or_default()[0] += 1;
            }
        }
        Uses(uses)
    }

    /// Whether one instruction writes this register and one other reads it.
    fn is_link(&self, index: u16) -> bool {
        self.0.get(&Register { file: RegisterFile::Word, index }) == Some(&[1, 1])
    }
}

/// A line that may get longer.
#[derive(Default)]
struct Builder {
    length: u32,
    branches: u32,
    moves: Vec<Move>,
    rows: Vec<Rows>,
    /// Rows that may get more loads, by their base.
    open: HashMap<Register, usize>,
    /// The last instruction that read or wrote each register.
    last_use: HashMap<Register, u32>,
}

impl Builder {
    /// Whether anything can be executed behind it.
    fn goes_on(&self) -> bool {
        !matches!(self.moves.last(), Some(Move::Branch { guard: Guard::Always, .. }))
    }

    /// Takes an instruction into the line, if it fits there.
    fn take(&mut self, program: &Program, pc: u32) -> bool {
        let inst = &program.code[pc as usize];
        match inst.step {
            Step::Branch { target, .. } if target != pc + 1 && self.branches < MOST_BRANCHES => {
                self.branches += 1;
                // What is behind it may not come to be loaded.
                self.open.clear();
                self.moves.push(Move::Branch { pc, guard: inst.guard, target });
            }
            _ if inst.guard != Guard::Always => return false,
            Step::Nothing => {}
            Step::Alu(function) if isa::is_multiply_add(function) => {
                self.moves.push(Move::MultiplyAdd(inst.ops));
            }
            Step::Alu(function) => self.moves.push(Move::Alu(function, inst.ops)),
            Step::LoadWord(ref memory @ Memory { space: Some(Space::Shared), base: Some(class), .. }, _) => {
                let base = Register { file: class, index: inst.ops.src[0] };
                self.load(pc, base, memory, inst.ops.dst[0]);
            }
            Step::LoadWord(..) => self.access(Move::LoadGlobal { pc }),
            Step::Store(ref memory)
                if memory.space == Some(Space::Shared) && memory.order == Order::Weak && memory.is_word() =>
            {
                self.access(Move::StoreShared { pc });
            }
            Step::Load(memory) | Step::Store(memory) if memory.order == Order::Weak => {
                self.access(Move::Access { pc });
            }
            _ => return false,
        }
        let Instruction { reads, writes, .. } = &program.instructions[pc as usize];
        for &reg in reads.iter().chain(writes) {
            self.last_use.insert(reg, pc);
        }
        for written in writes {
            self.open.remove(written);
        }
        self.length += 1;
        true
    }

    /// A load of words of shared memory. It is done together with earlier ones from the same base, unless its register
    /// is still needed for something else then.
    fn load(&mut self, pc: u32, base: Register, memory: &Memory, to: u16) {
        let last_use = self.last_use.get(&Register { file: RegisterFile::Word, index: to });
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
        self.rows.push(Rows {
            base,
            offset: memory.offset,
            scope: memory.scope,
            loads,
            to: vec![to],
            is_only_summed: false,
        });
    }

    /// Another access. The line may end with it, and it may write what loads behind it read: those are not done before.
    fn access(&mut self, access: Move) {
        self.moves.push(access);
        self.open.clear();
    }

    /// The line, which begins at `from`, is complete.
    fn end(self, program: &mut Program, uses: &Uses, from: u32) {
        let Builder { length, moves, mut rows, .. } = self;
        if length >= LEAST {
            let (moves, sums) = join_sums(moves, &mut rows, uses);
            let begin = &mut program.code[from as usize];
            debug_assert_eq!(begin.straight, NOWHERE);
            begin.straight = program.straight.len() as u32;
            program.straight.push(StraightLine { length, moves, rows, sums });
        }
    }
}

/// Joins multiply-adds that follow each other.
fn join_sums(moves: Vec<Move>, rows: &mut [Rows], uses: &Uses) -> (Vec<Move>, Vec<Sum>) {
    let (mut joined, mut sums) = (Vec::new(), Vec::<Sum>::new());
    // Registers that hold what a load of some rows brought, with nothing stored since then.
    let mut loaded: HashMap<u16, (u32, i64)> = HashMap::new();
    let mut summed = vec![0; rows.len()];
    let mut moves = moves.into_iter().peekable();
    while let Some(action) = moves.next() {
        let Move::MultiplyAdd(ops) = action else {
            match action {
                // Behind a branch others may come in, who did not load this.
                Move::LoadGlobal { .. }
                | Move::StoreShared { .. }
                | Move::Access { .. }
                | Move::Branch { .. } => loaded.clear(),
                Move::Loads(number) => {
                    let Rows { to, loads, .. } = &rows[number as usize];
                    let each = to.iter().zip(&loads.each).filter(|(to, _)| uses.is_link(**to));
                    loaded.extend(each.map(|(&to, load)| (to, (number, load.distance))));
                }
                _ => {}
            }
            joined.push(action);
            continue;
        };
        let [a, b, from, _] = ops.src;
        let mut sum = Sum { from, to: ops.dst[0], factors: vec![[a, b]], products: None };
        while let Some(&Move::MultiplyAdd(ops)) = moves.peek()
            && ops.src[2] == sum.to
            && !ops.src[..2].contains(&sum.to)
            && (ops.dst[0] == sum.to || uses.is_link(sum.to))
        {
            sum.to = ops.dst[0];
            sum.factors.push([ops.src[0], ops.src[1]]);
            moves.next();
        }
        if sum.factors.len() == 1 {
            joined.push(action);
            continue;
        }
        sum.products = row_products(&sum.factors, &loaded);
        if let Some(products) = &sum.products {
            products.rows.iter().for_each(|&number| summed[number as usize] += sum.factors.len());
        }
        joined.push(Move::Sum(sums.len() as u32));
        sums.push(sum);
    }
    for (rows, summed) in rows.iter_mut().zip(summed) {
        rows.is_only_summed = summed == rows.to.len();
    }
    (joined, sums)
}

/// The products of these factors as those of two rows; `loaded` tells which load each register is from.
fn row_products(factors: &[[u16; 2]], loaded: &HashMap<u16, (u32, i64)>) -> Option<RowProducts> {
    let mut rows = None;
    let mut distances = Vec::new();
    for [a, b] in factors {
        if a == b {
            return None;
        }
        let (&(a, at_a), &(b, at_b)) = (loaded.get(a)?, loaded.get(b)?);
        let (pair, distance) = if a < b { ([a, b], [at_a, at_b]) } else { ([b, a], [at_b, at_a]) };
        if *rows.get_or_insert(pair) != pair {
            return None;
        }
        distances.push(distance);
    }
    Some(RowProducts { rows: rows?, distances })
}
