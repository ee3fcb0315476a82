//! Finds accesses outside every buffer, and misaligned ones. The executor has already suppressed them.

use super::finding::{Facts, Finding, FindingSet, Witness};
use crate::fault::{FaultKind, Severity};
use crate::observer::{BadAccess, Site};

/// `out_of_bounds` and `misaligned`.
#[derive(Clone, Debug, Default)]
pub(super) struct Memcheck {
    pub(super) findings: FindingSet,
}

impl Memcheck {
    pub(super) fn bad_access(&mut self, at: Site, bad: &BadAccess) {
        let kind = if bad.misaligned { FaultKind::Misaligned } else { FaultKind::OutOfBounds };
        let finding = Finding {
            kind,
            severity: Severity::Error,
            party: Witness { pc: at.pc, thread: 32 * at.warp + bad.lane, block: at.block },
            other: None,
            facts: Facts::Access {
                touch: bad.touch,
                space: bad.space,
                bytes: bad.bytes,
                address: bad.address,
            },
        };
        self.findings.report(finding, 1);
    }
}
