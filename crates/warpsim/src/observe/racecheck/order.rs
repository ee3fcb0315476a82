//! The order between threads: what happened before what.

use std::mem::take;

use super::knowledge::{Knowledge, join_blocks, learn_blocks};
use super::release::{Releases, Snapshot};
use crate::fault::{Space, Touch};
use crate::observer::{Access, Order as Qualifier, Scope};
use crate::pattern::lanes;

/// Barriers that a block can use.
const BARRIERS: usize = 16;

/// When a thread did something.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    /// The phase, which also tells the block.
    pub(super) phase: u32,
    /// The clock of its warp.
    pub(super) clock: u32,
    /// Its linear index in the block.
    pub(super) thread: u32,
}

/// Phases, clocks, and what threads know of each other.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// Grows with each barrier of the whole block, and with each block; never 0.
    phase: u32,
    /// The phase that the block which runs began with.
    block_phase: u32,
    /// (first phase, linear index) of each block.
    blocks: Vec<(u32, u64)>,
    warps: Vec<Warp>,
    threads: Vec<Thread>,
    meetings: [Meeting; BARRIERS],
    /// What all threads of the block know of earlier blocks.
    known_blocks: Vec<(u32, u32)>,
    releases: Releases,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Warp {
    /// Grows with each synchronising instruction of the warp, and never falls.
    pub(super) clock: u32,
    /// Up to this clock the lanes of the warp are ordered among themselves.
    pub(super) synced: u32,
    /// The clock at which the phase began.
    pub(super) phase_clock: u32,
    /// Lanes that know more of this phase than `synced` says.
    informed: u32,
    /// Lanes that have read a flag and not yet executed the fence that makes the read count.
    pending: u32,
    /// Lanes that have executed a fence in this block.
    fenced: u32,
    /// Lanes that are threads.
    present: u32,
    exited: u32,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    /// Lanes of the own warp.
    lanes: [u32; 32],
    knowledge: Knowledge,
    pending: Knowledge,
    /// The last fences: that reached the block, and that reached beyond.
    fences: [Fence; 2],
}

/// The last fence of a thread.
#[derive(Clone, Debug, Default)]
struct Fence {
    phase: u32,
    clock: u32,
    /// What the thread knew at this one and the fences before it in the block.
    covers: Knowledge,
}

/// Arrivals at a block barrier that has not completed.
#[derive(Clone, Debug, Default)]
struct Meeting {
    /// (warp, lanes, clock).
    parts: Vec<(usize, u32, u32)>,
    knowledge: Knowledge,
}

impl Warp {
    /// Whether these are all lanes that have not exited.
    fn is_whole(&self, lanes: u32) -> bool {
        self.present & !(lanes | self.exited) == 0
    }
}

impl Order {
    pub(super) fn new(present: &[u32]) -> Order {
        let threads = present.iter().map(|lanes| 32 - lanes.leading_zeros()).sum::<u32>() as usize;
        Order {
            phase: 1,
            block_phase: 1,
            blocks: Vec::new(),
            warps: present.iter().map(|&present| Warp { clock: 1, present, ..Warp::default() }).collect(),
            threads: vec![Thread::default(); threads],
            meetings: Default::default(),
            known_blocks: Vec::new(),
            releases: Releases::default(),
        }
    }

    #[inline]
    pub(super) fn phase(&self) -> u32 {
        self.phase
    }

    #[inline]
    pub(super) fn block_phase(&self) -> u32 {
        self.block_phase
    }

    #[inline]
    pub(super) fn warp(&self, warp: u32) -> &Warp {
        &self.warps[warp as usize]
    }

    /// The block that `phase` belongs to.
    pub(super) fn block_of(&self, phase: u32) -> u64 {
        let after = self.blocks.partition_point(|block| block.0 <= phase);
        after.checked_sub(1).map_or(0, |index| self.blocks[index].1)
    }

    /// Whether what happened at `stamp` is ordered before what `thread` does now.
    #[inline]
    pub(super) fn is_ordered(&self, stamp: Stamp, thread: u32) -> bool {
        if stamp.phase < self.phase {
            return stamp.phase >= self.block_phase || self.knows_block(stamp, thread);
        }
        let (warp, lane) = (&self.warps[thread as usize / 32], thread % 32);
        stamp.thread == thread
            || (stamp.thread / 32 == thread / 32 && stamp.clock <= warp.synced)
            || (warp.informed >> lane & 1 == 1 && self.threads[thread as usize].knows(stamp, thread))
    }

