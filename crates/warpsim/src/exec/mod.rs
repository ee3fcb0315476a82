//! Executing a program: blocks one after another, their warps in turns, a warp instruction at a time.

pub(crate) mod access;
mod barrier;
mod call;
mod collective;
pub(crate) mod dispatch;
mod heap;
mod interpret;
mod printf;
mod schedule;
pub(crate) mod warp;

use std::ops::Range;
use std::time::Instant;

use crate::fault::Refused;
use crate::memory::View;
use crate::observer::{Observer, Site};
use crate::program::{Program, RESERVED_SHARED_BYTES};
use crate::registers::Operands;
pub(crate) use access::bytes::Located;
pub(crate) use access::layout::Layout;
pub use access::layout::LayoutCache;
use access::on_chip::SharedMemory;
use barrier::Barriers;
use warp::Warp;

/// What stays the same during a launch.
pub(crate) struct Context<'p> {
    pub(crate) program: &'p Program,
    pub(crate) grid_dim: [u32; 3],
    pub(crate) block_dim: [u32; 3],
    /// Static and dynamic shared memory together, and the dynamic part.
    pub(crate) shared_bytes: u32,
    pub(crate) dynamic_shared: u32,
    /// The kernel's parameters.
    pub(crate) params: Vec<u8>,
    /// Constant memory.
    pub(crate) constant: Vec<u8>,
    /// The buffer that holds the module's first global variable.
    pub(crate) first_global: usize,
    /// Whether to track values that nothing set.
    pub(crate) track_poison: bool,
    pub(crate) deadline: Instant,
}

impl Context<'_> {
    /// Where the shared memory lies that the system keeps for itself: beyond what is the kernel's, and not right behind it, so
    /// that an access past the end stays one.
    pub(crate) fn reserved_shared(&self) -> Range<u64> {
        let bytes = u64::from(self.shared_bytes);
        if !self.program.uses_reserved_shared() {
            return bytes..bytes;
        }
        let start = (bytes + 1).next_multiple_of(RESERVED_SHARED_BYTES.into());
        start..start + u64::from(RESERVED_SHARED_BYTES)
    }

    pub(crate) fn threads_per_block(&self) -> u32 {
        self.block_dim.iter().product()
    }

    pub(crate) fn warps_per_block(&self) -> u32 {
        self.threads_per_block().div_ceil(32)
    }

    pub(crate) fn blocks(&self) -> u64 {
        self.grid_dim.iter().map(|&d| u64::from(d)).product()
    }

    pub(crate) fn thread_index(&self, linear: u32) -> [u32; 3] {
        let [x, y, _] = self.block_dim;
        [linear % x, linear / x % y, linear / x / y]
    }

    pub(crate) fn block_index(&self, linear: u64) -> [u32; 3] {
        let [x, y] = [u64::from(self.grid_dim[0]), u64::from(self.grid_dim[1])];
        [(linear % x) as u32, (linear / x % y) as u32, (linear / x / y) as u32]
    }
}

/// Why a run ended before its last thread did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// `trap`.
    Trap(Site, u32),
    /// An instruction was given a value that it cannot have.
    Refused(Site, u32, Refused),
    /// A failed `assert`: the thread, and what it says.
    Assert(Site, u32, String),
    /// Calls nested too deeply.
    StackOverflow(Site, u32),
    /// No thread of a block can go on; observers know the particulars.
    Deadlock,
    /// Out of fuel: at the last loop, after so many warp instructions.
    Fuel { at: Site, lane: u32, executed: u64, polling: bool },
    /// Out of time.
    Wall { at: Site, lane: u32, executed: u64, polling: bool },
    /// Another range of blocks failed; this one gave up.
    Cancelled,
}

/// A warp instruction as it is issued.
#[derive(Clone, Copy)]
pub(crate) struct Issue<'p> {
    pub(crate) at: Site,
    /// The lane group that issues it: its index in the warp.
    pub(crate) group: usize,
    /// Lanes whose guard holds.
    pub(crate) active: u32,
    pub(crate) ops: &'p Operands,
}

/// Executes blocks. One machine runs a contiguous range of them, on its own view of global memory.
pub(crate) struct Machine<'c, 'v, O> {
    pub(crate) context: &'c Context<'c>,
    pub(crate) view: &'c mut View<'v>,
    pub(crate) observer: O,
    pub(crate) block: u64,
    pub(crate) shared: SharedMemory,
    pub(crate) barriers: Barriers,
    pub(crate) layouts: LayoutCache,
    /// Where the load groups of the superblock that is being executed are.
    #[cfg(feature = "fuse")]
    pub(crate) found: Vec<Option<access::layout::Words>>,
    /// For each warp, the lanes that have not exited.
    pub(crate) alive: Vec<u32>,
    /// Boxed, since a warp is taken out while it runs, and it is large.
    #[allow(clippy::vec_box)]
    pub(crate) warps: Vec<Box<Warp>>,
    pub(crate) executed: u64,
    /// What was executed before this block. `%clock` counts from here: what it tells must not depend on which blocks
    /// this machine ran before.
    pub(crate) executed_before: u64,
    pub(crate) fuel: u64,
    pub(crate) printed: Vec<u8>,
    #[cfg(target_arch = "x86_64")]
    pub(crate) has_avx2: bool,
    /// Room for what a load collects and for what a store writes, kept so that it need not be cleared each time.
    pub(crate) scratch: Box<access::load::Scratch>,
    pub(crate) values: Option<Box<[u8; 1024]>>,
}

impl<'c, 'v, O: Observer> Machine<'c, 'v, O> {
    pub(crate) fn new(context: &'c Context<'c>, view: &'c mut View<'v>, observer: O, fuel: u64) -> Self {
        let warps = context.warps_per_block() as usize;
        Machine {
            context,
            view,
            observer,
            block: 0,
            shared: SharedMemory::new(context.shared_bytes as usize, context.reserved_shared()),
            barriers: Barriers::new(warps),
            layouts: LayoutCache::new(),
            #[cfg(feature = "fuse")]
            found: vec![None; context.program.most_groups()],
            alive: vec![0; warps],
            warps: (0..warps).map(|_| Box::default()).collect(),
            executed: 0,
            executed_before: 0,
            fuel,
            printed: Vec::new(),
            scratch: Box::default(),
            values: None,
            #[cfg(target_arch = "x86_64")]
            has_avx2: crate::alu::has_avx2(),
        }
    }

    /// The observer, what device code printed, and how many warp instructions were executed.
    pub(crate) fn finish(self) -> (O, Vec<u8>, u64) {
        (self.observer, self.printed, self.executed)
    }
}
