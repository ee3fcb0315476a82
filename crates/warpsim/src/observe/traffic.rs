//! Counts requests, sectors, wavefronts and bytes, by instruction and by kind of memory.

use super::worst::Worst;
use super::{Check, Launched, Tally};
use crate::counters::Counters;
use crate::fault::{Space, Touch};
use crate::observer::{Access, Detail, LoadGroup, Observer, Site};

/// The kinds of traffic that have counters of their own.
const CLASSES: usize = 7;

/// Costs by instruction.
#[derive(Clone, Debug)]
pub(super) struct Traffic {
    by_pc: Vec<[Cost; CLASSES]>,
    /// By the first of the instructions.
    alike: Vec<Alike>,
    worst: Worst,
}

/// What loads of shared memory that are alike have cost, each of them.
#[derive(Clone, Debug, Default)]
struct Alike {
    instructions: Vec<u32>,
    requests: u64,
    wavefronts: u64,
    /// Of the costliest request.
    most: u32,
}

/// What the requests of one instruction to one kind of memory have cost.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    requests: u64,
    bytes: u64,
    sectors: u64,
    wavefronts: u64,
    conflicts: u64,
    /// Sectors (global memory) or wavefronts of the costliest request so far.
    most: u32,
}

#[derive(Clone, Copy)]
enum Class {
    GlobalLoad,
    GlobalStore,
    GlobalAtomic,
    SharedLoad,
    SharedStore,
    SharedAtomic,
    ConstantLoad,
}

impl Class {
    /// Local memory and parameters have no counters.
    #[inline]
    fn of(space: Space, touch: Touch) -> Option<Class> {
        Some(match (space, touch) {
            (Space::Global, Touch::Read) => Class::GlobalLoad,
            (Space::Global, Touch::Write) => Class::GlobalStore,
            (Space::Global, Touch::Atomic) => Class::GlobalAtomic,
            (Space::Shared, Touch::Read) => Class::SharedLoad,
            (Space::Shared, Touch::Write) => Class::SharedStore,
            (Space::Shared, Touch::Atomic) => Class::SharedAtomic,
            (Space::Constant, Touch::Read) => Class::ConstantLoad,
            _ => return None,
        })
    }
}

impl Traffic {
    pub(super) fn new(instructions: usize) -> Traffic {
        Traffic {
            by_pc: vec![[Cost::default(); CLASSES]; instructions],
            alike: vec![Alike::default(); instructions],
            worst: Worst::default(),
        }
    }

    #[cold]
    #[inline(never)]
    fn keep_worst(&mut self, at: Site, access: &Access<'_>, loads: &LoadGroup) {
        let class = Class::SharedLoad as usize;
        let wavefronts = access.pattern.load_wavefronts;
        self.alike[at.pc as usize].instructions = loads.each.iter().map(|load| load.pc).collect();
        for (at, access) in loads.accesses(at, access) {
            let most = &mut self.by_pc[at.pc as usize][class].most;
            if wavefronts > *most {
                *most = wavefronts;
                self.worst.keep(at, class, wavefronts, wavefronts, &access);
            }
        }
    }

    /// Adds what was counted for several instructions at once to each of them.
    fn spread(&mut self) {
        for alike in &mut self.alike {
            let Alike { instructions, requests, wavefronts, .. } = std::mem::take(alike);
            for pc in instructions {
                let cost = &mut self.by_pc[pc as usize][Class::SharedLoad as usize];
                cost.requests += requests;
                cost.bytes += 4 * 32 * requests;
                cost.wavefronts += wavefronts;
                // A word a lane takes one wavefront at least.
                cost.conflicts += wavefronts - requests;
            }
        }
    }

    /// Fills in the counters of instruction `pc`.
    fn count(&self, pc: usize, counters: &mut Counters) {
        let cost = |class: Class| &self.by_pc[pc][class as usize];
        let load = cost(Class::GlobalLoad);
        counters.global_load_requests = load.requests;
        counters.global_load_sectors = load.sectors;
        counters.global_load_bytes = load.bytes;
        let store = cost(Class::GlobalStore);
        counters.global_store_requests = store.requests;
        counters.global_store_sectors = store.sectors;
        counters.global_store_bytes = store.bytes;
        counters.global_atomic_requests = cost(Class::GlobalAtomic).requests;
        let load = cost(Class::SharedLoad);
        counters.shared_load_requests = load.requests;
        counters.shared_load_wavefronts = load.wavefronts;
        counters.shared_load_bank_conflicts = load.conflicts;
        let store = cost(Class::SharedStore);
        counters.shared_store_requests = store.requests;
        counters.shared_store_wavefronts = store.wavefronts;
        counters.shared_store_bank_conflicts = store.conflicts;
        counters.shared_atomic_requests = cost(Class::SharedAtomic).requests;
        counters.constant_load_requests = cost(Class::ConstantLoad).requests;
    }
}

impl Check for Traffic {
    fn merge(&mut self, later: Traffic) {
        for (cost, later) in self.by_pc.as_flattened_mut().iter_mut().zip(later.by_pc.as_flattened()) {
            cost.requests += later.requests;
            cost.bytes += later.bytes;
            cost.sectors += later.sectors;
            cost.wavefronts += later.wavefronts;
            cost.conflicts += later.conflicts;
            cost.most = cost.most.max(later.most);
        }
        for (alike, later) in self.alike.iter_mut().zip(&later.alike) {
            if alike.instructions.is_empty() {
                alike.instructions.clone_from(&later.instructions);
            }
            alike.requests += later.requests;
            alike.wavefronts += later.wavefronts;
            alike.most = alike.most.max(later.most);
        }
        self.worst.merge(&later.worst);
    }

    fn report(mut self, launched: &Launched<'_>, tally: &mut Tally) {
        self.spread();
        for (pc, counters) in tally.counters.iter_mut().enumerate() {
            self.count(pc, counters);
        }
        tally.worst = self.worst.resolve(launched);
    }
}

impl Observer for Traffic {
    fn detail() -> Detail {
        Detail::Grouped
    }

    #[inline]
    fn access(&mut self, at: Site, access: &Access<'_>) {
        let Some(class) = Class::of(access.space, access.touch) else { return };
        let pattern = access.pattern;
        let wavefronts = match access.touch {
            Touch::Read => pattern.load_wavefronts,
            Touch::Write | Touch::Atomic => pattern.store_wavefronts,
        };
        let least = (access.bytes / 4).max(1);
        let cost = &mut self.by_pc[at.pc as usize][class as usize];
        cost.requests += 1;
        let lanes = if access.mask == u32::MAX { 32 } else { access.mask.count_ones() };
        cost.bytes += u64::from(access.bytes * lanes);
        cost.sectors += u64::from(pattern.sectors);
        cost.wavefronts += u64::from(wavefronts);
        cost.conflicts += u64::from(wavefronts.saturating_sub(least));
        let most = if access.space == Space::Global { pattern.sectors } else { wavefronts };
        if most > cost.most {
            cost.most = most;
            self.worst.keep(at, class as usize, most, wavefronts, access);
        }
    }

    /// As [`Self::access`] for each of them; all cost the same.
    #[inline]
    fn loads(&mut self, at: Site, access: &Access<'_>, loads: &LoadGroup) {
        let wavefronts = access.pattern.load_wavefronts;
        let alike = &mut self.alike[at.pc as usize];
        alike.requests += 1;
        alike.wavefronts += u64::from(wavefronts);
        if wavefronts > alike.most {
            alike.most = wavefronts;
            self.keep_worst(at, access, loads);
        }
    }
}
