//! The one interface between execution and everything that counts or checks.
//!
//! The executor tells what happens, at the level of warps; it never counts and never prints. Observers never
//! execute. (The idea is Oclgrind's plugin interface, lifted from threads to warps.)

use crate::fault::{Sink, Space, Touch};
use crate::pattern::Pattern;

/// Which warp executes which instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// Linear index of the block in the grid.
    pub block: u64,
    /// Index of the warp in the block; lane l is the thread with linear index `32 * warp + l`.
    pub warp: u32,
    /// Index of the instruction in the program.
    pub pc: u32,
}

/// How far an atomic or a fence reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The block (`.cta`).
    Block,
    /// The GPU (`.gpu`; `.cluster` counts as this).
    Device,
    /// Everything (`.sys`).
    System,
}

/// The ordering an access carries by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// An ordinary access.
    Weak,
    /// `.volatile`: not torn or cached, and orders nothing by itself.
    Volatile,
    /// `.relaxed`, and atomics without a qualifier.
    Relaxed,
    /// `.acquire`
    Acquire,
    /// `.release`
    Release,
    /// `.acq_rel`
    AcquireRelease,
}

/// A byte address for each lane: an offset from a common base, so that telling of an access writes nothing down.
#[derive(Clone, Copy, Debug)]
pub struct Addresses<'a> {
    base: u64,
    offsets: &'a [u64; 32],
}

impl<'a> Addresses<'a> {
    /// Lane l is at `base + offsets[l]`, modulo 2^64.
    pub fn new(base: u64, offsets: &'a [u64; 32]) -> Addresses<'a> {
        Addresses { base, offsets }
    }

    /// The address of a lane, below 32.
    #[inline]
    pub fn of(&self, lane: u32) -> u64 {
        self.base.wrapping_add(self.offsets[lane as usize & 31])
    }

    /// The same, so many bytes further on.
    #[inline]
    #[must_use]
    pub fn moved(&self, distance: i64) -> Addresses<'a> {
        Addresses { base: self.base.wrapping_add(distance as u64), offsets: self.offsets }
    }

    /// All of them.
    pub fn to_array(&self) -> [u64; 32] {
        self.offsets.map(|offset| self.base.wrapping_add(offset))
    }
}

impl<'a> From<&'a [u64; 32]> for Addresses<'a> {
    fn from(addresses: &'a [u64; 32]) -> Addresses<'a> {
        Addresses::new(0, addresses)
    }
}

/// One warp-level memory instruction; lanes that failed the bounds or alignment check are not in `mask`.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// What is done to the memory.
    pub touch: Touch,
    /// Global, shared, local, constant: the space it turned out to be, for generic addresses too.
    pub space: Space,
    /// Bytes per lane: element size times vector width.
    pub bytes: u32,
    /// Lanes that take part; never 0.
    pub mask: u32,
    /// Byte address of each lane in `mask`. Global: the device address; shared: the offset in the block's shared
    /// memory; local: the offset in the thread's stack. Other lanes hold anything.
    pub addresses: Addresses<'a>,
    /// What the addresses look like relative to the first one; computed once and remembered.
    pub pattern: &'a Pattern,
    /// Ordering.
    pub order: Order,
    /// Reach of the ordering.
    pub scope: Scope,
    /// `cp.async`: the read side and the write side are reported as two accesses with this set.
    pub is_async: bool,
    /// For stores of at most 8 bytes per lane: the values, so that same-value writes can be told apart.
    pub values: Option<&'a [u64; 32]>,
}

/// Loads of a straight run of instructions which are alike but for a constant distance between their addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeats {
    /// In order of execution; one at least.
    pub each: Vec<Repeat>,
    /// The least and the greatest of their distances.
    pub lowest: i64,
    /// See `lowest`.
    pub highest: i64,
}

impl Repeats {
    /// Each of the loads by itself, where `first`, at `at`, is the first one.
    pub fn accesses<'a>(
        &'a self,
        at: Site,
        first: &'a Access<'a>,
    ) -> impl Iterator<Item = (Site, Access<'a>)> + 'a {
        self.each.iter().map(move |load| {
            let addresses = first.addresses.moved(load.distance);
            (Site { pc: load.pc, ..at }, Access { addresses, ..*first })
        })
    }
}

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// Its instruction.
    pub pc: u32,
    /// Bytes from the first load's addresses to this one's; 0 for the first itself.
    pub distance: i64,
}

