//! Finds superblocks, load groups and dot products.

use std::collections::HashMap;
use std::ops::Range;

use super::dot::Products;
use super::{Dot, Loads, Op, Superblock};
use crate::fault::Space;
use crate::observer::{GroupedLoad, LoadGroup, Order};
use crate::program::{Guard, Instruction, Memory, NOWHERE, Place, Program, Register, Step};
use crate::registers::RegisterFile;

/// Fewer instructions than this are not worth a superblock.
const LEAST: u32 = 2;

/// Branches that a superblock has at most: they are in the superblocks that begin after them, too.
const MOST_BRANCHES: u32 = 4;

/// Cuts superblocks out of a block of instructions that are entered and left at its ends only; it is in the program's last
/// function. The last superblock of a block goes on after its end.
pub(crate) fn plan(program: &mut Program, uses: &Uses, block: Range<u32>) {
    let end = program.code.len() as u32;
    let mut pc = block.start;
    while pc < block.end {
        let mut superblock = Builder::default();
        let from = pc;
        while pc < end && superblock.goes_on() && superblock.take(program, pc) {
            pc += 1;
        }
        superblock.end(program, uses, from);
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

/// A superblock that may get longer.
#[derive(Default)]
struct Builder {
    length: u32,
    branches: u32,
    ops: Vec<Op>,
    groups: Vec<Loads>,
    /// Load groups that may get more loads, by their base.
    open: HashMap<Register, usize>,
    /// The last instruction that read or wrote each register.
    last_use: HashMap<Register, u32>,
}

impl Builder {
    /// Whether anything can be executed after it.
    fn goes_on(&self) -> bool {
        !matches!(self.ops.last(), Some(Op::Branch { guard: Guard::Always, .. }))
    }

    /// Takes an instruction into the superblock, if it fits there.
    fn take(&mut self, program: &Program, pc: u32) -> bool {
        let inst = &program.code[pc as usize];
        match inst.step {
            Step::Branch { target, .. } if target != pc + 1 && self.branches < MOST_BRANCHES => {
                self.branches += 1;
                // What is after it may never be loaded.
                self.open.clear();
                self.ops.push(Op::Branch { pc, guard: inst.guard, target });
            }
            _ if inst.guard != Guard::Always => return false,
            Step::Nothing => {}
            Step::Alu(_) if program.instructions[pc as usize].is_multiply_add => {
                self.ops.push(Op::MultiplyAdd(inst.ops));
            }
            Step::Alu(function) => self.ops.push(Op::Alu(function, inst.ops)),
            Step::Load(memory) | Step::Store(memory) if memory.order == Order::Weak => {
                let is_load = matches!(inst.step, Step::Load(_));
                match (memory.space, memory.base_register(&inst.ops)) {
                    (Some(Space::Shared), Some(base)) if memory.is_plain_word() && is_load => {
                        self.load(pc, base, &memory, inst.ops.dst[0]);
                    }
                    (Some(Space::Global), Some(_)) if memory.is_plain_word() && is_load => {
                        self.access(Op::LoadGlobal(pc));
                    }
                    (Some(Space::Shared), Some(_)) if memory.is_plain_word() => {
                        self.access(Op::StoreShared(pc));
                    }
                    _ => self.access(Op::Access(pc)),
                }
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
            let loads = &mut self.groups[number];
            let distance = i32::try_from(memory.offset.wrapping_sub(loads.offset)).ok()?;
            let is_free = last_use.is_none_or(|&pc| pc < loads.pc());
            // Whether all are aligned is asked once.
            (is_free && distance % 4 == 0).then_some((loads, distance))
        });
        if let Some((loads, distance)) = open {
            loads.to.push(to);
            loads.group.add(GroupedLoad { pc, distance: i64::from(distance) });
            return;
        }
        self.open.insert(base, self.groups.len());
        self.ops.push(Op::Loads(self.groups.len() as u32));
        self.groups.push(Loads {
            base,
            offset: memory.offset,
            scope: memory.scope,
            group: LoadGroup::new(pc),
            to: vec![to],
            is_only_multiplied: false,
        });
    }

    /// Another access. The superblock may end with it, and it may write what later loads read: those are not done before.
    fn access(&mut self, access: Op) {
        self.ops.push(access);
        self.open.clear();
    }

    /// The superblock, which begins at `from`, is complete.
    fn end(self, program: &mut Program, uses: &Uses, from: u32) {
        let Builder { length, ops, mut groups, .. } = self;
        if length >= LEAST {
            let (ops, dots) = join_dots(ops, &mut groups, uses);
            let begin = &mut program.code[from as usize];
            debug_assert_eq!(begin.superblock, NOWHERE);
            begin.superblock = program.superblocks.len() as u32;
            program.superblocks.push(Superblock { length, ops, groups, dots });
        }
    }
}

/// Joins multiply-adds that follow each other.
fn join_dots(ops: Vec<Op>, groups: &mut [Loads], uses: &Uses) -> (Vec<Op>, Vec<Dot>) {
    let (mut joined, mut dots) = (Vec::new(), Vec::<Dot>::new());
    // Registers that hold what a load of some group brought, with nothing stored since then.
    let mut loaded: HashMap<u16, (u32, i64)> = HashMap::new();
    let mut multiplied = vec![0; groups.len()];
    let mut ops = ops.into_iter().peekable();
    while let Some(op) = ops.next() {
        let Op::MultiplyAdd(operands) = op else {
            match op {
                // After a branch others may come in, who did not load this.
                Op::LoadGlobal(_) | Op::StoreShared(_) | Op::Access(_) | Op::Branch { .. } => loaded.clear(),
                Op::Loads(number) => {
                    let Loads { to, group, .. } = &groups[number as usize];
                    let each = to.iter().zip(&group.each).filter(|(to, _)| uses.is_link(**to));
                    loaded.extend(each.map(|(&to, load)| (to, (number, load.distance))));
                }
                _ => {}
            }
            joined.push(op);
            continue;
        };
        let [a, b, from, _] = operands.src;
        let mut dot = Dot { from, to: operands.dst[0], factors: vec![[a, b]], products: None };
        while let Some(&Op::MultiplyAdd(next)) = ops.peek()
            && next.src[2] == dot.to
            && !next.src[..2].contains(&dot.to)
            && (next.dst[0] == dot.to || uses.is_link(dot.to))
        {
            dot.to = next.dst[0];
            dot.factors.push([next.src[0], next.src[1]]);
            ops.next();
        }
        if dot.factors.len() == 1 {
            joined.push(op);
            continue;
        }
        dot.products = products(&dot.factors, &loaded);
        if let Some(products) = &dot.products {
            products.groups().iter().for_each(|&number| multiplied[number as usize] += dot.factors.len());
        }
        joined.push(Op::Dot(dots.len() as u32));
        dots.push(dot);
    }
    for (loads, multiplied) in groups.iter_mut().zip(multiplied) {
        loads.is_only_multiplied = multiplied == loads.to.len();
    }
    (joined, dots)
}

/// The products of these factors as those of two load groups; `loaded` tells which load each register is from.
fn products(factors: &[[u16; 2]], loaded: &HashMap<u16, (u32, i64)>) -> Option<Products> {
    let mut groups = None;
    let mut distances = Vec::new();
    for [a, b] in factors {
        if a == b {
            return None;
        }
        let (&(a, at_a), &(b, at_b)) = (loaded.get(a)?, loaded.get(b)?);
        let (pair, distance) = if a < b { ([a, b], [at_a, at_b]) } else { ([b, a], [at_b, at_a]) };
        if *groups.get_or_insert(pair) != pair {
            return None;
        }
        distances.push(distance);
    }
    Some(Products::new(groups?, distances))
}
