//! Finds races: two accesses to a byte, one of them a write, by different threads, that nothing orders.
//!
//! # The algorithm
//!
//! Happens-before with vector clocks, in FastTrack's form (Flanagan and Freund, *FastTrack: Efficient and Precise
//! Dynamic Race Detection*, PLDI 2009): of the writes to a place it is enough to remember the last one. As in
//! BARRACUDA (Eizenberg et al., PLDI 2017) and CURD (Peng et al., PLDI 2018), which did this for CUDA, clocks are
//! compressed along the hierarchy of threads:
//!
//! - A *phase* ends when all threads of a block meet at a barrier; all that happened in earlier phases of a block is
//!   ordered before all of it now. An access in an earlier phase costs one comparison, and that is nearly all there
//!   is in kernels which synchronise by `__syncthreads()`.
//! - Each *warp* has a clock, which grows with its synchronising instructions, and a mark up to which its lanes are
//!   ordered among themselves: `__syncwarp()` moves it.
//! - What else a thread knows (named barriers for some warps, `__syncwarp` with some lanes, flags and counters) is a
//!   vector clock of its own ([`knowledge`]), forgotten at the end of the phase.
//! - A *release* (a fence followed by an atomic or volatile access, or one with `.release`) leaves what its thread
//!   knows at the location; who reads it there learns that. Blocks are executed one after another, so what earlier
//!   blocks released is a list, and to know of it takes two numbers ([`release`]).
//!
//! Atomics, and volatile and qualified stores, to one place have an order that all threads agree on; so of those, too,
//! only the last is remembered. (The block that counts itself last may reset the counter by an ordinary store.)
//!
//! Lanes of a warp are not ordered by running in lock step, except that one instruction reads before it writes.
//! Shuffles and votes order nothing. The shadow of shared memory ([`shared`]) is exact; that of global memory
//! ([`global`]) keeps witnesses. Both are by word, and by smaller cells where narrower accesses are seen.
//!
//! # What is let pass
//!
//! - One execution is looked at: a race on a path not taken is not found. Neither is one whose threads happened to
//!   synchronise through a flag or lock by accident of the schedule.
//! - An atomic read-modify-write acquires without a fence after it, as NVIDIA's `threadFenceReduction` sample relies on.
//!   A plain store to a flag does not end the chain of releases there.
//! - Threads that returned count as having arrived at every later barrier.
//! - `cp.async` writes are taken to happen when issued, and once more when waited for; what comes between is not this
//!   observer's matter ([`copycheck`](super::copycheck)).
//! - Volatile accesses are taken for flags, which may be read while they are written. Within a warp, those that go to
//!   a place for each lane are taken for data (warp-synchronous code).
//! - Clocks have 32 bits, and grow with synchronising instructions: 2^32 of those exceed the default fuel.

mod conflict;
mod deferred;
mod global;
mod knowledge;
mod order;
mod release;
mod shared;
mod witness;

use super::finding::FindingSet;
use super::{Check, Launched, Tally};
use crate::fault::{Space, Touch};
use crate::observer::{Access, Arrival, Detail, LoadGroup, Observer, Order as Qualifier, Scope, Site};
use crate::pattern::Pattern;
use conflict::{Class, Code, Current, Places};
use global::GlobalShadow;
use order::Order;
use shared::SharedShadow;

/// `race`.
#[derive(Clone, Debug)]
pub(super) struct Racecheck {
    findings: FindingSet,
    order: Order,
    shared: SharedShadow,
    global: GlobalShadow,
}

impl Racecheck {
    /// For blocks that have these lanes, by warp.
    pub(super) fn new(present: &[u32]) -> Racecheck {
        Racecheck {
            findings: FindingSet::default(),
            order: Order::new(present),
            shared: SharedShadow::new(present.len()),
            global: GlobalShadow::default(),
        }
    }

    /// Whether a volatile access is of data, a place for each lane, rather than of a flag, which is one place and is
    /// written after a fence.
    fn holds_data(&self, at: Site, access: &Access<'_>) -> bool {
        let first = 32 * at.warp + access.mask.trailing_zeros();
        access.pattern.groups.len() > 1 && (access.touch == Touch::Read || !self.order.has_fenced(first))
    }
}

