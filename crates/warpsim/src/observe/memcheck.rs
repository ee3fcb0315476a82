//! Finds accesses outside every buffer, and misaligned ones. The executor has already suppressed them.

use super::Object;
use super::finding::{Facts, Finding, FindingSet, Witness};
use crate::fault::{FaultKind, Severity};
use crate::observer::{Access, BadAccess, Site};
use crate::pattern::lanes;

/// `out_of_bounds` and `misaligned`.
#[derive(Clone, Debug, Default)]
pub(super) struct Memcheck {
    pub(super) findings: FindingSet,
}

impl Memcheck {
    /// Reports the lanes of an access to shared memory that leave the variable which their address is of. They have
    /// touched what lies beside it.
    #[inline]
    pub(super) fn keep_to(&mut self, object: Object, at: Site, access: &Access<'_>) {
        let first = access.addresses.of(access.mask.trailing_zeros());
        let lowest = first.wrapping_sub(access.pattern.first_offset);
        if lowest < object.start || lowest + access.pattern.span > object.end {
            self.leave(object, at, access);
        }
    }

    #[cold]
    fn leave(&mut self, object: Object, at: Site, access: &Access<'_>) {
        let &Access { touch, space, bytes, .. } = access;
        for lane in lanes(access.mask) {
            let address = access.addresses.of(lane);
            if address >= object.start && address + u64::from(bytes) <= object.end {
                continue;
            }
            let finding = Finding {
                kind: FaultKind::OutOfBounds,
                severity: Severity::Error,
                party: Witness { pc: at.pc, thread: 32 * at.warp + lane, block: at.block },
                other: None,
                facts: Facts::Access { touch, space, bytes, address, object: Some(object.number) },
            };
            self.findings.report(finding, 1);
        }
    }

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
                object: None,
            },
        };
        self.findings.report(finding, 1);
    }
}
