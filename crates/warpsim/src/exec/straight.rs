//! Straight lines: what a full warp, all of whose registers hold something, executes in one go.

use super::Machine;
use super::dispatch::per_cpu;
use super::load::{Lie, source_shared};
use super::scatter::all_ones;
use super::warp::Warp;
use super::words::{UNKNOWN, access_of_words};
use crate::fault::{Space, Touch};
use crate::isa;
use crate::observer::{Observer, Site};
use crate::pattern::Eight;
use crate::program::{Move, Rows, Step, StraightLine};
use crate::registers::FULL;

impl<O: Observer> Machine<'_, '_, O> {
    per_cpu! {
        /// Executes a straight line, which begins at `at`, for all lanes of the warp. Returns how many instructions were
        /// executed: fewer than it has if some register no longer holds anything, or a load needs a closer look.
        pub(super) fn straight, straight_avx2, straight_any(
            warp: &mut Warp, fragment: usize, at: Site, line: &StraightLine
        ) -> u32;
    }

    #[inline(always)]
    fn straight_any(&mut self, warp: &mut Warp, fragment: usize, at: Site, line: &StraightLine) -> u32 {
        let mut executed = line.length;
        for action in &line.moves {
            match action {
                Move::MultiplyAdd(ops) => isa::multiply_add(&mut warp.registers, ops),
                Move::Alu(function, ops) => {
                    // SAFETY: lowering chose the variant for this CPU.
                    unsafe { function(&mut warp.registers, ops, FULL) }
                }
                &Move::Loads(number) => {
                    let rows = &line.rows[number as usize];
                    if self.load_rows(warp, at, rows).is_none() {
                        executed = rows.loads.each[0].pc - at.pc;
                        break;
                    }
                }
                &Move::Access { pc } => {
                    self.access(warp, fragment, Site { pc, ..at });
                    if warp.registers.tainted {
                        executed = pc + 1 - at.pc;
                        break;
                    }
                }
            }
        }
        if !O::SILENT {
            self.observer.issue_line(at, executed);
        }
        executed
    }

    /// Does all loads of some rows, if each is in bounds and of words that were written, and lies as the first one did
    /// the last time.
    #[inline(always)]
    fn load_rows(&mut self, warp: &mut Warp, at: Site, rows: &Rows) -> Option<()> {
        let pc = rows.loads.each[0].pc;
        let (first, known) = self.place_words(warp, pc, rows.base, rows.offset, UNKNOWN)?;
        let mut entry = self.patterns.entry(known);
        let last = (self.shared.data.len() as u64).checked_sub(4)?;
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
        if !O::SILENT {
            if !entry.has_pattern() {
                entry = self.patterns.aligned(known, first);
            }
            let access = access_of_words(Touch::Read, Space::Shared, rows.scope, first, entry);
            self.observer.loads(Site { pc, ..at }, &access, &rows.loads);
        }
        let eights = [0, 8, 16, 24].map(|lane| first.wrapping_add(entry.relative[lane]));
        let loads = rows.loads.each.iter().zip(&rows.to);
        let data = self.shared.data.as_slice();
        match entry.shape.eights {
            [Eight::Contiguous, Eight::Contiguous, Eight::Contiguous, Eight::Contiguous] => {
                for (load, &to) in loads {
                    let to = warp.registers.word_mut(to);
                    for (words, eight) in to.as_chunks_mut::<8>().0.iter_mut().zip(eights) {
                        // SAFETY: the words are inside.
                        *words = unsafe { read(data, eight, load.distance) };
                    }
                }
            }
            [Eight::Same, Eight::Same, Eight::Same, Eight::Same] => {
                for (load, &to) in loads {
                    let to = warp.registers.word_mut(to);
                    for (words, eight) in to.as_chunks_mut::<8>().0.iter_mut().zip(eights) {
                        // SAFETY: the word is inside.
                        *words = [unsafe { read(data, eight, load.distance) }; 8];
                    }
                }
            }
            _ => {
                for (load, &to) in loads {
                    let lie = Lie::of_words(entry, first.wrapping_add_signed(load.distance));
                    source_shared(&self.shared, &lie, 4).gather_into(warp.registers.word_mut(to));
                }
            }
        }
        Some(())
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

/// What is `distance` bytes behind `address`.
///
/// # Safety
/// All of it is inside `data`; every bit pattern is a `T`.
#[inline(always)]
unsafe fn read<T: Copy>(data: &[u8], address: u64, distance: i64) -> T {
    let at = address.wrapping_add_signed(distance) as usize;
    debug_assert!(at + size_of::<T>() <= data.len());
    // SAFETY: as the caller promises.
    unsafe { data.as_ptr().add(at).cast::<T>().read_unaligned() }
}
