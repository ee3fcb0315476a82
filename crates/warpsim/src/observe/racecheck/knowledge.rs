//! What a thread knows of the others: a vector clock in the form that barriers give it.

/// Warps in the largest block.
pub(super) const WARPS: usize = 32;

/// How far the past of other threads is ordered before a thread: a vector clock, most of whose entries are the
/// same for all lanes of a warp.
#[derive(Clone, Debug, Default)]
pub(super) struct Knowledge {
    /// All lanes of a warp up to this clock.
    pub(super) warps: [u32; WARPS],
    /// Single threads, where more is known of them than of their warp; by ascending thread.
    pub(super) threads: Vec<(u32, u32)>,
    /// Blocks that ran before: (chain of releases, how many of its blocks).
    pub(super) blocks: Vec<(u32, u32)>,
}

impl Knowledge {
    /// Forgets everything, and keeps the allocations.
    pub(super) fn clear(&mut self) {
        self.warps = [0; WARPS];
        self.threads.clear();
        self.blocks.clear();
    }

    /// Up to which clock `thread` is known.
    pub(super) fn of_thread(&self, thread: u32) -> u32 {
        let single = self.threads.binary_search_by_key(&thread, |entry| entry.0);
        let single = single.map_or(0, |index| self.threads[index].1);
        self.warps[thread as usize / 32].max(single)
    }

    /// Learns of all lanes of a warp.
    pub(super) fn learn_warp(&mut self, warp: usize, clock: u32) {
        self.warps[warp] = self.warps[warp].max(clock);
    }

    /// Learns of one thread.
    pub(super) fn learn_thread(&mut self, thread: u32, clock: u32) {
        if clock > self.warps[thread as usize / 32] {
            match self.threads.binary_search_by_key(&thread, |entry| entry.0) {
                Ok(index) => self.threads[index].1 = self.threads[index].1.max(clock),
                Err(index) => self.threads.insert(index, (thread, clock)),
            }
        }
    }

    /// Learns what another knows.
    pub(super) fn join(&mut self, other: &Knowledge) {
        for (own, other) in self.warps.iter_mut().zip(other.warps) {
            *own = (*own).max(other);
        }
        // Both lists ascend, and mostly name the same threads.
        let mut at = 0;
        for &(thread, clock) in &other.threads {
            if clock <= self.warps[thread as usize / 32] {
                continue;
            }
            while self.threads.get(at).is_some_and(|own| own.0 < thread) {
                at += 1;
            }
            match self.threads.get_mut(at) {
                Some(own) if own.0 == thread => own.1 = own.1.max(clock),
                _ => self.threads.insert(at, (thread, clock)),
            }
        }
        join_blocks(&mut self.blocks, &other.blocks);
    }
}

/// Learns of the first `blocks` blocks of a chain of releases.
pub(super) fn learn_blocks(known: &mut Vec<(u32, u32)>, chain: u32, blocks: u32) {
    match known.iter_mut().find(|entry| entry.0 == chain) {
        Some(entry) => entry.1 = entry.1.max(blocks),
        None => known.push((chain, blocks)),
    }
}

/// Learns of all the chains of `other`.
pub(super) fn join_blocks(known: &mut Vec<(u32, u32)>, other: &[(u32, u32)]) {
    for &(chain, blocks) in other {
        learn_blocks(known, chain, blocks);
    }
}
