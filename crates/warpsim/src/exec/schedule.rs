//! Turns: blocks one after another, the warps of a block in turns, the groups of a warp in turns.

use std::time::Instant;

use super::warp::{LaneGroup, State, Warp};
use super::{Machine, Stop};
use crate::observer::{Observer, Site, Waiting};

/// Warp instructions before a warp lets the next one run.
const WARP_SLICE: u64 = 1 << 14;
/// Warp instructions before a group lets its siblings run.
const GROUP_SLICE: u64 = 1 << 12;

/// A lane group that looked so often at memory that others may change, without changing any, waits for others: its
/// slice ends.
pub(crate) const IDLE_POLLS: u32 = 64;
/// After so many slices, a group that changes memory while it polls counts as waiting too.
const BUSY_SLICES: u32 = 1 << 8;
/// Blocks between two looks at the clock.
const BLOCKS_PER_LOOK: usize = 16;
/// Warp instructions between two looks while a block runs.
const INSTRUCTIONS_PER_LOOK: u64 = 1 << 12;

/// What became of a warp's turn.
enum Turn {
    /// Its slice is over.
    Preempted,
    /// None of its lanes can go on now.
    Blocked,
    /// All lanes have exited.
    Finished,
}

impl<O: Observer> Machine<'_, '_, O> {
    /// Runs blocks in order.
    pub(crate) fn run(
        &mut self,
        blocks: impl Iterator<Item = u64>,
        cancelled: impl Fn() -> bool,
    ) -> Result<(), Stop> {
        for (number, block) in blocks.enumerate() {
            if number % BLOCKS_PER_LOOK == 0 && Instant::now() >= self.context.deadline {
                let at = Site { block, warp: 0, pc: self.context.program.functions[0].entry };
                return Err(Stop::Wall { at, lane: 0, executed: self.executed, polling: false });
            }
            self.run_block(block)?;
            if cancelled() {
                return Err(Stop::Cancelled);
            }
        }
        Ok(())
    }

    fn run_block(&mut self, block: u64) -> Result<(), Stop> {
        self.block = block;
        self.executed_before = self.executed;
        self.observer.block_start(block);
        self.shared.reset();
        self.barriers.reset();
        let index = self.context.block_index(block);
        for warp in 0..self.warps.len() {
            self.warps[warp].start(self.context, warp as u32, index);
            self.alive[warp] = self.warps[warp].alive;
        }
        let mut running = self.warps.len();
        let mut finished = vec![false; running];
        let mut stand_in = Box::<Warp>::default();
        let mut look = self.executed + INSTRUCTIONS_PER_LOOK;
        while running > 0 {
            let mut progress = false;
            for (number, finished) in finished.iter_mut().enumerate() {
                if *finished {
                    continue;
                }
                // The warp is taken out while it runs, since it and the rest of the machine change each other.
                let mut warp = std::mem::replace(&mut self.warps[number], stand_in);
                let before = self.executed;
                let turn = self.turn(&mut warp);
                stand_in = std::mem::replace(&mut self.warps[number], warp);
                match turn? {
                    Turn::Finished => {
                        *finished = true;
                        running -= 1;
                        progress = true;
                    }
                    Turn::Preempted => progress = true,
                    Turn::Blocked => progress |= self.executed != before,
                }
                if self.executed >= look {
                    look = self.executed + INSTRUCTIONS_PER_LOOK;
                    if Instant::now() >= self.context.deadline && running > 0 {
                        return Err(self.out_of_time(number));
                    }
                }
            }
            if !progress && running > 0 && !self.unblock() {
                let waiting = self.waiting();
                self.observer.deadlock(block, &waiting);
                return Err(Stop::Deadlock);
            }
        }
        self.observer.block_end(block);
        Ok(())
    }

