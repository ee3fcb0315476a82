//! One SM, replaying what the warps of its blocks do.
//!
//! Four quarters issue one instruction per cycle at most, of the warps that live in them. A warp's next instruction can be issued
//! when its operands are there, its unit is free, and the load/store unit has room; of several warps the one that issued last goes
//! on, else the oldest begins (greedy, then oldest: what Volta and later GPUs were found to do).

mod account;
mod cache;
mod memory;
mod warp;

pub use account::Cause;
pub(crate) use account::{Account, NOBODY};
use cache::Arrival;
use memory::{Access, Memory};
pub(crate) use memory::{Footprint, Traffic};
use warp::{Script, Wait, Warp};

use crate::code::{Class, Code, Op, PIPES, Pipe, Space};
use crate::gpu::Gpu;
use crate::trace::{NONE, Trace};

/// Quarters of an SM.
pub(crate) const QUARTERS: usize = 4;
/// Cycles between the first blocks that an SM is given.
const FIRST_BLOCKS_APART: f64 = 10.0;
/// Times that are nearer than this are one.
const INSTANT: f64 = 1e-9;

/// What is replayed, and on what.
pub(crate) struct Replay<'a> {
    pub(crate) gpu: &'a Gpu,
    pub(crate) code: &'a Code,
    pub(crate) trace: &'a Trace,
    pub(crate) footprint: &'a Footprint,
    /// What shared memory leaves of L1.
    pub(crate) l1_bytes: u64,
    /// Blocks that fit at a time.
    pub(crate) resident: usize,
    /// The most instructions to issue; then the replay is cut short.
    pub(crate) most_issued: u64,
}

/// How a replay went.
#[derive(Clone, Debug, Default)]
pub(crate) struct Replayed {
    /// When each block ended, in that order.
    pub(crate) ends: Vec<f64>,
    /// When all was over, or it was cut short.
    pub(crate) end: f64,
    pub(crate) issued: u64,
    pub(crate) is_cut: bool,
    pub(crate) account: Account,
    pub(crate) traffic: Traffic,
}

impl Replay<'_> {
    /// Plays `blocks` blocks, of which the resident ones begin at once and each of the others where one has ended.
    pub(crate) fn play(&self, blocks: usize) -> Replayed {
        let mut sm = Sm::new(self, blocks);
        while sm.replayed.issued < self.most_issued {
            let Some((quarter, warp, at)) = sm.next() else { return sm.finish(false) };
            sm.issue(quarter, warp, at);
        }
        sm.finish(true)
    }
}

/// A quarter.
#[derive(Debug, Default)]
struct Quarter {
    warps: Vec<usize>,
    /// When it can issue again.
    free: f64,
    /// When each of its units can take the next instruction.
    pipes: [f64; PIPES],
    /// When the memory instructions that it issued last reached the load/store unit, in a ring.
    queue: Vec<f64>,
    queued: usize,
    last: Option<usize>,
    /// What it issues next, and when, if that is known.
    candidate: Option<Option<(f64, usize)>>,
}

impl Quarter {
    /// When there is room for another memory instruction.
    fn has_room_at(&self) -> f64 {
        self.queue[self.queued % self.queue.len()]
    }

    fn enqueue(&mut self, at: f64) {
        let length = self.queue.len();
        self.queue[self.queued % length] = at;
        self.queued += 1;
    }
}

/// A block's place on the SM.
#[derive(Debug, Default)]
struct Slot {
    warps: Vec<usize>,
    arrived: usize,
    alive: usize,
    /// When the last warp came to the barrier.
    last_arrival: f64,
}

struct Sm<'a> {
    replay: &'a Replay<'a>,
    script: Script<'a>,
    memory: Memory<'a>,
    quarters: [Quarter; QUARTERS],
    warps: Vec<Warp>,
    slots: Vec<Slot>,
    blocks: usize,
    started: usize,
    age: u64,
    replayed: Replayed,
}