/// An access that was suppressed because it is outside every allocation or misaligned.
#[derive(Clone, Copy, Debug)]
pub struct BadAccess {
    /// What was attempted.
    pub touch: Touch,
    /// Where.
    pub space: Space,
    /// Bytes per lane.
    pub bytes: u32,
    /// The lane.
    pub lane: u32,
    /// Its byte address in `space`.
    pub address: u64,
    /// Whether only the alignment is wrong.
    pub misaligned: bool,
}

/// Receives what happens. All methods do nothing unless overridden. Lanes outside the block's size never appear.
#[allow(unused_variables)]
pub trait Observer: Send {
    /// Whether nothing is wanted but [`bad_access`](Observer::bad_access), [`poison`](Observer::poison) and what
    /// happens at barriers: the executor then does not describe every access.
    const SILENT: bool = false;
    /// A block starts; its shared memory is fresh.
    fn block_start(&mut self, block: u64) {}
    /// The block's last thread has finished.
    fn block_end(&mut self, block: u64) {}
    /// A warp instruction with at least one lane whose guard holds.
    fn issue(&mut self, at: Site, mask: u32) {}
    /// All lanes of a full warp execute `count` instructions, the first of which is that of `at`.
    fn issue_line(&mut self, at: Site, count: u32) {
        for pc in at.pc..at.pc + count {
            self.issue(Site { pc, ..at }, u32::MAX);
        }
    }
    /// A memory access, before it is carried out.
    fn access(&mut self, at: Site, access: &Access<'_>) {}
    /// Several loads of words of shared memory by a full warp, of which `access`, at `at`, is the first; nothing happens
    /// between them that other threads could notice.
    fn loads(&mut self, at: Site, access: &Access<'_>, loads: &Repeats) {
        for (at, access) in loads.accesses(at, access) {
            self.access(at, &access);
        }
    }
    /// Copies to shared memory that the instruction at `at` issued, as `access` says, are there now: their threads have
    /// waited for them.
    fn copy_arrived(&mut self, at: Site, access: &Access<'_>) {}
    /// A suppressed access of one lane.
    fn bad_access(&mut self, at: Site, bad: &BadAccess) {}
    /// A conditional branch: of the `active` lanes, `taken` jump.
    fn branch(&mut self, at: Site, active: u32, taken: u32) {}
    /// Lanes of a warp arrive at block barrier `id`. `alive` are the warp's lanes that have not exited;
    /// `aligned` is whether the instruction demands that all of them come together.
    fn barrier_arrive(&mut self, at: Site, id: u32, mask: u32, alive: u32, aligned: bool) {}
    /// Barrier `id` completes. For each warp of the block, the lanes that arrived since the last completion
    /// (what they did before is ordered) and the lanes that waited (what they do next is ordered after it;
    /// `bar.arrive` does not wait).
    fn barrier_complete(&mut self, block: u64, id: u32, arrived: &[u32], waited: &[u32]) {}
    /// Lanes that meet at `__syncwarp` (a shuffle or vote is none).
    fn warp_sync(&mut self, at: Site, mask: u32) {}
    /// A warp-level synchronising instruction (`__syncwarp`, shuffle, vote) goes wrong: the caller is not in its
    /// own mask, or a named lane is alive elsewhere.
    fn bad_warp_sync(&mut self, at: Site, mask: u32, problem: crate::fault::BarrierProblem) {}
    /// A memory fence by these lanes.
    fn fence(&mut self, at: Site, mask: u32, scope: Scope) {}
    /// Poisoned values of these lanes reach a sink. `origin` is the pc of the load that read unwritten memory;
    /// `None` for a register that was never written.
    fn poison(&mut self, at: Site, mask: u32, sink: Sink, origin: Option<u32>) {}
    /// Threads exit. `at` is what led them out: the branch to the exit, or what they did before they came to it.
    fn exit(&mut self, at: Site, mask: u32) {}
    /// Threads of the block wait for ever: `waiting` holds (warp, pc, lanes, barrier id), `elsewhere` whether they
    /// wait at different barriers.
    fn deadlock(&mut self, block: u64, waiting: &[(u32, u32, u32, u32)]) {}
}
