//! Finds uses of values that nothing ever wrote.
//!
//! The executor marks what is read from unwritten memory, and registers without a value, as poison and lets the
//! mark spread as Memcheck and MemorySanitizer do; copying such a value is no fault. Once a mark decides a branch,
//! forms an address or is stored to global memory, it has become visible, and is reported here at the place where
//! it was *read*: that is where the learner can do something about it.

use super::finding::{Facts, Finding, FindingSet, Witness};
use super::{Check, Launched, Tally};
use crate::fault::{FaultKind, Severity, Sink, Space, Touch};
use crate::observer::{Access, Detail, Observer, Repeats, Site};
use crate::pattern::lanes;

/// `uninitialized_read`.
#[derive(Clone, Debug)]
pub(super) struct Initcheck {
    findings: FindingSet,
    /// By instruction: an address that it has read, to name the buffer by.
    read_at: Vec<Option<(Space, u64)>>,
}

impl Initcheck {
    pub(super) fn new(instructions: usize) -> Initcheck {
        Initcheck { findings: FindingSet::default(), read_at: vec![None; instructions] }
    }
}

impl Check for Initcheck {
    fn merge(&mut self, later: Initcheck) {
        self.findings.merge(later.findings);
    }

    fn report(self, launched: &Launched<'_>, tally: &mut Tally) {
        self.findings.resolve(launched, &mut tally.faults);
    }
}

impl Observer for Initcheck {
    fn detail() -> Detail {
        Detail::Grouped
    }

    #[inline]
    fn access(&mut self, at: Site, access: &Access<'_>) {
        let read_at = &mut self.read_at[at.pc as usize];
        if read_at.is_none() && access.touch != Touch::Write && access.space != Space::Local {
            *read_at = Some((access.space, access.addresses.of(access.mask.trailing_zeros())));
        }
    }

    #[inline]
    fn loads(&mut self, at: Site, access: &Access<'_>, loads: &Repeats) {
        // They are executed in order: if the last one has been, all have.
        if loads.each.last().is_none_or(|last| self.read_at[last.pc as usize].is_some()) {
            return;
        }
        for (at, access) in loads.accesses(at, access) {
            self.access(at, &access);
        }
    }

    fn poison(&mut self, at: Site, mask: u32, sink: Sink, origin: Option<u32>) {
        let thread = 32 * at.warp + lanes(mask).next().unwrap_or(0);
        let witness = |pc| Witness { pc, thread, block: at.block };
        let finding = Finding {
            kind: FaultKind::UninitializedRead,
            severity: Severity::Error,
            party: witness(origin.unwrap_or(at.pc)),
            other: origin.map(|_| witness(at.pc)),
            facts: Facts::Uninitialized {
                sink,
                read: origin.and_then(|origin| self.read_at[origin as usize]),
                register: origin.is_none(),
            },
        };
        self.findings.report(finding, u64::from(mask.count_ones()));
    }
}