impl<'a> Sm<'a> {
    fn new(replay: &'a Replay<'a>, blocks: usize) -> Sm<'a> {
        let queue = (replay.gpu.memory_queue as usize).max(1);
        let mut sm = Sm {
            replay,
            script: Script { code: replay.code, trace: replay.trace },
            memory: Memory::new(replay.gpu, replay.footprint, replay.l1_bytes),
            quarters: std::array::from_fn(|_| Quarter { queue: vec![0.0; queue], ..Quarter::default() }),
            warps: Vec::new(),
            slots: Vec::new(),
            blocks,
            started: 0,
            age: 0,
            replayed: Replayed::default(),
        };
        let per_block = replay.trace.blocks.first().map_or(0, Vec::len);
        for slot in 0..replay.resident.min(blocks) {
            let mut place = Slot::default();
            for number in 0..per_block {
                let (id, quarter) = (sm.warps.len(), sm.warps.len() % QUARTERS);
                sm.warps.push(Warp::new(replay.code.registers, quarter, slot, number));
                sm.quarters[quarter].warps.push(id);
                place.warps.push(id);
            }
            sm.slots.push(place);
            sm.start(slot, FIRST_BLOCKS_APART * slot as f64);
        }
        sm
    }

    /// Gives the next block to a slot.
    fn start(&mut self, slot: usize, at: f64) {
        let warps = self.slots[slot].warps.clone();
        self.slots[slot].alive = warps.len();
        self.slots[slot].arrived = 0;
        for id in warps {
            self.warps[id].start(self.script, self.started, self.age, at);
            self.age += 1;
            self.quarters[self.warps[id].quarter].candidate = None;
        }
        self.started += 1;
    }

    /// The quarter that issues next, the warp, and when.
    fn next(&mut self) -> Option<(usize, usize, f64)> {
        for quarter in 0..QUARTERS {
            if self.quarters[quarter].candidate.is_none() {
                self.quarters[quarter].candidate = Some(self.candidate(quarter));
            }
        }
        let candidates = self.quarters.iter().enumerate().filter_map(|(number, quarter)| {
            let (at, warp) = quarter.candidate.flatten()?;
            Some((number, warp, at))
        });
        candidates.min_by(|a, b| a.2.total_cmp(&b.2))
    }

    fn candidate(&self, number: usize) -> Option<(f64, usize)> {
        let quarter = &self.quarters[number];
        let mut best: Option<(f64, u64, usize)> = None;
        for &id in &quarter.warps {
            let warp = &self.warps[id];
            if warp.next == f64::INFINITY {
                continue;
            }
            let Some(op) = warp.op(self.script) else { continue };
            let at = self.earliest(quarter, warp, op);
            let goes_on = quarter.last == Some(id) && at <= quarter.free;
            let key = if goes_on { 0 } else { warp.age + 1 };
            let is_better = best
                .is_none_or(|(time, other, _)| at < time - INSTANT || at <= time + INSTANT && key < other);
            if is_better {
                best = Some((at, key, id));
            }
        }
        best.map(|(at, _, id)| (at, id))
    }

    fn earliest(&self, quarter: &Quarter, warp: &Warp, op: &Op) -> f64 {
        let at = warp.next.max(quarter.free).max(quarter.pipes[op.pipe as usize]);
        if needs_load_store(op) { at.max(quarter.has_room_at()) } else { at }
    }

    /// What kept the quarter from issuing earlier.
    fn wait(&self, quarter: &Quarter, warp: &Warp, op: &Op, at: f64) -> Wait {
        if warp.next >= at - INSTANT {
            return warp.wait;
        }
        let is_unit_busy = op.pipe != Pipe::Memory && quarter.pipes[op.pipe as usize] >= at - INSTANT;
        let cause = if is_unit_busy { Cause::Unit } else { self.memory.cause() };
        Wait { cause, at: op.at }
    }

    fn issue(&mut self, number: usize, id: usize, at: f64) {
        let Some(op) = self.warps[id].op(self.script) else { return };
        let quarter = &self.quarters[number];
        let wait = self.wait(quarter, &self.warps[id], op, at);
        self.replayed.account.add(wait.at, wait.cause, at - quarter.free);
        let slots = f64::from(op.slots);
        self.replayed.account.add(op.at, Cause::Issue, slots);
        self.replayed.issued += 1;

        let quarter = &mut self.quarters[number];
        (quarter.free, quarter.last, quarter.candidate) = (at + slots, Some(id), None);
        quarter.pipes[op.pipe as usize] = at + f64::from(op.busy);
        let arrival = self.carry_out(number, id, op, at);
        let warp = &mut self.warps[id];
        warp.issued(op, arrival);
        let mut after = at + slots;
        match op.class {
            Class::Commit => warp.commits(),
            Class::Branch => after += self.replay.gpu.branch_latency,
            _ => {}
        }
        self.go_on(id, op, after);
    }

    /// Does what the instruction does to memory. Gives back when its result is there.
    fn carry_out(&mut self, number: usize, id: usize, op: &Op, at: f64) -> Arrival {
        let gpu = self.replay.gpu;
        let math = Arrival {
            at: at + f64::from(op.latency) + f64::from(op.slots.max(1) - 1),
            cause: Cause::Dependency,
        };
        if op.class == Class::Exchange {
            let arrival = self.memory.exchange(at, 1.0, f64::from(op.latency) - 3.0);
            self.quarters[number].enqueue(self.memory.busy_until());
            return arrival.max(math);
        }
        if !op.is_request() {
            return math;
        }
        let request = self.warps[id].take_request(self.script);
        if request == NONE {
            return Arrival { at: at + gpu.math_latency, cause: Cause::Dependency };
        }
        let request = self.script.trace.requests[request as usize];
        let range = request.first as usize..request.first as usize + usize::from(request.lines);
        let access = Access {
            request,
            lines: &self.script.trace.lines[range],
            moved: self.warps[id].moved,
            skips_l1: self.replay.code.traits[op.at as usize].skips_l1,
        };
        let turns = f64::from(request.turns.max(1));
        let mut arrival = math;
        match op.class {
            Class::Load(Space::Shared) | Class::Atomic(Space::Shared) => {
                arrival = self.memory.exchange(at, turns, gpu.shared_latency);
            }
            Class::Store(Space::Shared) => drop(self.memory.exchange(at, turns, gpu.shared_latency)),
            Class::Load(Space::Constant) => arrival = self.memory.exchange(at, turns, gpu.constant_latency),
            Class::Load(_) => arrival = self.memory.load(at, &access),
            Class::Store(Space::Local) => self.memory.store_local(at, &access),
            Class::Store(_) => self.memory.store(at, &access),
            Class::Copy => {
                let copied = self.memory.copy(at, &access);
                self.warps[id].copies(op.at, copied);
            }
            Class::Atomic(_) => {
                self.memory.store(at, &access);
                arrival.at = at + gpu.l2_latency;
                arrival.cause = Cause::Latency;
            }
            _ => {}
        }
        self.quarters[number].enqueue(self.memory.busy_until() - 1.0);
        arrival
    }

    /// Finds the warp's next instruction, lets a barrier open, or starts the next block.
    fn go_on(&mut self, id: usize, op: &Op, after: f64) {
        let slot = self.warps[id].slot;
        match op.class {
            Class::Barrier => {
                let warp = &mut self.warps[id];
                (warp.is_at_barrier, warp.next) = (true, f64::INFINITY);
                self.slots[slot].arrived += 1;
                self.slots[slot].last_arrival = self.slots[slot].last_arrival.max(after);
            }
            Class::Exit => {
                let warp = &mut self.warps[id];
                (warp.is_done, warp.next) = (true, f64::INFINITY);
            }
            _ => {
                let cause = if op.class == Class::Branch { Cause::Start } else { Cause::Dependency };
                self.warps[id].advance(self.script, after, Wait { cause, at: op.at });
            }
        }
        let is_done = self.warps[id].is_done;
        if is_done {
            self.slots[slot].alive -= 1;
        }
        if op.class == Class::Barrier || is_done {
            self.open_barrier(slot, op.at, after);
        }
        if self.slots[slot].alive == 0 {
            self.replayed.ends.push(after);
            if self.started < self.blocks {
                self.start(slot, after + self.replay.gpu.block_gap);
            } else {
                self.slots[slot].alive = usize::MAX;
            }
        }
    }

    fn open_barrier(&mut self, slot: usize, at: u32, now: f64) {
        let place = &mut self.slots[slot];
        if place.alive == 0 || place.arrived < place.alive {
            return;
        }
        let opens = place.last_arrival.max(now) + self.replay.gpu.barrier_latency;
        (place.arrived, place.last_arrival) = (0, 0.0);
        for id in place.warps.clone() {
            let warp = &mut self.warps[id];
            if !warp.is_at_barrier {
                continue;
            }
            warp.is_at_barrier = false;
            warp.advance(self.script, opens, Wait { cause: Cause::Barrier, at });
            self.quarters[warp.quarter].candidate = None;
            if warp.is_done {
                self.slots[slot].alive -= 1;
            }
        }
    }

    fn finish(mut self, is_cut: bool) -> Replayed {
        let last = self.replayed.ends.iter().copied().fold(0.0, f64::max);
        let now = self.quarters.iter().map(|quarter| quarter.free).fold(0.0, f64::max);
        self.replayed.end = if is_cut { now } else { last.max(self.memory.end()) };
        for quarter in &self.quarters {
            self.replayed.account.add(NOBODY, Cause::Idle, self.replayed.end - quarter.free);
        }
        (self.replayed.is_cut, self.replayed.traffic) = (is_cut, self.memory.traffic);
        self.replayed
    }
}

fn needs_load_store(op: &Op) -> bool {
    op.is_request() || op.class == Class::Exchange
}
