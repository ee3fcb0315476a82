//! Accesses as the shadow of memory remembers them, and conflicts between them.

use super::super::finding::{Facts, Finding, FindingSet, Witness};
use super::order::Order;
use crate::fault::{FaultKind, Severity, Space, Touch};
use crate::observer::Site;

/// Kinds of access that conflict with different others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// An ordinary read: conflicts with every write.
    Read,
    /// An ordinary write: conflicts with everything.
    Write,
    /// A volatile or qualified load: conflicts with ordinary writes.
    SyncRead,
    /// An atomic, or a volatile or qualified store: conflicts with ordinary reads and writes.
    SyncWrite,
}

/// Kinds of which all unordered accesses have to be remembered.
pub(super) const READS: [Class; 2] = [Class::Read, Class::SyncRead];

/// The place of ordinary reads among [`READS`].
pub(super) const READ: usize = 0;

/// Kinds of which the last access is enough. Of ordinary writes, because two unordered ones are a race already; of
/// synchronising ones, because all threads agree on their order: whoever comes after the last comes after them all.
pub(super) const WRITES: [Class; 2] = [Class::Write, Class::SyncWrite];

impl Class {
    /// Whether two unordered accesses of these kinds are a race.
    ///
    /// Volatile accesses of one warp (`volatile_pair`) are: warp-synchronous code of the time before independent
    /// thread scheduling relied on them. Between warps they are flags.
    #[inline]
    pub(super) fn conflicts(self, other: Class, volatile_pair: bool) -> bool {
        use Class::{Read, SyncRead, SyncWrite, Write};
        match (self, other) {
            (Write, _) | (_, Write) | (Read, SyncWrite) | (SyncWrite, Read) => true,
            (Read | SyncRead, Read | SyncRead) => false,
            (SyncRead | SyncWrite, SyncWrite) | (SyncWrite, SyncRead) => volatile_pair,
        }
    }

    /// How the access is described.
    fn touch(self, is_atomic: bool) -> Touch {
        match self {
            Class::Read | Class::SyncRead => Touch::Read,
            Class::SyncWrite if is_atomic => Touch::Atomic,
            Class::Write | Class::SyncWrite => Touch::Write,
        }
    }
}

/// An instruction, and what kind of synchronising access it made, in 32 bits; [`Code::thread`] leaves room for a
/// thread as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Code(u32);

impl Code {
    const VOLATILE: u32 = 1 << 31;
    const ATOMIC: u32 = 1 << 30;
    const COPY: u32 = 1 << 29;
    const FLAGS: u32 = Code::VOLATILE | Code::ATOMIC | Code::COPY;

    #[inline]
    pub(super) fn new(pc: u32, is_volatile: bool, is_atomic: bool) -> Code {
        let flag = |set, bit| if set { bit } else { 0 };
        Code(pc & !Code::FLAGS | flag(is_volatile, Code::VOLATILE) | flag(is_atomic, Code::ATOMIC))
    }

    #[inline]
    pub(super) fn pc(self) -> u32 {
        self.0 & !Code::FLAGS
    }

    /// The same, if `is_copy`, of an asynchronous copy.
    #[inline]
    pub(super) fn of_copy(self, is_copy: bool) -> Code {
        Code(self.0 | if is_copy { Code::COPY } else { 0 })
    }

    #[inline]
    pub(super) fn is_copy(self) -> bool {
        self.0 & Code::COPY != 0
    }

    #[inline]
    pub(super) fn is_volatile(self) -> bool {
        self.0 & Code::VOLATILE != 0
    }

    #[inline]
    pub(super) fn is_atomic(self) -> bool {
        self.0 & Code::ATOMIC != 0
    }
}

/// The access that is being looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Current<'a> {
    pub(super) at: Site,
    pub(super) space: Space,
    pub(super) class: Class,
    pub(super) code: Code,
    pub(super) order: &'a Order,
    /// For stores whose values are known: those of all lanes.
    pub(super) values: Option<&'a [u64; 32]>,
}

/// Where a warp's access goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places<'a> {
    /// (Offset in bytes, lanes), ascending.
    pub(super) groups: &'a [(u64, u32)],
    /// Groups that lie side by side, as (index of the first, how many).
    pub(super) runs: &'a [(usize, usize)],
    /// Whether any group may have several lanes.
    pub(super) coinciding: bool,
}

/// An earlier access that the current one is not ordered after.
#[derive(Clone, Copy, Debug)]
pub(super) struct Earlier {
    pub(super) class: Class,
    pub(super) code: Code,
    pub(super) thread: u32,
    pub(super) block: u64,
}

impl Current<'_> {
    /// Records a race between lanes of the current access, the first of which is `lane`, and an earlier one.
    #[cold]
    pub(super) fn race(
        &self,
        findings: &mut FindingSet,
        lane: u32,
        earlier: Earlier,
        address: u64,
        same_value: bool,
    ) {
        let severity = if same_value { Severity::Warning } else { Severity::Error };
        let (pc, other_pc) = (self.at.pc, earlier.code.pc());
        let finding = Finding {
            kind: FaultKind::Race,
            severity,
            party: Witness { pc, thread: 32 * self.at.warp + lane, block: self.at.block },
            other: Some(Witness { pc: other_pc, thread: earlier.thread, block: earlier.block }),
            facts: Facts::Race {
                touch: self.class.touch(self.code.is_atomic()),
                other: earlier.class.touch(earlier.code.is_atomic()),
                space: self.space,
                address,
                same_value,
                after_copy: earlier.code.is_copy() && self.class == Class::Read,
            },
        };
        findings.report(finding, 1);
    }

    /// Records where several lanes store to one place at once; offsets are from `base`.
    #[inline]
    pub(super) fn check_within(&self, findings: &mut FindingSet, base: u64, places: Places<'_>) {
        if self.class == Class::Write && places.coinciding {
            for &(offset, lanes) in places.groups.iter().filter(|group| !group.1.is_power_of_two()) {
                self.race_within(findings, lanes, base + offset);
            }
        }
    }

    #[cold]
    fn race_within(&self, findings: &mut FindingSet, lanes: u32, address: u64) {
        let (first, last) = (lanes.trailing_zeros(), 31 - lanes.leading_zeros());
        let same_value = self.values.is_some_and(|values| {
            crate::pattern::lanes(lanes).all(|lane| values[lane as usize] == values[first as usize])
        });
        let earlier = Earlier {
            class: self.class,
            code: self.code,
            thread: 32 * self.at.warp + first,
            block: self.at.block,
        };
        self.race(findings, last, earlier, address, same_value);
    }

    /// [`cell_value`] of what a lane stores.
    #[inline]
    pub(super) fn cell_value(&self, lane: u32, index: usize, shift: u32) -> Option<u32> {
        cell_value(self.values, lane, index, shift)
    }
}

/// The part of a lane's stored value that goes to its cell number `index` of `1 << shift` bytes.
#[inline]
pub(super) fn cell_value(values: Option<&[u64; 32]>, lane: u32, index: usize, shift: u32) -> Option<u32> {
    let bits = 8 << shift;
    values.map(|values| {
        let value = values[lane as usize].checked_shr(bits * index as u32).unwrap_or(0) as u32;
        if bits < 32 { value & ((1 << bits) - 1) } else { value }
    })
}
