//! Accesses to shared memory that have been noted down but not yet entered into the shadow.
//!
//! What a phase has accessed is of no interest once it ends, and most phases do not read where they write, nor write
//! twice. So accesses are noted down as they come, and entered only when another one might conflict with them.

use super::conflict::Code;
use super::shared::Range;
use crate::observer::GroupedLoad;

/// The most notes that are kept, so that a long phase takes no more memory than a short one.
const MOST: usize = 1 << 12;

/// One warp's access, or several loads that are alike.
#[derive(Clone, Copy, Debug)]
pub(super) struct Note {
    /// Its class, as an index into [`READS`](super::conflict::READS) or [`WRITES`](super::conflict::WRITES).
    pub(super) class: usize,
    pub(super) warp: u32,
    /// The warp's clock, and up to where its lanes were ordered, at the time.
    pub(super) clock: u32,
    pub(super) synced: u32,
    pub(super) code: Code,
    pub(super) range: Range,
    /// Address of the lowest byte.
    pub(super) base: u64,
    /// Cells per lane.
    pub(super) per_lane: usize,
    /// Where its groups end in [`Deferred::groups`]; they begin where those of the note before end.
    pub(super) groups_end: usize,
    /// The same of [`Deferred::loads`]. If it has some, the note stands for all of them, and `code` means nothing.
    pub(super) loads_end: usize,
}

/// The reads of one phase, or its writes, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Deferred {
    phase: u32,
    pub(super) notes: Vec<Note>,
    /// (Offset from `base` in bytes, lanes).
    pub(super) groups: Vec<(u64, u32)>,
    pub(super) loads: Vec<GroupedLoad>,
    /// For each note what its lanes store, if it is of a store whose values are known. Reads have none.
    pub(super) values: Vec<Option<[u64; 32]>>,
}

impl Deferred {
    /// Forgets what was done in other phases than this one.
    #[inline]
    pub(super) fn begin(&mut self, phase: u32) {
        if self.phase != phase {
            self.phase = phase;
            self.clear();
        }
    }

    /// Notes accesses; where their lists end is set here. Returns whether there is no room for more.
    #[inline]
    pub(super) fn add(&mut self, note: Note, groups: &[(u64, u32)], loads: &[GroupedLoad]) -> bool {
        self.groups.extend_from_slice(groups);
        self.loads.extend_from_slice(loads);
        self.notes.push(Note { groups_end: self.groups.len(), loads_end: self.loads.len(), ..note });
        self.notes.len() >= MOST
    }

    /// Forgets all notes.
    pub(super) fn clear(&mut self) {
        self.notes.clear();
        self.groups.clear();
        self.loads.clear();
        self.values.clear();
    }
}
