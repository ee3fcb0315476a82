//! Straight lines: what a full warp, all of whose registers hold something, executes in one go.

use super::Machine;
use super::dispatch::per_cpu;
use super::scatter::{Source, all_ones};
use super::shared::SharedMemory;
use super::warp::Warp;
use crate::fault::{Space, Touch};
use crate::observer::{Access, Addresses, Observer, Order, Repeat, Site};
use crate::pattern::{Eight, Entry};
use crate::program::{MOST_ROWS, Move, Rows, Step, StraightLine};
use crate::registers::{Class, FULL, Lanes};

/// Where the lanes' words of the first load of some [`Rows`] are in shared memory.
#[derive(Clone, Copy)]
struct Placed {
    lie: Lie,
    /// The addresses of lanes 0, 8, 16 and 24.
    eights: [usize; 4],
    /// How they lie in detail.
    entry: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Lie {
    /// The words of eight neighbouring lanes, one behind the other.
    Contiguous,
    /// Eight neighbouring lanes have the same word.
    Same,
    /// In any other way.
    Mixed,
    /// Not known to be in bounds and written: each load has to be looked at.
    Unknown,
}

impl Placed {
    const UNKNOWN: Placed = Placed { lie: Lie::Unknown, eights: [0; 4], entry: 0 };
}

impl<O: Observer> Machine<'_, '_, O> {
    per_cpu! {
        /// Executes a straight line, which begins at `at`, for all lanes of the warp. Returns how many instructions were
        /// executed: fewer than it has only if some register no longer holds anything.
        pub(super) fn straight, straight_avx2, straight_any(
            warp: &mut Warp, fragment: usize, at: Site, line: &StraightLine
        ) -> u32;
    }

    #[inline(always)]
    fn straight_any(&mut self, warp: &mut Warp, fragment: usize, at: Site, line: &StraightLine) -> u32 {
        let mut rows = [Placed::UNKNOWN; MOST_ROWS];
        let mut executed = line.length;
        for action in &line.moves {
            match action {
                Move::Alu(function, ops) => {
                    // SAFETY: lowering chose the variant for this CPU.
                    unsafe { function(&mut warp.registers, ops, FULL) }
                }
                &Move::Look(number) => {
                    let number = usize::from(number) % MOST_ROWS;
                    if let Some(placed) = self.look(warp, at, &line.rows[number]) {
                        rows[number] = placed;
                    }
                }
                &Move::Load { rows: number, distance, to, pc } => {
                    let placed = &rows[usize::from(number) % MOST_ROWS];
                    if placed.lie == Lie::Unknown {
                        self.load_closely(warp, fragment, Site { pc, ..at });
                        if warp.registers.tainted {
                            executed = pc + 1 - at.pc;
                            break;
                        }
                        continue;
                    }
                    let to = warp.registers.word_mut(to);
                    let eights = placed.eights.map(|eight| eight.wrapping_add_signed(distance as isize));
                    // SAFETY: `look` saw that all lanes' words of all loads are inside, and how they lie.
                    unsafe {
                        match placed.lie {
                            Lie::Contiguous => copy_eights(&self.shared.data, eights, to),
                            Lie::Same => spread_eights(&self.shared.data, eights, to),
                            Lie::Mixed | Lie::Unknown => {
                                let entry = self.patterns.entry(placed.entry);
                                row(&self.shared, entry, eights[0]).gather_into(to);
                            }
                        }
                    }
                }
            }
        }
        if !O::SILENT {
            self.observer.issue_line(at, executed);
        }
        executed
    }

