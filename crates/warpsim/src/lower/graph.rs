//! The control-flow graph: where diverged lanes meet again, and which registers may be read unset.

use crate::program::{Guard, Instruction, NOWHERE, Place, Program, Register, Step};

#[cfg(feature = "fuse")]
use crate::fuse;

/// A basic block.
struct Block {
    start: u32,
    end: u32,
    /// Blocks that may follow; the number of blocks stands for leaving the function.
    next: Vec<usize>,
}

/// Sets the joins of the branches of the function that begins at instruction `first` and is the program's last
/// (`returned` is what its caller reads), and returns the registers that some path reads before it writes them.
pub(super) fn analyse(program: &mut Program, first: u32, returned: &[Place]) -> Vec<Register> {
    let blocks = blocks(program, first);
    let post_dominators = post_dominators(&blocks);
    let exit = blocks.len();
    for (block, &after) in blocks.iter().zip(&post_dominators) {
        // Lanes that go to a lone `ret` are done: nobody is to wait for them there, nor they for the others.
        let to = if after == exit || is_lone_exit(program, &blocks[after]) {
            NOWHERE
        } else {
            blocks[after].start
        };
        if let Step::Branch { join, .. } | Step::BranchTable { join, .. } =
            &mut program.code[block.end as usize - 1].step
        {
            *join = to;
        }
    }
    #[cfg(feature = "fuse")]
    {
        let uses = fuse::Uses::new(&program.instructions[first as usize..], returned);
        for block in &blocks {
            fuse::plan(program, &uses, block.start..block.end);
        }
    }
    #[cfg(not(feature = "fuse"))]
    let _ = returned;
    unset(program, &blocks)
}

fn is_lone_exit(program: &Program, block: &Block) -> bool {
    let inst = &program.code[block.start as usize];
    let leaves = matches!(inst.step, Step::Return | Step::Exit);
    block.end == block.start + 1 && leaves && inst.guard == Guard::Always
}

fn blocks(program: &Program, first: u32) -> Vec<Block> {
    let code = &program.code[first as usize..];
    let end = first + code.len() as u32;
    let targets = |pc: u32| -> Vec<u32> {
        match code[(pc - first) as usize].step {
            Step::Branch { target, .. } => vec![target],
            Step::BranchTable { table, .. } => program.jump_tables[table as usize].clone(),
            _ => Vec::new(),
        }
    };
    let leaves = |step: &Step| matches!(step, Step::Return | Step::Exit | Step::Trap);
    let mut leader = vec![false; code.len() + 1];
    leader[0] = true;
    for pc in first..end {
        let step = &code[(pc - first) as usize].step;
        let jumps = targets(pc);
        for &target in &jumps {
            leader[(target - first) as usize] = true;
        }
        if !jumps.is_empty() || leaves(step) || matches!(step, Step::BranchTable { .. }) {
            leader[(pc + 1 - first) as usize] = true;
        }
    }
    let starts: Vec<u32> = (first..end).filter(|pc| leader[(pc - first) as usize]).collect();
    let exit = starts.len();
    let number = |pc: u32| starts.binary_search(&pc).unwrap_or(exit);
    let mut blocks = Vec::new();
    for (i, &start) in starts.iter().enumerate() {
        let end = starts.get(i + 1).copied().unwrap_or(end);
        let last = &code[(end - 1 - first) as usize];
        let mut next: Vec<usize> = targets(end - 1).into_iter().map(number).collect();
        let unconditional = last.guard == Guard::Always
            && (leaves(&last.step) || matches!(last.step, Step::Branch { .. } | Step::BranchTable { .. }));
        if leaves(&last.step) {
            next.push(exit);
        }
        if !unconditional {
            next.push(number(end));
        }
        next.sort_unstable();
        next.dedup();
        blocks.push(Block { start, end, next });
    }
    blocks
}

