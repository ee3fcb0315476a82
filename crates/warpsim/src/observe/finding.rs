//! What an observer has found so far: one entry for each kind and pair of instructions, until the names and lines
//! are filled in at the end.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::remedy::Pair;
use super::{Launched, Nearest, Resolver};
use crate::fault::{
    Absent, BarrierProblem, Detail, Fault, FaultKind, Party, Place, Severity, Sink, Source, Space, Touch,
};
use crate::memory::window;

/// Who did something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Witness {
    pub(super) pc: u32,
    /// Linear index in the block.
    pub(super) thread: u32,
    /// Linear index in the grid.
    pub(super) block: u64,
}

/// A fault before names and lines are known.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub(super) kind: FaultKind,
    pub(super) severity: Severity,
    pub(super) party: Witness,
    pub(super) other: Option<Witness>,
    pub(super) facts: Facts,
}

impl Finding {
    /// Of findings at one place the least of these is told: an error, and between threads that are far apart, for
    /// what orders those orders closer ones, too.
    fn rank(&self) -> (Severity, Distance) {
        (self.severity, self.other.as_ref().map_or(Distance::Threads, |other| self.party.distance(other)))
    }
}

/// How far apart two threads are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Distance {
    /// In different blocks.
    Blocks,
    /// In different warps of a block.
    Warps,
    /// In one warp.
    Threads,
}

impl Witness {
    pub(super) fn distance(&self, other: &Witness) -> Distance {
        if self.block != other.block {
            Distance::Blocks
        } else if self.thread / 32 != other.thread / 32 {
            Distance::Warps
        } else {
            Distance::Threads
        }
    }
}

/// What was never written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unwritten {
    Register,
    Memory(Space, u64),
    Lane(u32, Absent),
}

/// The particulars of a [`Finding`].
#[derive(Clone, Copy, Debug)]
pub(super) enum Facts {
    Access { touch: Touch, space: Space, bytes: u32, address: u64, object: Option<u32> },
    Race { touch: Touch, other: Touch, space: Space, address: u64, same_value: bool, after_copy: bool },
    Copy { touch: Touch, is_async: bool, address: u64 },
    Uninitialized { sink: Sink, source: Unwritten },
    Barrier { problem: BarrierProblem, present: u32, missing: u32 },
}

/// Findings de-duplicated by kind and instructions, in the order in which they were first seen.
#[derive(Clone, Debug, Default)]
pub(super) struct FindingSet {
    by_place: HashMap<(FaultKind, u32, Option<u32>), usize>,
    findings: Vec<(Finding, u64)>,
}

impl FindingSet {
    /// Records `count` occurrences of a finding.
    pub(super) fn report(&mut self, finding: Finding, count: u64) {
        let place = (finding.kind, finding.party.pc, finding.other.map(|other| other.pc));
        match self.by_place.entry(place) {
            Entry::Vacant(entry) => {
                entry.insert(self.findings.len());
                self.findings.push((finding, count));
            }
            Entry::Occupied(entry) => {
                let (known, total) = &mut self.findings[*entry.get()];
                *total += count;
                if finding.rank() < known.rank() {
                    *known = finding;
                }
            }
        }
    }

    /// Appends the findings of later blocks.
    pub(super) fn merge(&mut self, later: FindingSet) {
        for (finding, count) in later.findings {
            self.report(finding, count);
        }
    }

    /// Fills in names and lines.
    pub(super) fn resolve(self, launched: &Launched<'_>, faults: &mut Vec<Fault>) {
        let found = self.findings.into_iter().map(|(finding, count)| finding.resolve(count, launched));
        faults.extend(found.filter_map(same_barrier));
    }
}

/// One `__syncthreads()` may be several instructions: then nobody met at different ones.
fn same_barrier(mut fault: Fault) -> Option<Fault> {
    let is_one_line =
        fault.other.as_ref().is_some_and(|other| other.at.is_some() && other.at == fault.party.at);
    if let Detail::Barrier { problem, .. } = &mut fault.detail
        && is_one_line
    {
        match problem {
            BarrierProblem::Mixed => return None,
            BarrierProblem::OutOfStep => (*problem, fault.other) = (BarrierProblem::LeftLoop, None),
            _ => {}
        }
    }
    Some(fault)
}

impl Finding {
    fn resolve(self, count: u64, launched: &Launched<'_>) -> Fault {
        let Launched { context, resolver } = launched;
        let party = |witness: Witness| Party {
            at: resolver.line(witness.pc),
            pc: witness.pc,
            thread: context.thread_index(witness.thread),
            block: context.block_index(witness.block),
        };
        let element = context.instructions.get(self.party.pc as usize).map_or(0, |facts| facts.element_bytes);
        let (space, detail) = self.facts.resolve(&self.party, self.other.as_ref(), element, *resolver);
        Fault {
            kind: self.kind,
            severity: self.severity,
            space,
            party: party(self.party),
            other: self.other.map(party),
            count,
            detail,
        }
    }
}

impl Facts {
    fn resolve(
        self,
        party: &Witness,
        other: Option<&Witness>,
        element: u8,
        resolver: &dyn Resolver,
    ) -> (Option<Space>, Detail) {
        let place = |nearest: Option<Nearest>| {
            nearest.map(|Nearest { name, bytes, offset, is_dynamic }| Place {
                name,
                bytes,
                offset,
                element: u32::from(element.max(1)),
                inner: Vec::new(),
                is_dynamic,
            })
        };
        match self {
            Facts::Access { touch, space, bytes, address, object } => {
                let nearest = match object {
                    Some(number) => resolver.object(number, address),
                    None => resolver.nearest(space, address),
                };
                // A generic address that only happens to be where other kernels have shared memory.
                let (space, address) = match nearest {
                    None if space == Space::Shared => {
                        (Space::Global, address.wrapping_add(window::generic_base(Space::Shared)))
                    }
                    _ => (space, address),
                };
                (Some(space), Detail::Access { touch, bytes, address, place: place(nearest) })
            }
            Facts::Race { touch, other: other_touch, space, address, same_value, after_copy } => {
                let distance = other.map_or(Distance::Threads, |other| party.distance(other));
                let pair = Pair { party, other, touches: [touch, other_touch], space, distance, after_copy };
                let detail = Detail::Race {
                    touch,
                    other: other_touch,
                    place: place(resolver.nearest(space, address)),
                    same_warp: distance == Distance::Threads,
                    same_block: distance != Distance::Blocks,
                    same_value,
                    after_copy,
                    remedy: pair.remedy(resolver),
                };
                (Some(space), detail)
            }
            Facts::Copy { touch, is_async, address } => {
                let place = place(resolver.nearest(Space::Shared, address));
                (Some(Space::Shared), Detail::Copy { touch, is_async, place })
            }
            Facts::Uninitialized { sink, source } => match source {
                Unwritten::Register => (None, Detail::Uninitialized { sink, source: Source::Register }),
                Unwritten::Memory(space, address) => {
                    let source = Source::Memory { place: place(resolver.nearest(space, address)) };
                    (Some(space), Detail::Uninitialized { sink, source })
                }
                Unwritten::Lane(lane, why) => {
                    (None, Detail::Uninitialized { sink, source: Source::Lane { lane, why } })
                }
            },
            Facts::Barrier { problem, present, missing } => {
                (None, Detail::Barrier { problem, present, missing })
            }
        }
    }
}
