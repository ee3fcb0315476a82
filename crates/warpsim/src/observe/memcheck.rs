//! Finds accesses outside every buffer, and misaligned ones. The executor has already suppressed them.

use super::finding::{Facts, Finding, FindingSet, Witness};
use super::{Check, Context, Launched, Object, Tally};
use crate::fault::{FaultKind, Severity, Space};
use crate::observer::{Access, BadAccess, Detail, LoadGroup, Observer, Site};
use crate::pattern::lanes;

/// `out_of_bounds` and `misaligned`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memcheck {
    findings: FindingSet,
    /// By instruction, the variable of shared memory that it is to keep to; empty if none is known.
    objects: Vec<Option<Object>>,
}

impl Memcheck {
    /// Keeps accesses to shared memory to their variables, too.
    pub(super) fn new(context: &Context) -> Memcheck {
        let objects = context.instructions.iter().map(|facts| facts.object);
        let any = objects.clone().any(|object| object.is_some());
        let objects = if any { objects.collect() } else { Vec::new() };
        Memcheck { findings: FindingSet::default(), objects }
    }

    /// Reports the lanes of an access to shared memory that leave the variable which their address is of. They have
    /// touched what lies beside it.
    #[inline]
    fn keep_to(&mut self, object: Object, at: Site, access: &Access<'_>) {
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
}

impl Check for Memcheck {
    fn merge(&mut self, later: Memcheck) {
        self.findings.merge(later.findings);
    }

    fn report(self, launched: &Launched<'_>, tally: &mut Tally) {
        self.findings.resolve(launched, &mut tally.faults);
    }
}

impl Observer for Memcheck {
    /// Where accesses are not reported, they are not kept to their variables.
    fn detail() -> Detail {
        Detail::Faults
    }

    #[inline]
    fn access(&mut self, at: Site, access: &Access<'_>) {
        if let Some(&Some(object)) = self.objects.get(at.pc as usize)
            && access.space == Space::Shared
        {
            self.keep_to(object, at, access);
        }
    }

    #[inline]
    fn loads(&mut self, at: Site, access: &Access<'_>, loads: &LoadGroup) {
        if !self.objects.is_empty() {
            loads.accesses(at, access).for_each(|(at, access)| self.access(at, &access));
        }
    }

    fn bad_access(&mut self, at: Site, bad: &BadAccess) {
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
