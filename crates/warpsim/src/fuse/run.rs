//! Straight lines: what a full warp, all of whose registers hold something, executes in one go.

use super::dot::{self as sum, Row};
use super::{Move, Rows, StraightLine, Sum};
use crate::exec::Machine;
use crate::exec::access::bytes::{all_ones, read};
use crate::exec::access::load::{Lie, source_shared};
use crate::exec::access::word::{UNKNOWN, access_of_words};
use crate::exec::dispatch::per_cpu;
use crate::exec::warp::Warp;
use crate::fault::{Space, Touch};
use crate::isa;
use crate::observer::{Detail, Observer, Site};
use crate::pattern::Eight;
use crate::program::{Guard, Step};
use crate::registers::FULL;

/// Where the words that the first load of some rows reads are.
#[derive(Clone, Copy)]
pub(crate) struct Placed {
    first: u64,
    /// The cache's entry of how they lie; [`UNKNOWN`]: look into the registers.
    entry: u32,
}

impl Placed {
    pub(crate) const IN_REGISTERS: Placed = Placed { first: 0, entry: UNKNOWN };
}

/// How a straight line was left.
#[derive(Clone, Copy)]
pub(crate) struct Left {
    /// Behind the last instruction that was executed.
    pub(crate) end: u32,
    /// The next one.
    pub(crate) next: u32,
}

impl<O: Observer> Machine<'_, '_, O> {
    per_cpu! {
        /// Executes a straight line, which begins at `at`, for all lanes of the warp. Returns behind which instruction it
        /// left the line, and where the warp goes on.
        pub(crate) fn straight, straight_avx2, straight_any(
            warp: &mut Warp, fragment: usize, at: Site, line: &StraightLine
        ) -> Left;
    }

    #[inline(always)]
    fn straight_any(&mut self, warp: &mut Warp, fragment: usize, at: Site, line: &StraightLine) -> Left {
        let mut told = at.pc;
        let mut left = Left { end: at.pc + line.length, next: at.pc + line.length };
        for action in &line.moves {
            match action {
                Move::MultiplyAdd(ops) => isa::multiply_add(&mut warp.registers, ops),
                Move::Alu(function, ops) => {
                    // SAFETY: lowering chose the variant for this CPU.
                    unsafe { function(&mut warp.registers, ops, FULL) }
                }
                &Move::Sum(number) => self.sum(warp, line, &line.sums[number as usize]),
                &Move::Loads(number) => {
                    let rows = &line.rows[number as usize];
                    if self.load_rows(warp, at, number, rows).is_none() {
                        self.load_each(warp, fragment, at, number, rows);
                        if warp.registers.tainted {
                            left = self.rest(warp, fragment, at, line, rows.loads.each[0].pc + 1);
                            break;
                        }
                    }
                }
                &Move::LoadGlobal { pc } => {
                    let inst = &self.context.program.code[pc as usize];
                    let here = Site { pc, ..at };
                    let is_done = match &inst.step {
                        Step::LoadWord(memory, _) => {
                            self.load_known_word::<false>(warp, here, memory, &inst.ops, &mut UNKNOWN.clone())
                        }
                        _ => false,
                    };
                    if !is_done {
                        self.access(warp, fragment, here);
                        if warp.registers.tainted {
                            left = self.rest(warp, fragment, at, line, pc + 1);
                            break;
                        }
                    }
                }
                &Move::StoreShared { pc } => {
                    warp.fragments[fragment].idle = 0;
                    let inst = &self.context.program.code[pc as usize];
                    let here = Site { pc, ..at };
                    let is_done = match &inst.step {
                        Step::Store(memory) => self.store_shared_word(warp, here, memory, &inst.ops),
                        _ => false,
                    };
                    if !is_done {
                        self.access(warp, fragment, here);
                    }
                }
                &Move::Access { pc } => {
                    self.access(warp, fragment, Site { pc, ..at });
                    if warp.registers.tainted {
                        left = self.rest(warp, fragment, at, line, pc + 1);
                        break;
                    }
                }
                &Move::Branch { pc, guard, target } => {
                    let here = Site { pc, ..at };
                    if let Some(way) = self.branch(warp, fragment, here, guard, target, &mut told) {
                        left = way;
                        break;
                    }
                }
            }
        }
        if O::detail() != Detail::Faults && told < left.end {
            self.observer.issue_run(Site { pc: told, ..at }, left.end - told);
        }
        left
    }