    /// The lanes of `warp`, among `mask`, for which what happened at `stamp` is not ordered before.
    pub(super) fn unordered_after(&self, stamp: Stamp, warp: u32, mask: u32) -> u32 {
        lanes(mask)
            .filter(|lane| !self.is_ordered(stamp, 32 * warp + lane))
            .fold(0, |unordered, lane| unordered | 1 << lane)
    }

    /// The lanes of `warp`, among `mask`, whose acts at (`phase`, `clock`) are not ordered before `thread`.
    pub(super) fn unordered_before(&self, phase: u32, clock: u32, warp: u32, mask: u32, thread: u32) -> u32 {
        lanes(mask)
            .filter(|lane| !self.is_ordered(Stamp { phase, clock, thread: 32 * warp + lane }, thread))
            .fold(0, |unordered, lane| unordered | 1 << lane)
    }

    #[cold]
    fn knows_block(&self, stamp: Stamp, thread: u32) -> bool {
        let index = self.blocks.partition_point(|block| block.0 <= stamp.phase);
        let block_phase = index.checked_sub(1).map_or(0, |index| self.blocks[index].0);
        let tell = |known: &[(u32, u32)]| {
            self.releases.tell_of(known, block_phase, stamp.phase, stamp.thread, stamp.clock)
        };
        let informed = self.warps[thread as usize / 32].informed >> (thread % 32) & 1 == 1;
        tell(&self.known_blocks) || (informed && tell(&self.threads[thread as usize].knowledge.blocks))
    }

    pub(super) fn block_start(&mut self, block: u64) {
        self.next_phase();
        self.block_phase = self.phase;
        self.blocks.push((self.phase, block));
        self.known_blocks.clear();
        self.releases.block_start();
        for warp in &mut self.warps {
            (warp.exited, warp.pending, warp.fenced) = (0, 0, 0);
        }
        for meeting in &mut self.meetings {
            meeting.parts.clear();
            meeting.knowledge.clear();
        }
    }

    /// From here on all threads of the block know all that was before.
    fn next_phase(&mut self) {
        self.phase += 1;
        for (index, warp) in self.warps.iter_mut().enumerate() {
            for lane in lanes(warp.informed) {
                let thread = &self.threads[32 * index + lane as usize];
                join_blocks(&mut self.known_blocks, &thread.knowledge.blocks);
            }
            warp.informed = 0;
            warp.synced = warp.clock;
            warp.clock += 1;
            warp.phase_clock = warp.clock;
        }
    }

    /// Exited threads no longer count at barriers, as if they arrived at each.
    pub(super) fn exit(&mut self, warp: u32, mask: u32) {
        self.warps[warp as usize].exited |= mask;
    }

    pub(super) fn barrier_arrive(&mut self, warp: u32, id: u32, mask: u32) {
        let index = warp as usize;
        self.settle_pending(index, mask);
        let clock = self.warps[index].clock;
        let mut meeting = take(&mut self.meetings[id as usize % BARRIERS]);
        meeting.parts.push((index, mask, clock));
        meeting.knowledge.learn_warp(index, self.warps[index].synced);
        for lane in lanes(mask & self.warps[index].informed) {
            self.threads[32 * index + lane as usize].tell(index, &mut meeting.knowledge);
        }
        self.meetings[id as usize % BARRIERS] = meeting;
        self.warps[index].clock += 1;
    }

    /// See [`Observer::barrier_complete`](crate::observer::Observer::barrier_complete).
    pub(super) fn barrier_complete(&mut self, id: u32, arrived: &[u32], waited: &[u32]) {
        let mut meeting = take(&mut self.meetings[id as usize % BARRIERS]);
        let everyone =
            |lanes: &[u32]| self.warps.iter().zip(lanes).all(|(warp, &lanes)| warp.is_whole(lanes));
        if everyone(arrived) && everyone(waited) {
            self.next_phase();
        } else {
            for &(index, mask, clock) in &meeting.parts {
                if self.warps[index].is_whole(mask) {
                    meeting.knowledge.learn_warp(index, clock);
                    if self.warps[index].is_whole(waited[index]) {
                        self.warps[index].synced = self.warps[index].synced.max(clock);
                    }
                } else {
                    lanes(mask)
                        .for_each(|lane| meeting.knowledge.learn_thread(32 * index as u32 + lane, clock));
                }
            }
            for (index, &mask) in waited.iter().enumerate() {
                for lane in lanes(mask) {
                    self.inform(index, lane).knowledge.join(&meeting.knowledge);
                }
            }
        }
        meeting.parts.clear();
        meeting.knowledge.clear();
        self.meetings[id as usize % BARRIERS] = meeting;
    }

