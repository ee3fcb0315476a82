//! What would keep two accesses apart that nothing orders.

use super::Resolver;
use super::finding::{Distance, Witness};
use crate::fault::{Remedy, Round, Space, Touch};

/// Two accesses that race: the later one, as the simulator ran them, and the earlier one.
pub(super) struct Pair<'a> {
    pub(super) party: &'a Witness,
    pub(super) other: Option<&'a Witness>,
    pub(super) touches: [Touch; 2],
    pub(super) space: Space,
    pub(super) distance: Distance,
    /// The earlier one is an asynchronous copy.
    pub(super) after_copy: bool,
}

impl Pair<'_> {
    pub(super) fn remedy(&self, resolver: &dyn Resolver) -> Remedy {
        let [touch, other_touch] = self.touches;
        let both_write = self.touches == [Touch::Write; 2];
        let has_atomic = self.touches.contains(&Touch::Atomic);
        let same_pc = self.other.is_some_and(|other| other.pc == self.party.pc);
        let habits = resolver.habits();
        let of_warp = self.distance == Distance::Threads;
        let unlocks = habits.locks && has_atomic && [touch, other_touch].contains(&Touch::Write);
        match self.distance {
            _ if unlocks => Remedy::Unlock,
            Distance::Blocks if has_atomic => Remedy::Atomic,
            Distance::Blocks if habits.locks => Remedy::Lock,
            Distance::Blocks if both_write => Remedy::OneWriter,
            Distance::Blocks if habits.signals => Remedy::Fence,
            Distance::Blocks => Remedy::Launches,
            Distance::Threads if both_write && same_pc => Remedy::OneWriter,
            _ if self.after_copy => Remedy::BarrierAfterWait { of_warp },
            _ if habits.locks && self.space == Space::Global => Remedy::Lock,
            // A barrier would only decide which of them wins.
            _ if both_write && self.space == Space::Global => Remedy::OwnElement { of_loop: false },
            _ if both_write && same_pc => Remedy::OwnElement { of_loop: true },
            _ => Remedy::Barrier { of_warp, round: self.round(resolver, of_warp) },
        }
    }

    /// Between which of them the barrier is missing.
    ///
    /// Two accesses of one phase have no barrier on the way from one to the other that both threads took. If there is one
    /// between them in the code, and a loop around both, the way is that through the next round.
    fn round(&self, resolver: &dyn Resolver, of_warp: bool) -> Round {
        let Some(other) = self.other else { return Round::Either };
        let (first, second) = (self.party.pc.min(other.pc), self.party.pc.max(other.pc));
        let is_other = |pc: u32| pc == other.pc;
        let way = resolver.way(first, second, of_warp);
        let (line, next) = (resolver.line(first), resolver.line(second));
        if way.has_barrier && way.is_in_loop {
            return Round::Next { first_is_other: is_other(second) };
        }
        if line == next && !way.has_barrier_back {
            // A statement reads before it writes.
            let of_first = self.touches[usize::from(is_other(first))];
            return match of_first {
                Touch::Write if first != second => Round::Next { first_is_other: is_other(first) },
                _ => Round::Either,
            };
        }
        // The compiler may have put several rounds side by side.
        let goes_back =
            line.zip(next).is_some_and(|(line, next)| line.file == next.file && line.line > next.line);
        if goes_back {
            return Round::Next { first_is_other: is_other(first) };
        }
        Round::Same { first_is_other: is_other(first) }
    }
}