    /// A branch of a straight line. Returns where it is left, if it is; all instructions before `told` have been told of.
    #[inline(always)]
    fn branch(
        &mut self,
        warp: &mut Warp,
        fragment: usize,
        at: Site,
        guard: Guard,
        target: u32,
        told: &mut u32,
    ) -> Option<Left> {
        let pc = at.pc;
        let taken = match guard {
            Guard::Always => FULL,
            Guard::If(p) => warp.registers.pred(p),
            Guard::Unless(p) => !warp.registers.pred(p),
        };
        if taken != 0 && taken != FULL {
            return Some(Left { end: pc, next: pc });
        }
        if O::detail() != Detail::Faults {
            // A branch that nobody takes is not issued.
            let behind = if taken == 0 { pc } else { pc + 1 };
            self.observer.issue_run(Site { pc: *told, ..at }, behind - *told);
            if guard != Guard::Always {
                self.observer.branch(at, FULL, taken);
            }
        }
        *told = pc + 1;
        if taken == 0 {
            return None;
        }
        let fragment = &mut warp.fragments[fragment];
        if target > pc {
            fragment.jump = pc;
        } else {
            fragment.back_edge = pc;
        }
        Some(Left { end: pc + 1, next: target })
    }

    /// Does all loads of some rows, if each is in bounds and of words that were written, and lies as the first one did
    /// the last time.
    #[inline(always)]
    fn load_rows(&mut self, warp: &mut Warp, at: Site, number: u32, rows: &Rows) -> Option<()> {
        let pc = rows.loads.each[0].pc;
        let (first, known) = self.place_words(warp, pc, rows.base, rows.offset, UNKNOWN)?;
        let mut entry = self.patterns.entry(known);
        let last = (self.shared.bytes as u64).checked_sub(4)?;
        let lowest = first.wrapping_add_signed(rows.loads.lowest);
        let highest = first.wrapping_add_signed(rows.loads.highest);
        if !entry.shape.fits(lowest, lowest, last, 4) || !entry.shape.fits(highest, highest, last, 4) {
            return None;
        }
        if self.context.track_poison {
            let from = lowest.wrapping_add(entry.shape.low) as usize;
            let to = highest.wrapping_add(entry.shape.low).wrapping_add(entry.shape.span) as usize + 4;
            let is_valid = |distance: i64| {
                let lie = Lie::of_words(entry, first.wrapping_add_signed(distance));
                source_shared(&self.shared, &lie, 4).all_valid(4)
            };
            // Mostly all of what lies between was written, too.
            if !all_ones(&self.shared.valid[from..to])
                && !rows.loads.each.iter().all(|load| is_valid(load.distance))
            {
                return None;
            }
        }
        if O::detail() != Detail::Faults {
            if !entry.has_pattern() {
                entry = self.patterns.aligned(known, first);
            }
            let access = access_of_words(Touch::Read, Space::Shared, rows.scope, first, entry);
            self.observer.loads(Site { pc, ..at }, &access, &rows.loads);
        }
        if entry.shape.all_eights != Eight::Scattered {
            self.placed[number as usize] = Placed { first, entry: known };
            if rows.is_only_summed {
                return Some(());
            }
        } else {
            self.placed[number as usize] = Placed::IN_REGISTERS;
        }
        self.fill(warp, rows, first, known);
        Some(())
    }

    /// Copies what the loads of some rows read into their registers.
    #[inline(always)]
    fn fill(&self, warp: &mut Warp, rows: &Rows, first: u64, entry: u32) {
        let entry = self.patterns.entry(entry);
        let eights = entry.eights_at(first);
        let loads = rows.loads.each.iter().zip(&rows.to);
        let data = self.shared.data.as_slice();
        match entry.shape.all_eights {
            Eight::Contiguous => {
                for (load, &to) in loads {
                    let to = warp.registers.word_mut(to);
                    for (words, eight) in to.as_chunks_mut::<8>().0.iter_mut().zip(eights) {
                        // SAFETY: the words are inside.
                        *words = unsafe { read(data, eight.wrapping_add_signed(load.distance)) };
                    }
                }
            }
            Eight::Same => {
                for (load, &to) in loads {
                    let to = warp.registers.word_mut(to);
                    for (words, eight) in to.as_chunks_mut::<8>().0.iter_mut().zip(eights) {
                        // SAFETY: the word is inside.
                        *words = [unsafe { read(data, eight.wrapping_add_signed(load.distance)) }; 8];
                    }
                }
            }
            Eight::Scattered => {
                for (load, &to) in loads {
                    let lie = Lie::of_words(entry, first.wrapping_add_signed(load.distance));
                    source_shared(&self.shared, &lie, 4).gather_into(warp.registers.word_mut(to));
                }
            }
        }
    }

