//! Turns: blocks one after another, the warps of a block in turns, the fragments of a warp in turns.

use std::time::Instant;

use super::warp::{Fragment, State, Warp};
use super::{Machine, Stop};
use crate::observer::{Observer, Site, Waiting};

/// Warp instructions before a warp lets the next one run.
const WARP_SLICE: u64 = 1 << 14;
/// Warp instructions before a fragment lets its siblings run.
const FRAGMENT_SLICE: u64 = 1 << 12;

/// A fragment that looked so often at memory that others may change, without changing any, waits for others: its
/// slice ends.
pub(crate) const IDLE_POLLS: u32 = 64;
/// After so many slices, a fragment that changes memory while it polls counts as waiting too.
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
        while !warp.fragments.is_empty() {
            // Mostly all lanes are in one place.
            let ready = match warp.fragments[..] {
                [Fragment { state: State::Ready, .. }] => Some(0),
                [Fragment { state: State::Barrier { id, generation }, .. }] => {
                    if !self.barriers.is_complete(id, generation) {
                        return Ok(Turn::Blocked);
                    }
                    self.pass_barrier(warp, 0, id, generation);
                    Some(0)
                }
                _ => self.next_ready(warp),
            };
            let Some(fragment) = ready else {
                if self.hold_meeting(warp)? || self.break_up_meeting(warp)? {
                    continue;
                }
                return Ok(Turn::Blocked);
            };
            if self.executed >= end {
                return Ok(Turn::Preempted);
            }
            warp.current = fragment;
            warp.select(fragment);
            let budget = FRAGMENT_SLICE.min(self.fuel.saturating_sub(self.executed));
            if budget == 0 {
                return Err(self.out_of_fuel(warp, fragment));
            }
            warp.fragments[fragment].polled = false;
            debug_assert!(warp.lanes_are_in_one_place(), "{:?}", warp.fragments);
            if self.step(warp, fragment, budget)? {
                // The slice is over and the fragment is still there. If it is waiting for something that lanes
                // held at a join have to do, let them go. One that changes memory is rather at work.
                let ran = &mut warp.fragments[fragment];
                ran.polls += u32::from(ran.polled);
                let is_idle = ran.idle >= IDLE_POLLS;
                let waits = is_idle || (ran.polled && ran.polls.is_multiple_of(BUSY_SLICES));
                ran.idle = if is_idle { 0 } else { ran.idle };
                let released = waits && warp.release_joins(fragment);
                warp.current = fragment + 1;
                let met = self.hold_meeting(warp)?;
                idle_turns = if is_idle && !released && !met { idle_turns + 1 } else { 0 };
                // All that can go on wait for other warps.
                if idle_turns > warp.fragments.len() {
                    return Ok(Turn::Preempted);
                }
            } else {
                idle_turns = 0;
            }
        }
        Ok(Turn::Finished)
    }

    /// The next fragment that can go on, from the current one on.
    fn next_ready(&mut self, warp: &mut Warp) -> Option<usize> {
        self.pass_barriers(warp);
        let is_ready = |fragment: &Fragment| fragment.state == State::Ready;
        let from = if warp.current < warp.fragments.len() { warp.current } else { 0 };
        let (before, after) = warp.fragments.split_at(from);
        let later = after.iter().position(is_ready).map(|i| from + i);
        later.or_else(|| before.iter().position(is_ready))
    }

    /// When nothing in the block can go on: lets lanes held at a join go, for others may wait for them at a
    /// barrier. Returns whether there were any.
    fn unblock(&mut self) -> bool {
        let mut any = false;
        for warp in &mut self.warps {
            for fragment in 0..warp.fragments.len() {
                any |= warp.release_joins(fragment);
            }
        }
        any
    }

    /// Who waits where.
    fn waiting(&self) -> Vec<Waiting> {
        let mut list = Vec::new();
        for warp in &self.warps {
            for fragment in &warp.fragments {
                if let State::Barrier { id, .. } = fragment.state {
                    // A waiting fragment already stands after its barrier.
                    let at = Site { block: self.block, warp: warp.index, pc: fragment.pc.saturating_sub(1) };
                    list.push(Waiting { at, mask: fragment.mask, barrier: u32::from(id) });
                }
            }
        }
        list
    }

    fn out_of_fuel(&self, warp: &Warp, fragment: usize) -> Stop {
        let (at, lane, polling) = self.loop_of(warp, fragment);
        Stop::Fuel { at, lane, executed: self.executed, polling }
    }

    fn out_of_time(&self, warp: usize) -> Stop {
        let warp =
            self.warps.iter().cycle().skip(warp).take(self.warps.len()).find(|w| !w.fragments.is_empty());
        let (at, lane, polling) = match warp {
            Some(warp) => self.loop_of(warp, warp.current.min(warp.fragments.len() - 1)),
            None => (Site { block: self.block, warp: 0, pc: 0 }, 0, false),
        };
        Stop::Wall { at, lane, executed: self.executed, polling }
    }

    /// The loop a fragment is in, or else another one of its warp: the last backward branch.
    fn loop_of(&self, warp: &Warp, fragment: usize) -> (Site, u32, bool) {
        let loops = |fragment: &&Fragment| (fragment.back_edge as usize) < self.context.program.code.len();
        let this = &warp.fragments[fragment];
        let found = Some(this).filter(loops).or_else(|| warp.fragments.iter().find(loops));
        let (fragment, pc) = found.map_or((this, this.pc), |fragment| (fragment, fragment.back_edge));
        (Site { block: self.block, warp: warp.index, pc }, fragment.mask.trailing_zeros(), fragment.polled)
    }
}