/// The immediate post-dominator of each block, by the algorithm of Cooper, Harvey and Kennedy ("A Simple, Fast
/// Dominance Algorithm", 2001) on the reversed graph. Blocks that never leave the function get the exit.
fn post_dominators(blocks: &[Block]) -> Vec<usize> {
    let exit = blocks.len();
    let mut before = vec![Vec::new(); exit + 1];
    for (i, block) in blocks.iter().enumerate() {
        block.next.iter().for_each(|&n| before[n].push(i));
    }
    // Post-order of the reversed graph from the exit, without recursion.
    let mut order = vec![usize::MAX; exit + 1];
    let mut visited = vec![false; exit + 1];
    let mut finished = Vec::new();
    let mut stack = vec![(exit, 0)];
    visited[exit] = true;
    while let Some((node, child)) = stack.last_mut() {
        match before[*node].get(*child) {
            Some(&next) => {
                *child += 1;
                if !std::mem::replace(&mut visited[next], true) {
                    stack.push((next, 0));
                }
            }
            None => {
                order[*node] = finished.len();
                finished.push(*node);
                stack.pop();
            }
        }
    }
    let mut dominator = vec![usize::MAX; exit + 1];
    dominator[exit] = exit;
    let mut changed = true;
    while changed {
        changed = false;
        for &node in finished.iter().rev().filter(|&&n| n != exit) {
            let mut new = usize::MAX;
            for &next in blocks[node].next.iter().filter(|&&n| dominator[n] != usize::MAX) {
                new = if new == usize::MAX { next } else { meet(&dominator, &order, new, next) };
            }
            if dominator[node] != new {
                dominator[node] = new;
                changed = true;
            }
        }
    }
    dominator.truncate(exit);
    dominator.iter().map(|&d| if d == usize::MAX { exit } else { d }).collect()
}

fn meet(dominator: &[usize], order: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        while order[a] < order[b] {
            a = dominator[a];
        }
        while order[b] < order[a] {
            b = dominator[b];
        }
    }
    a
}

/// Registers live at the function's start: some path reads them first. A guarded write does not count as one.
fn unset(program: &Program, blocks: &[Block]) -> Vec<Register> {
    // Registers numbered densely as they appear.
    let mut numbers = std::collections::HashMap::new();
    let mut regs = Vec::new();
    let mut number = |reg: Register| {
        *numbers.entry(reg).or_insert_with(|| {
            regs.push(reg);
            regs.len() - 1
        })
    };
    let mut per_block: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
    for block in blocks {
        let (mut read, mut written) = (Vec::new(), Vec::new());
        let mut known = std::collections::HashSet::new();
        for pc in block.start..block.end {
            let inst = &program.code[pc as usize];
            let Instruction { guard, reads, writes, .. } = &program.instructions[pc as usize];
            for &reg in reads.iter().chain(guard.iter().map(|(reg, _)| reg)) {
                let n = number(reg);
                if !known.contains(&n) {
                    read.push(n);
                }
            }
            if inst.guard == Guard::Always {
                for &reg in writes {
                    let n = number(reg);
                    if known.insert(n) {
                        written.push(n);
                    }
                }
            }
        }
        per_block.push((read, written));
    }
    let words = regs.len().div_ceil(64);
    let bits = |list: &[usize]| {
        let mut set = vec![0u64; words];
        list.iter().for_each(|&n| set[n / 64] |= 1 << (n % 64));
        set
    };
    let sets: Vec<_> = per_block.iter().map(|(read, written)| (bits(read), bits(written))).collect();
    let mut live: Vec<Vec<u64>> = sets.iter().map(|(read, _)| read.clone()).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for i in (0..blocks.len()).rev() {
            for word in 0..words {
                let out = blocks[i].next.iter().filter_map(|&n| live.get(n)).fold(0, |all, l| all | l[word]);
                let new = sets[i].0[word] | (out & !sets[i].1[word]);
                if new != live[i][word] {
                    live[i][word] = new;
                    changed = true;
                }
            }
        }
    }
    let constants = |reg: &Register| -> bool {
        live.first().is_some_and(|l| {
            let n = numbers[reg];
            l[n / 64] >> (n % 64) & 1 != 0
        })
    };
    regs.iter().copied().filter(constants).collect()
}
