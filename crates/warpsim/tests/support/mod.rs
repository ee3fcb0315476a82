//! Plays an executor: tells [`Monitors`] what happens, in the order in which a test says it.

#![allow(dead_code)]

use warpsim::observe::{Context, Findings, InstructionFacts, Monitors, Nearest, Resolver};
use warpsim::observer::{Access, Arrival, BadAccess, Observer, Order, Scope, Site};
use warpsim::pattern::LayoutCache;
use warpsim::{Checks, Fault, Severity, SourceLine, Space, Touch};

/// Where the buffer `x` begins; it has [`BUFFER_BYTES`].
pub(crate) const X: u64 = 1 << 34;
/// Size of every buffer.
pub(crate) const BUFFER_BYTES: u64 = 1 << 20;
/// All lanes of a warp.
pub(crate) const WARP: u32 = u32::MAX;

/// Instruction n is on line n; shared memory is `tile`, global memory `x`.
pub(crate) struct Names;

impl Resolver for Names {
    fn line(&self, pc: u32) -> Option<SourceLine> {
        Some(SourceLine { file: "kernel.cu".to_owned(), line: pc })
    }

    fn nearest(&self, space: Space, address: u64) -> Option<Nearest> {
        match space {
            Space::Shared => Some(Nearest {
                name: "tile".to_owned(),
                bytes: 4096,
                offset: address as i64,
                is_dynamic: false,
            }),
            Space::Global => Some(Nearest {
                name: "x".to_owned(),
                bytes: BUFFER_BYTES,
                offset: address.wrapping_sub(X) as i64,
                is_dynamic: false,
            }),
            _ => None,
        }
    }
}

/// An executor that does as it is told.
pub(crate) struct Trace {
    monitors: Monitors,
    patterns: LayoutCache,
    present: Vec<u32>,
    exited: Vec<u32>,
    block: u64,
    /// What accesses have unless said otherwise.
    pub(crate) order: Order,
    pub(crate) scope: Scope,
    /// What stores write.
    pub(crate) value: u64,
}

impl Trace {
    /// Blocks of `threads` threads; the first one has started.
    pub(crate) fn new(threads: u32) -> Trace {
        Trace::with_checks(threads, Checks::ALL)
    }

    pub(crate) fn with_checks(threads: u32, checks: Checks) -> Trace {
        let instructions =
            vec![InstructionFacts { fp32_flops: 2, element_bytes: 4, ..Default::default() }; 1000];
        let context = Context { grid_dim: [64, 1, 1], block_dim: [threads, 1, 1], instructions };
        let present: Vec<u32> = (0..threads.div_ceil(32))
            .map(|warp| if threads - 32 * warp >= 32 { WARP } else { (1 << (threads % 32)) - 1 })
            .collect();
        let mut trace = Trace {
            monitors: Monitors::new(&context, checks),
            patterns: LayoutCache::new(),
            exited: vec![0; present.len()],
            present,
            block: 0,
            order: Order::Weak,
            scope: Scope::Device,
            value: 1,
        };
        trace.monitors.block_start(0);
        trace
    }

    /// The block ends and the next one starts.
    pub(crate) fn next_block(&mut self) -> &mut Trace {
        self.monitors.block_end(self.block);
        self.block += 1;
        self.exited.fill(0);
        self.monitors.block_start(self.block);
        self
    }

    pub(crate) fn at(&self, warp: u32, pc: u32) -> Site {
        Site { block: self.block, warp, pc }
    }

    pub(crate) fn with(&mut self, order: Order, scope: Scope) -> &mut Trace {
        (self.order, self.scope) = (order, scope);
        self
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) fn access(
        &mut self,
        touch: Touch,
        space: Space,
        bytes: u32,
        (warp, mask): (u32, u32),
        pc: u32,
        address: impl Fn(u32) -> u64,
        values: Option<&[u64; 32]>,
    ) -> &mut Trace {
        let addresses = std::array::from_fn(|lane| address(lane as u32));
        let pattern = self.patterns.get(pc, bytes, mask, &addresses);
        let order =
            if touch == Touch::Atomic && self.order == Order::Weak { Order::Relaxed } else { self.order };
        let access = Access {
            touch,
            space,
            bytes,
            mask,
            addresses: (&addresses).into(),
            pattern,
            order,
            scope: self.scope,
            is_async: false,
            values,
        };
        let at = Site { block: self.block, warp, pc };
        self.monitors.issue(at, mask);
        self.monitors.access(at, &access);
        self
    }

