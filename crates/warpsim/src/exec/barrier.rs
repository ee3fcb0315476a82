//! The barriers of a block.

use super::warp::{State, Warp};
use super::{Machine, Stop};
use crate::fault::Refused;
use crate::observer::{Arrival, Observer, Site};
use crate::program::{Barrier, BarrierKind, BarrierReduction, Inst};
use crate::registers::Operands;

const COUNT: usize = 16;

/// All barriers of a block.
#[derive(Debug)]
pub(crate) struct Barriers {
    each: [One; COUNT],
}

#[derive(Clone, Debug, Default)]
struct One {
    /// For each warp, the lanes that arrived since the last completion, and those of them that wait.
    arrived: Vec<u32>,
    waited: Vec<u32>,
    /// Threads it takes; `None`: all that have not exited.
    expected: Option<u32>,
    /// Lanes whose predicate holds, for reductions.
    votes: Vec<u32>,
    generation: u64,
    /// What each completion of a reduction came to: threads whose predicate held, and threads that took part.
    results: Vec<(u64, u32, u32)>,
    /// Whether any warp arrived since the last completion, and whether for a reduction.
    is_awaited: bool,
    reduces: bool,
    /// A warp that was missing when somebody looked.
    missing: usize,
}

impl Barriers {
    pub(crate) fn new(warps: usize) -> Barriers {
        let one =
            One { arrived: vec![0; warps], waited: vec![0; warps], votes: vec![0; warps], ..One::default() };
        Barriers { each: std::array::from_fn(|_| one.clone()) }
    }

    pub(crate) fn reset(&mut self) {
        for one in &mut self.each {
            if one.is_awaited {
                one.clear();
            }
            one.generation = 0;
            one.results.clear();
        }
    }

    pub(crate) fn is_complete(&self, id: u8, generation: u64) -> bool {
        self.each[id as usize].generation > generation
    }
}

impl One {
    fn clear(&mut self) {
        self.arrived.fill(0);
        self.waited.fill(0);
        if self.reduces {
            self.votes.fill(0);
        }
        (self.is_awaited, self.reduces) = (false, false);
        self.expected = None;
    }

    /// Whether all have arrived, of a barrier that [is awaited](Self::is_awaited).
    #[inline]
    fn is_full(&mut self, alive: &[u32]) -> bool {
        if let Some(threads) = self.expected {
            // Threads are counted in whole warps.
            return self.arrived.iter().filter(|&&m| m != 0).count() as u32 * 32 >= threads;
        }
        let is_missing = |warp: usize| alive[warp] & !self.arrived[warp] != 0;
        if is_missing(self.missing) {
            return false;
        }
        // Warps mostly arrive in order: the last one is missing longest.
        let missing = (0..alive.len()).rfind(|&warp| is_missing(warp));
        self.missing = missing.unwrap_or(self.missing);
        missing.is_none()
    }
}