impl Check for Racecheck {
    fn merge(&mut self, later: Racecheck) {
        self.findings.merge(later.findings);
    }

    fn seal(&mut self) {
        self.shared = SharedShadow::new(0);
        self.global = GlobalShadow::default();
    }

    fn report(self, launched: &Launched<'_>, tally: &mut Tally) {
        self.findings.resolve(launched, &mut tally.faults);
    }
}

impl Observer for Racecheck {
    fn detail() -> Detail {
        Detail::Grouped
    }

    fn block_start(&mut self, block: u64) {
        self.order.block_start(block);
    }

    #[inline]
    fn access(&mut self, at: Site, access: &Access<'_>) {
        if !matches!(access.space, Space::Global | Space::Shared) {
            return;
        }
        let class = match (access.touch, access.order) {
            (Touch::Read, Qualifier::Weak) => Class::Read,
            (Touch::Write, Qualifier::Weak) => Class::Write,
            (Touch::Read, _) => Class::SyncRead,
            (Touch::Write | Touch::Atomic, _) => Class::SyncWrite,
        };
        let synchronizes = matches!(class, Class::SyncRead | Class::SyncWrite);
        let is_volatile = synchronizes && access.order == Qualifier::Volatile && self.holds_data(at, access);
        let current = Current {
            at,
            space: access.space,
            class,
            code: Code::new(at.pc, is_volatile, access.touch == Touch::Atomic).of_copy(access.is_async),
            order: &self.order,
            values: access.values,
        };
        let pattern = access.pattern;
        let first = access.addresses.of(access.mask.trailing_zeros());
        let lowest = first.wrapping_sub(pattern.first_offset);
        let findings = &mut self.findings;
        let mut touch = |places: Places<'_>| {
            if access.space == Space::Shared {
                self.shared.access(&current, lowest, pattern.span, access.bytes, places, findings);
            } else {
                self.global.access(&current, lowest, access.bytes, places, findings);
            }
        };
        let Pattern { groups, runs, coinciding, .. } = pattern;
        if pattern.overlapping {
            // A warp's accesses can only overlap in part where an instruction allows less than natural alignment.
            for groups in groups.chunks(1) {
                touch(Places { groups, runs: &[(0, 1)], coinciding: *coinciding });
            }
        } else {
            touch(Places { groups, runs, coinciding: *coinciding });
        }
        if synchronizes {
            self.order.synchronize(at.warp, access);
        }
    }

    fn copy_arrived(&mut self, at: Site, access: &Access<'_>) {
        // To everybody but the threads that waited, they are written now.
        let current = Current {
            at,
            space: access.space,
            class: Class::Write,
            code: Code::new(at.pc, false, false).of_copy(true),
            order: &self.order,
            values: None,
        };
        let Pattern { groups, runs, coinciding, span, first_offset, .. } = access.pattern;
        let lowest = access.addresses.of(access.mask.trailing_zeros()).wrapping_sub(*first_offset);
        let places = Places { groups, runs, coinciding: *coinciding };
        self.shared.write_again(&current, lowest, *span, access.bytes, places);
    }

    fn loads(&mut self, at: Site, access: &Access<'_>, loads: &LoadGroup) {
        let pattern = access.pattern;
        let lowest = access.addresses.of(0).wrapping_sub(pattern.first_offset);
        if !self.shared.note_all(&self.order, at.warp, (lowest, pattern.span), &pattern.groups, loads) {
            for (at, access) in loads.accesses(at, access) {
                self.access(at, &access);
            }
        }
    }

    fn barrier_arrive(&mut self, at: Site, arrival: Arrival) {
        self.order.barrier_arrive(at.warp, arrival.barrier, arrival.mask);
    }

    fn barrier_complete(&mut self, _block: u64, id: u32, arrived: &[u32], waited: &[u32]) {
        self.order.barrier_complete(id, arrived, waited);
    }

    fn warp_sync(&mut self, at: Site, mask: u32) {
        self.order.warp_sync(at.warp, mask);
    }

    fn fence(&mut self, at: Site, mask: u32, scope: Scope) {
        self.order.fence(at.warp, mask, scope);
    }

    fn exit(&mut self, at: Site, mask: u32) {
        self.order.exit(at.warp, mask);
    }
}
