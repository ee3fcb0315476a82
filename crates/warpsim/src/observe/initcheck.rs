//! Finds uses of values that nothing ever wrote.
//!
//! The executor marks what is read from unwritten memory, and registers without a value, as poison and lets the
//! mark spread as Memcheck and MemorySanitizer do; copying such a value is no fault. Once a mark decides a branch,
//! forms an address or is stored to global memory, it has become visible, and is reported here at the place where
//! it was *read* first: that is where the learner can do something about it.

use std::collections::HashMap;

use super::finding::{Facts, Finding, FindingSet, Unwritten, Witness};
use super::{Check, Launched, Tally};
use crate::fault::{Absent, FaultKind, Severity, Sink, Space};
use crate::observer::{Detail, Observer, Site};
use crate::pattern::lanes;

/// `uninitialized_read`.
#[derive(Clone, Debug, Default)]
pub(super) struct Initcheck {
    findings: FindingSet,
    /// By instruction: what it has read last that nothing wrote.
    reads: HashMap<u32, Read>,
}

/// Lanes of a warp have read what nothing wrote.
#[derive(Clone, Debug)]
struct Read {
    block: u64,
    warp: u32,
    mask: u32,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    /// Memory, at these addresses.
    Memory(Space, Box<[u64; 32]>),
    /// A lane.
    Lane(u32, Absent),
}

impl Initcheck {
    fn remember(&mut self, at: Site, mask: u32, what: What) {
        self.reads.insert(at.pc, Read { block: at.block, warp: at.warp, mask, what });
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
        Detail::Faults
    }

    #[cold]
    fn unwritten(&mut self, at: Site, space: Space, mask: u32, addresses: &[u64; 32]) {
        self.remember(at, mask, What::Memory(space, Box::new(*addresses)));
    }

    #[cold]
    fn absent(&mut self, at: Site, lane: u32, source: u32, why: Absent) {
        self.remember(at, 1 << lane, What::Lane(source, why));
    }

    fn poison(&mut self, at: Site, mask: u32, sink: Sink, origin: Option<u32>) {
        let lane = lanes(mask).next().unwrap_or(0);
        let user = Witness { pc: at.pc, thread: 32 * at.warp + lane, block: at.block };
        let read = origin.and_then(|pc| Some((pc, self.reads.get(&pc)?)));
        let (party, source) = match read {
            None => (Witness { pc: origin.unwrap_or(at.pc), ..user }, Unwritten::Register),
            Some((pc, read)) => {
                // The value may have gone from lane to lane since.
                let is_same = (read.block, read.warp) == (at.block, at.warp) && read.mask >> lane & 1 != 0;
                let lane = if is_same { lane } else { read.mask.trailing_zeros() };
                let source = match &read.what {
                    What::Memory(space, addresses) => {
                        Unwritten::Memory(*space, addresses[lane as usize % 32])
                    }
                    What::Lane(source, why) => Unwritten::Lane(*source, *why),
                };
                (Witness { pc, thread: 32 * read.warp + lane, block: read.block }, source)
            }
        };
        let finding = Finding {
            kind: FaultKind::UninitializedRead,
            severity: Severity::Error,
            party,
            other: origin.map(|_| user),
            facts: Facts::Uninitialized { sink, source },
        };
        self.findings.report(finding, u64::from(mask.count_ones()));
    }
}