    /// Lanes meet at `__syncwarp`.
    pub(super) fn warp_sync(&mut self, warp: u32, mask: u32) {
        let index = warp as usize;
        self.settle_pending(index, mask);
        let Warp { clock, informed, .. } = self.warps[index];
        let whole = self.warps[index].is_whole(mask);
        if informed & mask != 0 || !whole {
            let mut joined = Thread::default();
            for lane in lanes(informed & mask) {
                let thread = &self.threads[32 * index + lane as usize];
                joined.knowledge.join(&thread.knowledge);
                joined.lanes.iter_mut().zip(thread.lanes).for_each(|(own, other)| *own = (*own).max(other));
            }
            lanes(mask).for_each(|lane| joined.lanes[lane as usize] = clock);
            for lane in lanes(mask) {
                let thread = self.inform(index, lane);
                thread.lanes = joined.lanes;
                thread.knowledge.clone_from(&joined.knowledge);
            }
        }
        if whole {
            self.warps[index].synced = clock;
        }
        self.warps[index].clock += 1;
    }

    /// A memory fence.
    pub(super) fn fence(&mut self, warp: u32, mask: u32, scope: Scope) {
        let index = warp as usize;
        self.settle_pending(index, mask);
        let clock = self.warps[index].clock;
        for lane in lanes(mask) {
            let Snapshot { phase, knowledge } = self.everything(32 * index as u32 + lane, clock);
            for fence in &mut self.threads[32 * index + lane as usize].fences[..=reach(scope)] {
                if fence.phase < self.block_phase {
                    fence.covers.clear();
                }
                fence.covers.join(&knowledge);
                (fence.phase, fence.clock) = (phase, clock);
            }
        }
        self.warps[index].fenced |= mask;
        self.warps[index].clock += 1;
    }

    /// Whether a thread has executed a fence in this block, so that what it stores to a flag comes after its data.
    pub(super) fn has_fenced(&self, thread: u32) -> bool {
        self.warps[thread as usize / 32].fenced >> (thread % 32) & 1 == 1
    }

    /// What an atomic, volatile or qualified access orders.
    pub(super) fn synchronize(&mut self, warp: u32, access: &Access<'_>) {
        let index = warp as usize;
        let wide = access.space == Space::Global && access.scope != Scope::Block;
        let qualifier = access.order;
        for lane in lanes(access.mask) {
            let address = access.addresses.of(lane);
            if access.touch != Touch::Write && !self.releases.is_empty(access.space) {
                // A read-modify-write counts at once, for the last-block pattern as NVIDIA's own samples have it
                // does without a second fence. A load needs one.
                let at_once = access.touch == Touch::Atomic || qualifier == Qualifier::Acquire;
                self.acquire(index, lane, access.space, address, wide, at_once);
            }
            if access.touch == Touch::Write {
                self.releases.end_chain(access.space, address);
            }
            if access.touch != Touch::Read {
                self.release(index, lane, access.space, address, qualifier, wide);
            }
        }
        if access.touch != Touch::Read && matches!(qualifier, Qualifier::Release | Qualifier::AcquireRelease)
        {
            self.warps[index].clock += 1;
        }
    }

    fn acquire(&mut self, index: usize, lane: u32, space: Space, address: u64, wide: bool, at_once: bool) {
        let releases = take(&mut self.releases);
        let (local, blocks) = releases.acquire(space, address, self.block_phase);
        let blocks = blocks.filter(|_| wide);
        if local.is_some() || blocks.is_some() {
            let into = if at_once {
                &mut self.inform(index, lane).knowledge
            } else {
                let pending = &mut self.threads[32 * index + lane as usize].pending;
                if self.warps[index].pending >> lane & 1 == 0 {
                    pending.clear();
                    self.warps[index].pending |= 1 << lane;
                }
                pending
            };
            if let Some(local) = local {
                into.join(local);
            }
            if let Some((chain, blocks)) = blocks {
                learn_blocks(&mut into.blocks, chain, blocks);
            }
        }
        self.releases = releases;
    }

