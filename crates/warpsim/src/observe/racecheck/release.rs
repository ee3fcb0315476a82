//! Releases: what a thread made visible through a flag, a lock or a counter, for whoever reads that next.

use std::collections::HashMap;

use super::knowledge::Knowledge;
use crate::fault::Space;

/// What one release makes visible.
#[derive(Clone, Debug, Default)]
pub(super) struct Snapshot {
    /// Everything that the block did before this phase.
    pub(super) phase: u32,
    /// And what was known within it.
    pub(super) knowledge: Knowledge,
}

/// Releases on one location, each continuing the last by a read-modify-write. A plain or volatile store starts a
/// new chain: who reads its value learns nothing of the old one.
#[derive(Clone, Debug, Default)]
struct Chain {
    /// The releases of the block that runs, of any scope, as one.
    local: Option<(u32, Snapshot)>,
    /// Those that reach beyond their block, joined by block: (first phase of the block, what it released).
    /// Blocks run one after another, so that a block's later releases are no news to its earlier ones.
    wide: Vec<(u32, Snapshot)>,
}

/// All chains of releases.
#[derive(Clone, Debug, Default)]
pub(super) struct Releases {
    chains: Vec<Chain>,
    global: HashMap<u64, u32>,
    shared: HashMap<u64, u32>,
}

impl Releases {
    /// A block starts: its shared memory is new.
    pub(super) fn block_start(&mut self) {
        self.shared.clear();
    }

    fn at(&self, space: Space) -> &HashMap<u64, u32> {
        if space == Space::Shared { &self.shared } else { &self.global }
    }

    fn at_mut(&mut self, space: Space) -> &mut HashMap<u64, u32> {
        if space == Space::Shared { &mut self.shared } else { &mut self.global }
    }

    /// Whether nothing in `space` was ever released.
    pub(super) fn is_empty(&self, space: Space) -> bool {
        self.at(space).is_empty()
    }

    /// A store replaces the value that the location's chain led to.
    pub(super) fn end_chain(&mut self, space: Space, address: u64) {
        self.at_mut(space).remove(&address);
    }

    /// Adds what a thread of the block that began with `block_phase` releases; `wide` if other blocks can see it.
    pub(super) fn release(
        &mut self,
        space: Space,
        address: u64,
        block_phase: u32,
        snapshot: &Snapshot,
        wide: bool,
    ) {
        let next = self.chains.len() as u32;
        let id = *self.at_mut(space).entry(address).or_insert(next);
        if id == next {
            self.chains.push(Chain::default());
        }
        let chain = &mut self.chains[id as usize];
        match &mut chain.local {
            Some((of, local)) if *of == block_phase => local.add(snapshot),
            local => *local = Some((block_phase, snapshot.clone())),
        }
        if wide {
            match chain.wide.last_mut() {
                Some((of, last)) if *of == block_phase => last.add(snapshot),
                _ => chain.wide.push((block_phase, snapshot.clone())),
            }
        }
    }

    /// What a thread learns that reads the location: from its own block, and (chain, blocks) from earlier ones.
    pub(super) fn acquire(
        &self,
        space: Space,
        address: u64,
        block_phase: u32,
    ) -> (Option<&Knowledge>, Option<(u32, u32)>) {
        let Some(&id) = self.at(space).get(&address) else { return (None, None) };
        let chain = &self.chains[id as usize];
        let local = chain.local.as_ref().filter(|local| local.0 == block_phase);
        let earlier = chain.wide.partition_point(|entry| entry.0 < block_phase) as u32;
        (local.map(|local| &local.1.knowledge), (earlier > 0).then_some((id, earlier)))
    }

    /// Whether `known` chains, or what those that released on them knew in turn, tell of what `thread` did at
    /// `clock` in `phase`, in the block that began with `block_phase`.
    pub(super) fn tell_of(
        &self,
        known: &[(u32, u32)],
        block_phase: u32,
        phase: u32,
        thread: u32,
        clock: u32,
    ) -> bool {
        let mut seen: HashMap<u32, u32> = HashMap::new();
        let mut open = known.to_vec();
        while let Some((chain, blocks)) = open.pop() {
            let looked_at = seen.entry(chain).or_insert(0);
            if *looked_at >= blocks {
                continue;
            }
            let entries = &self.chains[chain as usize].wide[..blocks as usize];
            if let Ok(index) = entries.binary_search_by_key(&block_phase, |entry| entry.0)
                && entries[index].1.tells_of(phase, thread, clock)
            {
                return true;
            }
            for (_, snapshot) in &entries[*looked_at as usize..] {
                open.extend(&snapshot.knowledge.blocks);
            }
            *looked_at = blocks;
        }
        false
    }
}

impl Snapshot {
    fn add(&mut self, later: &Snapshot) {
        self.phase = self.phase.max(later.phase);
        self.knowledge.join(&later.knowledge);
    }

    fn tells_of(&self, phase: u32, thread: u32, clock: u32) -> bool {
        phase < self.phase || clock <= self.knowledge.of_thread(thread)
    }
}