    /// Reads words: `word` gives each lane's index.
    pub(crate) fn read(
        &mut self,
        space: Space,
        lanes: (u32, u32),
        pc: u32,
        word: impl Fn(u32) -> u64,
    ) -> &mut Trace {
        self.access(Touch::Read, space, 4, lanes, pc, |lane| base(space) + 4 * word(lane), None)
    }

    /// Writes words, all the same value.
    pub(crate) fn write(
        &mut self,
        space: Space,
        lanes: (u32, u32),
        pc: u32,
        word: impl Fn(u32) -> u64,
    ) -> &mut Trace {
        let values = [self.value; 32];
        self.access(Touch::Write, space, 4, lanes, pc, |lane| base(space) + 4 * word(lane), Some(&values))
    }

    /// Writes words, a different value for each thread and instruction.
    pub(crate) fn write_own(
        &mut self,
        space: Space,
        lanes: (u32, u32),
        pc: u32,
        word: impl Fn(u32) -> u64,
    ) -> &mut Trace {
        let values = std::array::from_fn(|lane| u64::from(1000 * pc + 32 * lanes.0 + lane as u32));
        self.access(Touch::Write, space, 4, lanes, pc, |lane| base(space) + 4 * word(lane), Some(&values))
    }

    pub(crate) fn atomic(
        &mut self,
        space: Space,
        lanes: (u32, u32),
        pc: u32,
        word: impl Fn(u32) -> u64,
    ) -> &mut Trace {
        self.access(Touch::Atomic, space, 4, lanes, pc, |lane| base(space) + 4 * word(lane), None)
    }

    /// `__syncthreads()` by all threads that have not returned.
    pub(crate) fn barrier(&mut self, pc: u32) -> &mut Trace {
        let alive: Vec<u32> =
            self.present.iter().zip(&self.exited).map(|(all, exited)| all & !exited).collect();
        for (warp, &lanes) in alive.iter().enumerate().filter(|(_, lanes)| **lanes != 0) {
            self.arrive(0, (warp as u32, lanes), pc);
        }
        self.monitors.barrier_complete(self.block, 0, &alive, &alive);
        self
    }

    /// Lanes arrive at a barrier.
    pub(crate) fn arrive(&mut self, id: u32, (warp, mask): (u32, u32), pc: u32) -> &mut Trace {
        let alive = self.present[warp as usize] & !self.exited[warp as usize];
        let arrival = Arrival { barrier: id, mask, alive, aligned: true };
        self.monitors.barrier_arrive(self.at(warp, pc), arrival);
        self
    }

    /// A barrier completes; lanes by warp.
    pub(crate) fn complete(&mut self, id: u32, arrived: &[u32], waited: &[u32]) -> &mut Trace {
        self.monitors.barrier_complete(self.block, id, arrived, waited);
        self
    }

    pub(crate) fn syncwarp(&mut self, (warp, mask): (u32, u32), pc: u32) -> &mut Trace {
        self.monitors.warp_sync(self.at(warp, pc), mask);
        self
    }

    pub(crate) fn fence(&mut self, (warp, mask): (u32, u32), pc: u32, scope: Scope) -> &mut Trace {
        self.monitors.fence(self.at(warp, pc), mask, scope);
        self
    }

    pub(crate) fn exit(&mut self, (warp, mask): (u32, u32), pc: u32) -> &mut Trace {
        self.exited[warp as usize] |= mask;
        self.monitors.exit(self.at(warp, pc), mask);
        self
    }

    pub(crate) fn bad_access(&mut self, warp: u32, pc: u32, bad: BadAccess) -> &mut Trace {
        self.monitors.bad_access(self.at(warp, pc), &bad);
        self
    }

    pub(crate) fn monitors(&mut self) -> &mut Monitors {
        &mut self.monitors
    }

    pub(crate) fn into_monitors(self) -> Monitors {
        self.monitors
    }

    pub(crate) fn finish(self) -> Findings {
        self.monitors.finish(&Names)
    }

    /// The faults, each as (severity, line, other line).
    pub(crate) fn faults(self) -> Vec<(Severity, u32, Option<u32>)> {
        self.finish().faults.iter().map(lines_of).collect()
    }
}

/// (severity, line, other line).
pub(crate) fn lines_of(fault: &Fault) -> (Severity, u32, Option<u32>) {
    let line = |at: &Option<SourceLine>| at.as_ref().unwrap().line;
    (fault.severity, line(&fault.party.at), fault.other.as_ref().map(|other| line(&other.at)))
}

fn base(space: Space) -> u64 {
    if space == Space::Global { X } else { 0 }
}