    fn release(
        &mut self,
        index: usize,
        lane: u32,
        space: Space,
        address: u64,
        qualifier: Qualifier,
        wide: bool,
    ) {
        let thread = 32 * index as u32 + lane;
        if matches!(qualifier, Qualifier::Release | Qualifier::AcquireRelease) {
            let snapshot = self.everything(thread, self.warps[index].clock);
            self.releases.release(space, address, self.block_phase, &snapshot, wide);
        } else if self.warps.iter().any(|warp| warp.fenced != 0) {
            for (level, wide) in [(0, false), (1, true)].into_iter().take(1 + usize::from(wide)) {
                if let Some(snapshot) = self.fenced(thread, level) {
                    self.releases.release(space, address, self.block_phase, &snapshot, wide);
                }
            }
        }
    }

    /// All that a thread knows now, and itself up to `clock`.
    fn everything(&self, thread: u32, clock: u32) -> Snapshot {
        let index = thread as usize / 32;
        let mut knowledge = Knowledge { blocks: self.known_blocks.clone(), ..Knowledge::default() };
        knowledge.learn_warp(index, self.warps[index].synced);
        if self.warps[index].informed >> (thread % 32) & 1 == 1 {
            self.threads[thread as usize].tell(index, &mut knowledge);
        }
        knowledge.learn_thread(thread, clock);
        Snapshot { phase: self.phase, knowledge }
    }

    /// What fences let a thread release: all that it knew at its own last one, and of what has come to it since
    /// through barriers, what others had fenced themselves.
    fn fenced(&self, thread: u32, level: usize) -> Option<Snapshot> {
        let own = &self.threads[thread as usize].fences[level];
        if own.phase == self.phase {
            return Some(self.everything(thread, own.clock));
        }
        let mut snapshot = Snapshot::default();
        let mut found = false;
        for (other, Fence { phase, clock, covers }) in
            (0..).zip(self.threads.iter().map(|thread| &thread.fences[level]))
        {
            let known = *phase < self.phase || *clock <= self.known_clock(thread, other);
            if *phase >= self.block_phase && known {
                snapshot.phase = snapshot.phase.max(*phase);
                snapshot.knowledge.join(covers);
                found = true;
            }
        }
        found.then_some(snapshot)
    }

    /// Up to which clock in this phase `thread` knows another one.
    fn known_clock(&self, thread: u32, other: u32) -> u32 {
        let warp = &self.warps[thread as usize / 32];
        let same_warp = thread / 32 == other / 32;
        let synced = if same_warp { warp.synced } else { 0 };
        if warp.informed >> (thread % 32) & 1 == 0 {
            return synced;
        }
        let Thread { lanes, knowledge, .. } = &self.threads[thread as usize];
        let lane = if same_warp { lanes[other as usize % 32] } else { 0 };
        synced.max(lane).max(knowledge.of_thread(other))
    }

    /// The flags that these lanes have read count from here on.
    fn settle_pending(&mut self, index: usize, mask: u32) {
        for lane in lanes(mask & self.warps[index].pending) {
            let thread = self.inform(index, lane);
            let pending = take(&mut thread.pending);
            thread.knowledge.join(&pending);
            thread.pending = pending;
        }
        self.warps[index].pending &= !mask;
    }

    /// A thread about to learn something; what it knew in earlier phases is forgotten, for all know it.
    fn inform(&mut self, index: usize, lane: u32) -> &mut Thread {
        let thread = &mut self.threads[32 * index + lane as usize];
        if self.warps[index].informed >> lane & 1 == 0 {
            self.warps[index].informed |= 1 << lane;
            thread.lanes = [0; 32];
            thread.knowledge.clear();
        }
        thread
    }
}

impl Thread {
    fn knows(&self, stamp: Stamp, own: u32) -> bool {
        (stamp.thread / 32 == own / 32 && stamp.clock <= self.lanes[stamp.thread as usize % 32])
            || stamp.clock <= self.knowledge.of_thread(stamp.thread)
    }

    /// Passes on what a thread of warp `index` knows of others.
    fn tell(&self, index: usize, to: &mut Knowledge) {
        to.join(&self.knowledge);
        for (lane, &clock) in self.lanes.iter().enumerate().filter(|(_, clock)| **clock > 0) {
            to.learn_thread((32 * index + lane) as u32, clock);
        }
    }
}

/// Index of the farthest fence record that a scope fills.
fn reach(scope: Scope) -> usize {
    usize::from(scope != Scope::Block)
}