    /// Sees how the loads of some rows lie, and tells of them, if all are in bounds and of words that were written.
    #[inline(always)]
    fn look(&mut self, warp: &Warp, at: Site, rows: &Rows) -> Option<Placed> {
        let pc = rows.loads.each.first()?.pc;
        let (first, known) = if rows.base.class == Class::Wide {
            let base = warp.registers.wide(rows.base.index);
            (base[0].wrapping_add(rows.offset as u64), self.patterns.known_words(pc, base))
        } else {
            let base = warp.registers.word(rows.base.index);
            (u64::from(base[0].wrapping_add(rows.offset as u32)), self.patterns.known_words(pc, base))
        };
        let known = known?;
        let mut entry = self.patterns.entry(known);
        let last = (self.shared.data.len() as u64).checked_sub(4)?;
        let (lowest, highest) =
            (first.wrapping_add_signed(rows.loads.lowest), first.wrapping_add_signed(rows.loads.highest));
        if !entry.shape.fits(lowest, lowest, last, 4) || !entry.shape.fits(highest, highest, last, 4) {
            return None;
        }
        if self.context.track_poison {
            let from = lowest.wrapping_add(entry.shape.low) as usize;
            let to = highest.wrapping_add(entry.shape.low).wrapping_add(entry.shape.span) as usize + 4;
            let is_written = |load: &Repeat| {
                // SAFETY: all lanes' words are inside.
                unsafe { row(&self.shared, entry, first.wrapping_add_signed(load.distance) as usize) }
                    .all_valid(4)
            };
            // Mostly all of what lies between was written, too.
            if !all_ones(&self.shared.valid[from..to]) && !rows.loads.each.iter().all(is_written) {
                return None;
            }
        }
        if !O::SILENT {
            if !entry.has_pattern() {
                entry = self.patterns.aligned(known, first);
            }
            let access = Access {
                touch: Touch::Read,
                space: Space::Shared,
                bytes: 4,
                mask: FULL,
                addresses: Addresses::new(first, &entry.relative),
                pattern: &entry.pattern,
                order: Order::Weak,
                scope: rows.scope,
                is_async: false,
                values: None,
            };
            self.observer.loads(Site { pc, ..at }, &access, &rows.loads);
        }
        let lie = match entry.shape.eights {
            [Eight::Contiguous, Eight::Contiguous, Eight::Contiguous, Eight::Contiguous] => Lie::Contiguous,
            [Eight::Same, Eight::Same, Eight::Same, Eight::Same] => Lie::Same,
            _ => Lie::Mixed,
        };
        let eights = [0, 8, 16, 24].map(|lane| first.wrapping_add(entry.relative[lane]) as usize);
        Some(Placed { lie, eights, entry: known })
    }

    /// A load of a straight line by itself.
    #[inline(never)]
    fn load_closely(&mut self, warp: &mut Warp, fragment: usize, at: Site) {
        let inst = &self.context.program.code[at.pc as usize];
        let Step::LoadWord(memory, _) = &inst.step else { return };
        #[cfg(target_arch = "x86_64")]
        if self.has_avx2 {
            return self.load::<true>(warp, fragment, at, memory, &inst.ops, FULL);
        }
        self.load::<false>(warp, fragment, at, memory, &inst.ops, FULL);
    }
}

/// The words at the addresses of `entry`, the first lane's at `first`.
///
/// # Safety
/// All of them are inside shared memory.
#[inline(always)]
unsafe fn row<'s>(shared: &'s SharedMemory, entry: &'s Entry, first: usize) -> Source<'s> {
    let start = (first as u64).wrapping_neg();
    // SAFETY: as the caller promises.
    unsafe { Source::new(&shared.data, Some(&shared.valid), &entry.relative, start, entry.shape.eights, 4) }
}

/// Copies eight words from each of four places.
///
/// # Safety
/// All of them are inside `data`.
#[inline(always)]
unsafe fn copy_eights(data: &[u8], from: [usize; 4], to: &mut Lanes<u32>) {
    for (eight, words) in to.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        debug_assert!(from[eight] + 32 <= data.len());
        // SAFETY: as the caller promises.
        *words = unsafe { data.as_ptr().add(from[eight]).cast::<[u32; 8]>().read_unaligned() };
    }
}

/// Copies each of four words eight times.
///
/// # Safety
/// All of them are inside `data`.
#[inline(always)]
unsafe fn spread_eights(data: &[u8], from: [usize; 4], to: &mut Lanes<u32>) {
    for (eight, words) in to.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        debug_assert!(from[eight] + 4 <= data.len());
        // SAFETY: as the caller promises.
        *words = [unsafe { data.as_ptr().add(from[eight]).cast::<u32>().read_unaligned() }; 8];
    }
}
