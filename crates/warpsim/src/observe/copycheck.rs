//! Finds accesses to shared memory that a `cp.async` copy is still filling.
//!
//! A copy may land at any time between its issue and the end of the wait for its group, by the thread that issued it
//! (PTX ISA, "cp.async"): until then nobody may read or write where it goes, and a second copy to the same place may land
//! before or after it. So each word counts the copies on their way to it, and remembers the one issued last.

use super::finding::{Facts, Finding, FindingSet, Witness};
use super::{Check, Launched, Tally};
use crate::fault::{FaultKind, Severity, Space};
use crate::observer::{Access, Detail, LoadGroup, Observer, Site};
use crate::pattern::lanes;

/// Bytes of a word: no copy is smaller, or begins elsewhere.
const WORD: u64 = 4;

/// `copy_not_awaited`.
#[derive(Clone, Debug, Default)]
pub(super) struct Copycheck {
    findings: FindingSet,
    /// Words with a copy on its way.
    awaited: usize,
    /// A bit for each of them.
    bits: Vec<u64>,
    words: Vec<Word>,
}

/// The copies on their way to one word of shared memory.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    copies: u32,
    /// Instruction and thread of the latest one.
    pc: u32,
    thread: u32,
}

impl Copycheck {
    fn issue(&mut self, at: Site, access: &Access<'_>) {
        for lane in lanes(access.mask) {
            for number in words_of(access.addresses.of(lane), access.bytes) {
                if number >= self.words.len() {
                    self.words.resize((number + 1).next_power_of_two().max(1024), Word::default());
                    self.bits.resize(self.words.len().div_ceil(64), 0);
                }
                let word = &mut self.words[number];
                self.awaited += usize::from(word.copies == 0);
                *word = Word { copies: word.copies + 1, pc: at.pc, thread: 32 * at.warp + lane };
                self.bits[number / 64] |= 1 << (number % 64);
            }
        }
    }

    /// Whether any word of an access has a copy on its way. Most accesses are to a buffer that is complete.
    fn check(&mut self, at: Site, access: &Access<'_>) {
        let pattern = access.pattern;
        let first = access.addresses.of(access.mask.trailing_zeros());
        let lowest = first.wrapping_sub(pattern.first_offset);
        let is_awaited = pattern.runs.iter().any(|&(group, count)| {
            let start = lowest + pattern.groups[group].0;
            let end = start + count as u64 * u64::from(access.bytes);
            self.have_any((start / WORD) as usize, end.div_ceil(WORD) as usize)
        });
        if is_awaited {
            self.find(at, access);
        }
    }

    /// Whether a copy is on its way to one of the words from `start` up to `end`.
    #[inline]
    fn have_any(&self, start: usize, end: usize) -> bool {
        let end = end.min(self.words.len());
        start < end
            && (start / 64..=(end - 1) / 64).any(|index| {
                let above = u64::MAX << start.saturating_sub(64 * index);
                let below = u64::MAX >> (64 * (index + 1)).saturating_sub(end);
                self.bits[index] & above & below != 0
            })
    }

    #[cold]
    fn find(&mut self, at: Site, access: &Access<'_>) {
        for lane in lanes(access.mask) {
            let address = access.addresses.of(lane);
            let awaited =
                words_of(address, access.bytes).find(|&n| self.words.get(n).is_some_and(|w| w.copies > 0));
            let Some(number) = awaited else { continue };
            let Word { pc, thread, .. } = self.words[number];
            let finding = Finding {
                kind: FaultKind::CopyNotAwaited,
                severity: Severity::Error,
                party: Witness { pc: at.pc, thread: 32 * at.warp + lane, block: at.block },
                other: Some(Witness { pc, thread, block: at.block }),
                facts: Facts::Copy {
                    touch: access.touch,
                    is_async: access.is_async,
                    address: address.max(number as u64 * WORD),
                },
            };
            self.findings.report(finding, 1);
        }
    }
}

impl Check for Copycheck {
    fn merge(&mut self, later: Copycheck) {
        self.findings.merge(later.findings);
    }

    fn report(self, launched: &Launched<'_>, tally: &mut Tally) {
        self.findings.resolve(launched, &mut tally.faults);
    }
}

impl Observer for Copycheck {
    fn detail() -> Detail {
        Detail::Grouped
    }

    /// Shared memory is new.
    fn block_start(&mut self, _block: u64) {
        if self.awaited > 0 {
            self.bits.fill(0);
            self.words.fill(Word::default());
            self.awaited = 0;
        }
    }

    #[inline]
    fn access(&mut self, at: Site, access: &Access<'_>) {
        if access.space != Space::Shared {
            return;
        }
        if self.awaited > 0 {
            self.check(at, access);
        }
        if access.is_async {
            self.issue(at, access);
        }
    }

    #[inline]
    fn loads(&mut self, at: Site, access: &Access<'_>, loads: &LoadGroup) {
        if self.awaited > 0 {
            for (at, access) in loads.accesses(at, access) {
                self.check(at, &access);
            }
        }
    }

    fn copy_arrived(&mut self, _at: Site, access: &Access<'_>) {
        for lane in lanes(access.mask) {
            for number in words_of(access.addresses.of(lane), access.bytes) {
                let Some(word) = self.words.get_mut(number).filter(|word| word.copies > 0) else { continue };
                word.copies -= 1;
                if word.copies == 0 {
                    self.bits[number / 64] &= !(1 << (number % 64));
                    self.awaited -= 1;
                }
            }
        }
    }
}

/// The words that `bytes` bytes from `address` on lie in.
fn words_of(address: u64, bytes: u32) -> std::ops::Range<usize> {
    (address / WORD) as usize..(address + u64::from(bytes)).div_ceil(WORD) as usize
}