    /// Copies what is still missing in the registers of rows that have been placed. (Others have been copied already; by
    /// now something else may be in their registers, or where they were.)
    fn fill_summed(&self, warp: &mut Warp, rows: &Rows, placed: Placed) {
        if rows.is_only_summed && placed.entry != UNKNOWN {
            self.fill(warp, rows, placed.first, placed.entry);
        }
    }

    /// The loads of some rows one by one.
    #[cold]
    fn load_each(&mut self, warp: &mut Warp, fragment: usize, at: Site, number: u32, rows: &Rows) {
        self.placed[number as usize] = Placed::IN_REGISTERS;
        for load in &rows.loads.each {
            self.access(warp, fragment, Site { pc: load.pc, ..at });
        }
    }

    /// The rest of a straight line from instruction `next` on, up to a branch, where some registers no longer hold
    /// anything.
    #[cold]
    fn rest(&mut self, warp: &mut Warp, fragment: usize, at: Site, line: &StraightLine, next: u32) -> Left {
        let done: Vec<&Rows> = line.rows.iter().take_while(|rows| rows.loads.each[0].pc < next).collect();
        for (rows, placed) in done.iter().zip(self.placed.clone()) {
            self.fill_summed(warp, rows, placed);
        }
        let end = at.pc + line.length;
        for pc in next..end {
            let at = Site { pc, ..at };
            let inst = &self.context.program.code[pc as usize];
            match inst.step {
                // To look at its guard is left to the interpreter.
                Step::Branch { .. } => return Left { end: pc, next: pc },
                Step::Alu(function) => {
                    // SAFETY: lowering chose the variant for this CPU.
                    unsafe { function(&mut warp.registers, &inst.ops, FULL) };
                    self.flow(warp, pc, &inst.ops, FULL);
                }
                _ if done.iter().any(|rows| rows.loads.each.iter().any(|load| load.pc == pc)) => {}
                _ => self.access(warp, fragment, at),
            }
        }
        Left { end, next: end }
    }

    #[inline(always)]
    fn sum(&mut self, warp: &mut Warp, line: &StraightLine, sum: &Sum) {
        #[cfg(target_arch = "x86_64")]
        let has_avx2 = self.has_avx2;
        #[cfg(not(target_arch = "x86_64"))]
        let has_avx2 = false;
        if let Some(products) = &sum.products {
            let placed = products.rows.map(|number| self.placed[number as usize]);
            if placed.iter().all(|placed| placed.entry != UNKNOWN) {
                let rows = placed.map(|Placed { first, entry }| {
                    let entry = self.patterns.entry(entry);
                    Row { eights: entry.eights_at(first), is_same: entry.shape.eights[0] == Eight::Same }
                });
                let from = warp.registers.word(sum.from);
                // SAFETY: `load_rows` saw that all words are inside.
                let total =
                    unsafe { sum::of_rows(has_avx2, from, &self.shared.data, rows, &products.distances) };
                *warp.registers.word_mut(sum.to) = total;
                return;
            }
            for (number, placed) in products.rows.into_iter().zip(placed) {
                self.fill_summed(warp, &line.rows[number as usize], placed);
            }
        }
        sum::of_registers(has_avx2, &mut warp.registers, sum);
    }

    /// A load or a store of a straight line by itself.
    #[inline(never)]
    fn access(&mut self, warp: &mut Warp, fragment: usize, at: Site) {
        #[cfg(target_arch = "x86_64")]
        if self.has_avx2 {
            return self.access_on::<true>(warp, fragment, at);
        }
        self.access_on::<false>(warp, fragment, at);
    }

    #[inline(always)]
    fn access_on<const AVX2: bool>(&mut self, warp: &mut Warp, fragment: usize, at: Site) {
        let inst = &self.context.program.code[at.pc as usize];
        match &inst.step {
            Step::LoadWord(memory, _) => {
                self.load_word::<AVX2>(warp, fragment, at, memory, &inst.ops, FULL, &mut UNKNOWN.clone());
            }
            Step::Load(memory) => self.load::<AVX2>(warp, fragment, at, memory, &inst.ops, FULL),
            Step::Store(memory) => self.store::<AVX2>(warp, fragment, at, memory, &inst.ops, FULL),
            _ => {}
        }
    }
}