impl<O: Observer> Machine<'_, '_, O> {
    /// The lanes in `mask`, which are those of some groups that stand behind the barrier, reach it.
    ///
    /// # Errors
    /// A number of a barrier or of threads that the hardware would refuse.
    pub(crate) fn arrive_at_barrier(
        &mut self,
        warp: &mut Warp,
        groups: &[usize],
        at: Site,
        barrier: Barrier,
        ops: &Operands,
        mask: u32,
    ) -> Result<(), Stop> {
        let lane = mask.trailing_zeros();
        let id = warp.registers.word(ops.src[0])[lane as usize];
        let threads = barrier.counted.then(|| warp.registers.word(ops.src[1])[lane as usize]);
        if id >= COUNT as u32 {
            return Err(Stop::Refused(at, lane, Refused::Barrier { id }));
        }
        if let Some(threads) = threads.filter(|n| *n == 0 || n % 32 != 0) {
            return Err(Stop::Refused(at, lane, Refused::BarrierThreads { threads }));
        }
        let id = id as u8;
        let (alive, aligned) = (warp.alive, barrier.aligned);
        self.observer.barrier_arrive(at, Arrival { barrier: u32::from(id), mask, alive, aligned });
        let index = warp.index as usize;
        let one = &mut self.barriers.each[id as usize];
        // An aligned barrier takes the warp as a whole, as the hardware does; that lanes are missing has been told.
        let arriving = if barrier.aligned { warp.alive } else { mask };
        one.arrived[index] |= arriving;
        one.is_awaited = true;
        if threads.is_some() {
            one.expected = threads;
        }
        let generation = one.generation;
        let waits = barrier.kind != BarrierKind::Arrive;
        if waits {
            one.waited[index] |= arriving;
            for &group in groups {
                warp.groups[group].state = State::Barrier { id, generation };
            }
        }
        if let BarrierKind::Reduce(_, negated) = barrier.kind {
            let predicate = warp.registers.pred(ops.src[2]);
            one.reduces = true;
            one.votes[index] |= if negated { !predicate } else { predicate } & mask;
        }
        self.complete_if_full(id);
        if waits && self.barriers.is_complete(id, generation) {
            for &group in groups {
                self.pass_barrier(warp, group, id, generation);
            }
        }
        Ok(())
    }

    /// Lets the groups of a warp whose barrier has completed go on.
    pub(crate) fn pass_barriers(&mut self, warp: &mut Warp) {
        let mut any = false;
        for group in 0..warp.groups.len() {
            if let State::Barrier { id, generation } = warp.groups[group].state
                && self.barriers.is_complete(id, generation)
            {
                self.pass_barrier(warp, group, id, generation);
                any = true;
            }
        }
        if any {
            warp.unite();
        }
    }

    /// Completes a barrier that is awaited, if nobody is missing.
    fn complete_if_full(&mut self, id: u8) {
        let one = &mut self.barriers.each[id as usize];
        if !one.is_full(&self.alive) {
            return;
        }
        self.observer.barrier_complete(self.block, u32::from(id), &one.arrived, &one.waited);
        if one.reduces {
            let sum = |masks: &[u32]| masks.iter().map(|m| m.count_ones()).sum();
            one.results.push((one.generation, sum(&one.votes), sum(&one.arrived)));
            // Nobody can still ask for a result that lies this far back: a warp waits for one barrier at a time.
            if one.results.len() > 64 {
                one.results.remove(0);
            }
        }
        one.generation += 1;
        one.clear();
    }

    /// Threads that exit are no longer waited for.
    pub(crate) fn recheck_barriers(&mut self) {
        for id in 0..COUNT as u8 {
            let one = &self.barriers.each[id as usize];
            if one.is_awaited && one.expected.is_none() {
                self.complete_if_full(id);
            }
        }
    }

    /// A lane group whose barrier completed goes on; a reduction gives its result.
    pub(crate) fn pass_barrier(&mut self, warp: &mut Warp, group: usize, id: u8, generation: u64) {
        let from = warp.groups[group];
        warp.groups[group].state = State::Ready;
        // The group already stands behind its barrier.
        let Inst { step: crate::program::Step::Barrier(barrier), ops, .. } =
            self.context.program.code[from.pc as usize - 1]
        else {
            return;
        };
        let BarrierKind::Reduce(reduction, _) = barrier.kind else { return };
        let results = &self.barriers.each[id as usize].results;
        let Some(&(_, votes, threads)) = results.iter().find(|r| r.0 == generation) else { return };
        warp.select(group);
        let holds = match reduction {
            BarrierReduction::Count => {
                warp.registers.set_word(ops.dst[0], &[votes; 32], from.mask);
                return;
            }
            BarrierReduction::And => votes == threads,
            BarrierReduction::Or => votes > 0,
        };
        warp.registers.set_pred(ops.dst[0], if holds { u32::MAX } else { 0 }, from.mask);
    }
}
