//! The one interface between execution and everything that counts or checks.
//!
//! The executor reports what happens, at the level of warps; it never counts and never prints. Observers never
//! execute. (The idea is Oclgrind's plugin interface, lifted from threads to warps.)
//!
//! [`Launch::run_with`](crate::Launch::run_with) takes an observer of yours:
//!
//! ```
//! use warpsim::observer::{Access, Observer, Site};
//! use warpsim::{Device, Launch, Program};
//!
//! /// Counts the lanes that access memory, by instruction.
//! #[derive(Default)]
//! struct Lanes(std::collections::BTreeMap<u32, u32>);
//!
//! impl Observer for Lanes {
//!     fn access(&mut self, at: Site, access: &Access<'_>) {
//!         *self.0.entry(at.pc).or_default() += access.mask.count_ones();
//!     }
//! }
//!
//! let module = ptx::parse(
//!     ".version 8.0
//!      .target sm_80
//!      .address_size 64
//!      .visible .entry fill(.param .u64 out) {
//!          .reg .b32 %t;
//!          .reg .b64 %o, %at;
//!          ld.param.u64 %o, [out];
//!          mov.u32 %t, %tid.x;
//!          mad.wide.u32 %at, %t, 4, %o;
//!          st.global.u32 [%at], %t;
//!          ret;
//!      }",
//! )?;
//! let program = Program::new(&module, "fill")?;
//! let mut device = Device::new();
//! let out = device.alloc("out", 4 * 48);
//! let mut lanes = Lanes::default();
//! Launch::new([1, 1, 1], [48, 1, 1]).arg(out).run_with(&program, &mut device, &mut lanes)?;
//!
//! let (&pc, &count) = lanes.0.first_key_value().expect("there is a store");
//! assert_eq!((&*program.instructions()[pc as usize].opcode, count), ("st.global.u32", 48));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::fault::{Absent, BarrierProblem, Sink, Space, Touch};
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

/// A byte address for each lane: an offset from a common base, so that reporting an access writes nothing down.
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

/// One warp-level memory access; lanes that failed the bounds or alignment check are not in `mask`.
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

/// Loads of words of shared memory which are alike but for a constant distance between their addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadGroup {
    /// In order of execution; one at least.
    pub each: Vec<GroupedLoad>,
    /// The least and the greatest of their distances.
    pub lowest: i64,
    /// See `lowest`.
    pub highest: i64,
}

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupedLoad {
    /// Its instruction.
    pub pc: u32,
    /// Bytes from the first load's addresses to this one's; 0 for the first itself.
    pub distance: i64,
}

impl LoadGroup {
    /// Of one load.
    pub fn new(pc: u32) -> LoadGroup {
        LoadGroup { each: vec![GroupedLoad { pc, distance: 0 }], lowest: 0, highest: 0 }
    }

    /// Appends a load.
    pub fn add(&mut self, load: GroupedLoad) {
        self.each.push(load);
        self.lowest = self.lowest.min(load.distance);
        self.highest = self.highest.max(load.distance);
    }

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

/// Threads of a warp that wait at a block barrier and never go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The barrier's instruction.
    pub at: Site,
    /// The lanes that wait.
    pub mask: u32,
    /// The number of the barrier.
    pub barrier: u32,
}

/// Lanes of a warp that arrive at a block barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The number of the barrier.
    pub barrier: u32,
    /// The lanes that arrive.
    pub mask: u32,
    /// The warp's lanes that have not exited.
    pub alive: u32,
    /// Whether the instruction demands that all of these arrive together.
    pub aligned: bool,
}

/// How much an observer is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// [`bad_access`](Observer::bad_access) and what happens at barriers; accesses are not described.
    Faults,
    /// Everything, where a full warp's instructions may be reported several at a time, after accesses that follow
    /// them: by [`issue_run`](Observer::issue_run) and [`loads`](Observer::loads).
    Grouped,
    /// Everything one by one, in the program order of each warp.
    InOrder,
}

