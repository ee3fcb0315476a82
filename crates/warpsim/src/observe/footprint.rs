//! Records which words of global memory one block touches, and which of its threads do.

use std::collections::HashMap;

use super::{Check, Launched, Resolver, Tally};
use crate::fault::{Space, Touch};
use crate::observer::{Access, Detail, LoadGroup, Observer, Site};
use crate::report::{self, TouchedWord};

/// Bytes of a word.
const WORD: u64 = 4;

/// The words, by address / 4.
#[derive(Debug)]
pub(super) struct Footprint {
    block: u64,
    words: HashMap<u64, TouchedWord>,
}

impl Footprint {
    /// Of the block with this linear index.
    pub(super) fn of(block: u64) -> Footprint {
        Footprint { block, words: HashMap::new() }
    }

    #[cold]
    fn record(&mut self, warp: u32, access: &Access<'_>) {
        for lane in (0..32).filter(|lane| access.mask >> lane & 1 == 1) {
            let thread = 32 * warp + lane;
            let first = access.addresses.of(lane);
            for word in first / WORD..=(first + u64::from(access.bytes) - 1) / WORD {
                let touched = self.words.entry(word).or_default();
                match access.touch {
                    Touch::Read => {
                        touched.reads = touched.reads.saturating_add(1);
                        touched.reader.get_or_insert(thread);
                    }
                    Touch::Write | Touch::Atomic => {
                        touched.writes = touched.writes.saturating_add(1);
                        touched.writer = Some(thread);
                    }
                }
            }
        }
    }

    /// By buffer, in order of addresses, with names.
    fn resolve(self, resolver: &dyn Resolver) -> Vec<report::Footprint> {
        let mut words: Vec<(u64, TouchedWord)> = self.words.into_iter().collect();
        words.sort_unstable_by_key(|(word, _)| *word);
        let mut all: Vec<report::Footprint> = Vec::new();
        let mut start = None;
        for (word, touched) in words {
            let Some(nearest) = resolver.nearest(Space::Global, word * WORD) else { continue };
            let offset = nearest.offset as u64;
            let begins = (word * WORD).wrapping_sub(offset);
            if start != Some(begins) {
                start = Some(begins);
                all.push(report::Footprint { object: nearest.name, words: Vec::new() });
            }
            if let Some(last) = all.last_mut() {
                last.words.push(TouchedWord { offset, ..touched });
            }
        }
        all
    }
}

impl Check for Footprint {
    fn merge(&mut self, later: Footprint) {
        // At most one of the two saw the block in question.
        self.words.extend(later.words);
    }

    fn report(self, launched: &Launched<'_>, tally: &mut Tally) {
        tally.footprint = self.resolve(launched.resolver);
    }
}

impl Observer for Footprint {
    fn detail() -> Detail {
        Detail::Grouped
    }

    #[inline]
    fn access(&mut self, at: Site, access: &Access<'_>) {
        if at.block == self.block && access.space == Space::Global {
            self.record(at.warp, access);
        }
    }

    /// Global memory only.
    #[inline]
    fn loads(&mut self, _at: Site, _access: &Access<'_>, _loads: &LoadGroup) {}
}

#[cfg(test)]
mod tests {
    use super::super::{Context, InstructionFacts, Monitors, Nearest};
    use super::*;
    use crate::fault::SourceLine;
    use crate::launch::Checks;
    use crate::observer::{Order, Scope};
    use crate::pattern::Pattern;

    /// Buffers of 4096 bytes, one after the other.
    struct Pages;

    impl Resolver for Pages {
        fn line(&self, _: u32) -> Option<SourceLine> {
            None
        }

        fn nearest(&self, _: Space, address: u64) -> Option<Nearest> {
            let name = format!("page {}", address / 4096);
            Some(Nearest { name, bytes: 4096, offset: (address % 4096) as i64, is_dynamic: false })
        }
    }

    fn touch(monitors: &mut Monitors, [block, warp]: [u64; 2], touch: Touch, bytes: u32, base: u64) {
        let addresses: [u64; 32] = std::array::from_fn(|lane| base + u64::from(bytes) * lane as u64);
        let access = Access {
            touch,
            space: Space::Global,
            bytes,
            mask: 0b1011,
            addresses: (&addresses).into(),
            pattern: &Pattern::new(bytes, 0b1011, &addresses),
            order: Order::Weak,
            scope: Scope::Device,
            is_async: false,
            values: None,
        };
        monitors.access(Site { block, warp: warp as u32, pc: 0 }, &access);
    }

    fn monitors(block: [u32; 3]) -> Monitors {
        let instructions = vec![InstructionFacts::default()];
        let context = Context { grid_dim: [2, 3, 1], block_dim: [64, 1, 1], instructions };
        Monitors::new(&context, Checks::NONE).with_footprint_of(Some(block))
    }

    #[test]
    fn one_block_is_recorded_word_by_word_and_thread_by_thread() {
        let (mut first, mut later) = (monitors([1, 1, 0]), monitors([1, 1, 0]));
        touch(&mut first, [0, 0], Touch::Write, 4, 0);
        touch(&mut later, [3, 1], Touch::Read, 4, 4096);
        touch(&mut later, [3, 0], Touch::Read, 4, 4096);
        touch(&mut later, [3, 1], Touch::Write, 8, 8);
        touch(&mut later, [4, 0], Touch::Write, 4, 0);
        first.merge(later);
        let all = first.finish(&Pages).footprint;
        let names: Vec<&str> = all.iter().map(|footprint| footprint.object.as_str()).collect();
        assert_eq!(names, ["page 0", "page 1"]);
        let written: Vec<_> =
            all[0].words.iter().map(|word| (word.offset, word.writes, word.writer)).collect();
        let by = |thread| Some(thread);
        assert_eq!(
            written,
            [
                (8, 1, by(32)),
                (12, 1, by(32)),
                (16, 1, by(33)),
                (20, 1, by(33)),
                (32, 1, by(35)),
                (36, 1, by(35))
            ]
        );
        let read: Vec<_> = all[1].words.iter().map(|word| (word.offset, word.reads, word.reader)).collect();
        assert_eq!(read, [(0, 2, by(32)), (4, 2, by(33)), (12, 2, by(35))]);
    }

    #[test]
    fn a_block_outside_the_grid_has_none() {
        let mut monitors = monitors([2, 0, 0]);
        touch(&mut monitors, [1, 0], Touch::Write, 4, 0);
        touch(&mut monitors, [2, 0], Touch::Write, 4, 0);
        assert!(monitors.finish(&Pages).footprint.is_empty());
    }
}