    /// Lets one warp run until its slice is over or none of its lanes can go on.
    fn turn(&mut self, warp: &mut Warp) -> Result<Turn, Stop> {
        let end = self.executed + WARP_SLICE;
        let mut idle_turns = 0;
        while !warp.groups.is_empty() {
            // Mostly all lanes are in one place.
            let ready = match warp.groups[..] {
                [LaneGroup { state: State::Ready, .. }] => Some(0),
                [LaneGroup { state: State::Barrier { id, generation }, .. }] => {
                    if !self.barriers.is_complete(id, generation) {
                        return Ok(Turn::Blocked);
                    }
                    self.pass_barrier(warp, 0, id, generation);
                    Some(0)
                }
                _ => self.next_ready(warp),
            };
            let Some(group) = ready else {
                if self.hold_meeting(warp)? || self.break_up_meeting(warp)? {
                    continue;
                }
                return Ok(Turn::Blocked);
            };
            if self.executed >= end {
                return Ok(Turn::Preempted);
            }
            warp.current = group;
            warp.select(group);
            let budget = GROUP_SLICE.min(self.fuel.saturating_sub(self.executed));
            if budget == 0 {
                return Err(self.out_of_fuel(warp, group));
            }
            warp.groups[group].polled = false;
            debug_assert!(warp.lanes_are_in_one_place(), "{:?}", warp.groups);
            if self.step(warp, group, budget)? {
                // The slice is over and the group is still there. If it is waiting for something that lanes
                // held at a join have to do, let them go. One that changes memory is rather at work.
                let ran = &mut warp.groups[group];
                ran.polls += u32::from(ran.polled);
                let is_idle = ran.idle >= IDLE_POLLS;
                let waits = is_idle || (ran.polled && ran.polls.is_multiple_of(BUSY_SLICES));
                ran.idle = if is_idle { 0 } else { ran.idle };
                let released = waits && warp.release_joins(group);
                warp.current = group + 1;
                let met = self.hold_meeting(warp)?;
                idle_turns = if is_idle && !released && !met { idle_turns + 1 } else { 0 };
                // All that can go on wait for other warps.
                if idle_turns > warp.groups.len() {
                    return Ok(Turn::Preempted);
                }
            } else {
                idle_turns = 0;
            }
        }
        Ok(Turn::Finished)
    }

    /// The next group that can go on, from the current one on.
    fn next_ready(&mut self, warp: &mut Warp) -> Option<usize> {
        self.pass_barriers(warp);
        let is_ready = |group: &LaneGroup| group.state == State::Ready;
        let from = if warp.current < warp.groups.len() { warp.current } else { 0 };
        let (before, after) = warp.groups.split_at(from);
        let later = after.iter().position(is_ready).map(|i| from + i);
        later.or_else(|| before.iter().position(is_ready))
    }

    /// When nothing in the block can go on: lets lanes held at a join go, for others may wait for them at a
    /// barrier. Returns whether there were any.
    fn unblock(&mut self) -> bool {
        let mut any = false;
        for warp in &mut self.warps {
            for group in 0..warp.groups.len() {
                any |= warp.release_joins(group);
            }
        }
        any
    }

    /// Who waits where.
    fn waiting(&self) -> Vec<Waiting> {
        let mut list = Vec::new();
        for warp in &self.warps {
            for group in &warp.groups {
                if let State::Barrier { id, .. } = group.state {
                    // A waiting group already stands after its barrier.
                    let at = Site { block: self.block, warp: warp.index, pc: group.pc.saturating_sub(1) };
                    list.push(Waiting { at, mask: group.mask, barrier: u32::from(id) });
                }
            }
        }
        list
    }

    fn out_of_fuel(&self, warp: &Warp, group: usize) -> Stop {
        let (at, lane, polling) = self.loop_of(warp, group);
        Stop::Fuel { at, lane, executed: self.executed, polling }
    }

    fn out_of_time(&self, warp: usize) -> Stop {
        let warp = self.warps.iter().cycle().skip(warp).take(self.warps.len()).find(|w| !w.groups.is_empty());
        let (at, lane, polling) = match warp {
            Some(warp) => self.loop_of(warp, warp.current.min(warp.groups.len() - 1)),
            None => (Site { block: self.block, warp: 0, pc: 0 }, 0, false),
        };
        Stop::Wall { at, lane, executed: self.executed, polling }
    }

    /// The loop a group is in, or else another one of its warp: the last backward branch.
    fn loop_of(&self, warp: &Warp, group: usize) -> (Site, u32, bool) {
        let loops = |group: &&LaneGroup| (group.back_edge as usize) < self.context.program.code.len();
        let this = &warp.groups[group];
        let found = Some(this).filter(loops).or_else(|| warp.groups.iter().find(loops));
        let (group, pc) = found.map_or((this, this.pc), |group| (group, group.back_edge));
        (Site { block: self.block, warp: warp.index, pc }, group.mask.trailing_zeros(), group.polled)
    }
}
