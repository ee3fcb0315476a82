//! Which faults are told, and in which order.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::fault::{BarrierProblem, Detail, Fault, FaultKind, Party, Severity, Source};

/// De-duplicates faults by (kind, line, other line, buffer that was missed) and sorts them by what a learner should read first: errors
/// before warnings, causes before their likely consequences, and then in the order given, which is that of the
/// blocks. Of those that coincide, an error is kept rather than a warning, and a race between threads that are far
/// apart rather than one between neighbours, for its remedy is one for both.
pub(super) fn arrange(faults: Vec<Fault>) -> Vec<Fault> {
    let mut arranged: Vec<Fault> = Vec::new();
    let mut by_lines: HashMap<_, usize> = HashMap::new();
    for fault in faults {
        let line = |party: &Party| party.at.clone().ok_or(party.pc);
        // A line may access several buffers.
        let buffer = match &fault.detail {
            Detail::Access { place, .. } => place.as_ref().map(|place| place.name.clone()),
            _ => None,
        };
        match by_lines.entry((fault.kind, line(&fault.party), fault.other.as_ref().map(line), buffer)) {
            Entry::Vacant(entry) => {
                entry.insert(arranged.len());
                arranged.push(fault);
            }
            Entry::Occupied(entry) => {
                let known = &mut arranged[*entry.get()];
                let count = known.count + fault.count;
                if precedence(&fault) < precedence(known) {
                    *known = fault;
                }
                known.count = count;
            }
        }
    }
    // A copy that nobody has waited for races with everything; one word is enough.
    let lines = |fault: &Fault| {
        let mut lines =
            [Some(&fault.party), fault.other.as_ref()].map(|party| party.map(|p| p.at.clone().ok_or(p.pc)));
        lines.sort();
        lines
    };
    let copies: Vec<_> =
        arranged.iter().filter(|fault| fault.kind == FaultKind::CopyNotAwaited).map(lines).collect();
    arranged.retain(|fault| fault.kind != FaultKind::Race || !copies.contains(&lines(fault)));
    // A shuffle whose mask is wrong gets values from nobody.
    let masks: Vec<_> =
        arranged.iter().filter(|fault| is_of_mask(fault)).map(|fault| fault.party.at.clone()).collect();
    arranged.retain(|fault| {
        !matches!(&fault.detail, Detail::Uninitialized { source: Source::Lane { .. }, .. })
            || !masks.contains(&fault.party.at)
    });
    arranged.sort_by_key(|fault| (fault.severity, rank(fault.kind)));
    arranged
}

/// Of faults at the same lines, the least is told.
fn precedence(fault: &Fault) -> (Severity, bool, bool) {
    match fault.detail {
        Detail::Race { same_warp, same_block, .. } => (fault.severity, same_block, same_warp),
        _ => (fault.severity, false, false),
    }
}

/// Position in a report. An access outside a buffer explains wrong values, wild branches and races; threads
/// that miss a barrier explain races; a race explains values that were not yet written; and each of these can
/// be why an assertion fails or a loop does not end.
fn rank(kind: FaultKind) -> u32 {
    match kind {
        FaultKind::StackOverflow => 0,
        FaultKind::OutOfBounds => 1,
        FaultKind::Misaligned => 2,
        FaultKind::AliasedShared => 3,
        FaultKind::BarrierDivergence => 4,
        FaultKind::CopyNotAwaited => 5,
        FaultKind::Race => 6,
        FaultKind::UninitializedRead => 7,
        FaultKind::Assert => 8,
        FaultKind::Trap => 9,
        FaultKind::Timeout => 10,
    }
}

fn is_of_mask(fault: &Fault) -> bool {
    use BarrierProblem::{CallerNotInMask, NamedLaneElsewhere};
    matches!(fault.detail, Detail::Barrier { problem: CallerNotInMask | NamedLaneElsewhere, .. })
}