/// Receives what happens. Every method does nothing unless it is overridden; an observer implements those it needs.
///
/// Blocks run one after another. Within a block, events of one warp come in its program order, and warps take turns.
/// Lanes outside the block's size never appear in a mask, and a mask is never 0.
///
/// Observers compose: an `Option` of one, a pair of two and a `&mut` are observers too.
#[allow(unused_variables)]
pub trait Observer {
    /// How much this type of observer is told. What does not ask for order lets the executor take short cuts.
    fn detail() -> Detail
    where
        Self: Sized,
    {
        Detail::InOrder
    }
    /// A block starts; its shared memory is fresh.
    fn block_start(&mut self, block: u64) {}
    /// The block's last thread has exited.
    fn block_end(&mut self, block: u64) {}
    /// A warp instruction with at least one lane whose guard holds (`mask`). What it does follows.
    fn issue(&mut self, at: Site, mask: u32) {}
    /// All lanes of a full warp execute `count` instructions, the first of which is that of `at`.
    fn issue_run(&mut self, at: Site, count: u32) {
        for pc in at.pc..at.pc + count {
            self.issue(Site { pc, ..at }, u32::MAX);
        }
    }
    /// A memory access, before it is carried out. Parameters of kernels and calls are not reported.
    fn access(&mut self, at: Site, access: &Access<'_>) {}
    /// Several loads of words of shared memory by a full warp, of which `access`, at `at`, is the first; nothing happens
    /// between them that other threads could notice.
    fn loads(&mut self, at: Site, access: &Access<'_>, loads: &LoadGroup) {
        for (at, access) in loads.accesses(at, access) {
            self.access(at, &access);
        }
    }
    /// Copies to shared memory that the instruction at `at` issued, as `access` says, are there now: their threads have
    /// waited for them.
    fn copy_arrived(&mut self, at: Site, access: &Access<'_>) {}
    /// A suppressed access of one lane.
    fn bad_access(&mut self, at: Site, bad: &BadAccess) {}
    /// A conditional branch: of the `active` lanes, `taken` jump. `taken` may be 0.
    fn branch(&mut self, at: Site, active: u32, taken: u32) {}
    /// Lanes of a warp arrive at a block barrier.
    fn barrier_arrive(&mut self, at: Site, arrival: Arrival) {}
    /// Barrier number `id` completes. For each warp of the block, the lanes that arrived since the last completion
    /// (what they did before is ordered) and the lanes that waited (what they do next is ordered after it;
    /// `bar.arrive` does not wait).
    fn barrier_complete(&mut self, block: u64, id: u32, arrived: &[u32], waited: &[u32]) {}
    /// Lanes that meet at `__syncwarp` (a shuffle or vote is none).
    fn warp_sync(&mut self, at: Site, mask: u32) {}
    /// A warp-level synchronising instruction (`__syncwarp`, shuffle, vote) goes wrong: the caller is not in its
    /// own mask, or a named lane is alive elsewhere.
    fn bad_warp_sync(&mut self, at: Site, mask: u32, problem: BarrierProblem) {}
    /// A memory fence by these lanes.
    fn fence(&mut self, at: Site, mask: u32, scope: Scope) {}
    /// `cp.async.commit_group` by these lanes.
    fn copy_commit(&mut self, at: Site, mask: u32) {}
    /// These lanes wait until at most `pending` of the groups of copies that they committed are in flight; `None`: until
    /// no copy is.
    fn copy_wait(&mut self, at: Site, mask: u32, pending: Option<u32>) {}
    /// Poisoned values of these lanes reach a sink. `origin` is the pc of what [read](Self::unwritten) unwritten memory
    /// first, or [asked](Self::absent) an absent lane; `None` for a register that was never written.
    fn poison(&mut self, at: Site, mask: u32, sink: Sink, origin: Option<u32>) {}
    /// These lanes read memory that nothing wrote, at these addresses in `space`, or start to copy it.
    fn unwritten(&mut self, at: Site, space: Space, mask: u32, addresses: &[u64; 32]) {}
    /// By a shuffle, `lane` asks lane `source` of its warp, which has nothing to give.
    fn absent(&mut self, at: Site, lane: u32, source: u32, why: Absent) {}
    /// Threads exit. `at` is what led them out: the branch to the exit, or what they did before they reached it.
    fn exit(&mut self, at: Site, mask: u32) {}
    /// Threads of the block wait for ever.
    fn deadlock(&mut self, block: u64, waiting: &[Waiting]) {}
}

/// Implements [`Observer`] for a type that passes every event on to its parts.
macro_rules! pass_on {
    ([$($generics:tt)*] $ty:ty, $detail:expr, |$this:ident| $($parts:expr),+) => {
        impl<$($generics)*> $crate::observer::Observer for $ty {
            #[inline(always)]
            fn detail() -> $crate::observer::Detail {
                $detail
            }
            $crate::observer::pass_on! {
                @events $this [$($parts),+]
                block_start(block: u64);
                block_end(block: u64);
                issue(at: Site, mask: u32);
                issue_run(at: Site, count: u32);
                access(at: Site, access: &Access<'_>);
                loads(at: Site, access: &Access<'_>, loads: &LoadGroup);
                copy_arrived(at: Site, access: &Access<'_>);
                bad_access(at: Site, bad: &BadAccess);
                branch(at: Site, active: u32, taken: u32);
                barrier_arrive(at: Site, arrival: Arrival);
                barrier_complete(block: u64, id: u32, arrived: &[u32], waited: &[u32]);
                warp_sync(at: Site, mask: u32);
                bad_warp_sync(at: Site, mask: u32, problem: BarrierProblem);
                fence(at: Site, mask: u32, scope: Scope);
                copy_commit(at: Site, mask: u32);
                copy_wait(at: Site, mask: u32, pending: Option<u32>);
                poison(at: Site, mask: u32, sink: Sink, origin: Option<u32>);
                unwritten(at: Site, space: Space, mask: u32, addresses: &[u64; 32]);
                absent(at: Site, lane: u32, source: u32, why: Absent);
                exit(at: Site, mask: u32);
                deadlock(block: u64, waiting: &[Waiting]);
            }
        }
    };
    (@events $this:ident $parts:tt $($event:ident($($arg:ident: $ty:ty),*);)*) => {
        $(
            #[inline]
            fn $event(&mut self, $($arg: $ty),*) {
                let $this = self;
                $crate::observer::pass_on!(@each $parts $event($($arg),*));
            }
        )*
    };
    (@each [$($part:expr),+] $event:ident $args:tt) => {
        $(
            for part in $part {
                part.$event $args;
            }
        )+
    };
}
pub(crate) use pass_on;

pass_on!([O: Observer] Option<O>, O::detail(), |this| this.iter_mut());
pass_on!([A: Observer, B: Observer] (A, B), A::detail().max(B::detail()), |this| [&mut this.0], [&mut this.1]);
pass_on!([O: Observer + ?Sized] &mut O, Detail::InOrder, |this| [&mut **this]);
