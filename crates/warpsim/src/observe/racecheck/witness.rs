//! Which threads are remembered to have touched a cell of global memory, for one class of accesses.

use std::ops::Range;

use super::super::finding::FindingSet;
use super::conflict::{Class, Code, Current, Earlier};
use super::order::Stamp;
use crate::pattern::lanes;

/// Accesses of one class to the cells of a page.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// By cell; empty until there is one.
    touched: Vec<Touched>,
    /// By cell, where [`Touched::has_more`]; empty until there is one.
    more: Vec<More>,
    /// By cell, where [`Touched::has_elsewhere`]; empty until there is one.
    elsewhere: Vec<Elsewhere>,
}

/// The latest accesses by one warp, at one clock of it.
#[derive(Clone, Copy, Debug, Default)]
struct Touched {
    /// 0: never.
    phase: u32,
    clock: u32,
    lanes: u32,
    /// The latest instruction of them.
    code: Code,
    warp: u8,
    has_more: bool,
    has_elsewhere: bool,
}

/// What else is known of the same phase.
#[derive(Clone, Copy, Debug, Default)]
struct More {
    /// Lanes of the warp that did so by its latest instruction.
    latest: u32,
    /// A thread of another warp; or if there is none, one of the same warp by an instruction before the latest.
    thread: u32,
    clock: u32,
    code: Code,
}

/// An access by a thread of an earlier block.
#[derive(Clone, Copy, Debug, Default)]
struct Elsewhere {
    phase: u32,
    clock: u32,
    thread: u32,
    code: Code,
}

impl Table {
    pub(super) fn is_empty(&self) -> bool {
        self.touched.is_empty()
    }

    /// Makes room for this many cells.
    #[inline]
    pub(super) fn reserve(&mut self, cells: usize) {
        if self.touched.is_empty() {
            self.touched.resize(cells, Touched::default());
        }
    }

    /// Splits each cell.
    pub(super) fn split(&mut self, parts: usize) {
        split(&mut self.touched, parts);
        split(&mut self.more, parts);
        split(&mut self.elsewhere, parts);
    }

    /// Remembers accesses by each of `run` (lanes), `per_lane` cells each, to `cells`.
    #[inline]
    pub(super) fn mark(
        &mut self,
        current: &Current<'_>,
        cells: Range<usize>,
        run: &[(u64, u32)],
        per_lane: usize,
    ) {
        let order = current.order;
        let block_phase = order.block_phase();
        let now = Touched {
            phase: order.phase(),
            clock: order.warp(current.at.warp).clock,
            warp: current.at.warp as u8,
            code: current.code,
            ..Touched::default()
        };
        let first = cells.start;
        let mut mark = |cell: usize, lanes: u32| {
            let touched = &mut self.touched[cell];
            let is_of_earlier_block = touched.phase != 0 && touched.phase < block_phase;
            if touched.phase == now.phase || is_of_earlier_block && !touched.has_elsewhere {
                return self.mark_beside(cell, Touched { lanes, ..now });
            }
            // Field by field, for this is what happens most.
            (touched.phase, touched.clock, touched.lanes) = (now.phase, now.clock, lanes);
            (touched.code, touched.warp, touched.has_more) = (now.code, now.warp, false);
        };
        if per_lane == 1 {
            cells.zip(run).for_each(|(cell, &(_, lanes))| mark(cell, lanes));
        } else {
            cells.for_each(|cell| mark(cell, run[(cell - first) / per_lane].1));
        }
    }

    /// The cell was touched in this phase before, or by another block, of which nothing is known yet.
    #[inline(never)]
    fn mark_beside(&mut self, cell: usize, now: Touched) {
        let touched = &mut self.touched[cell];
        let now = Touched { has_elsewhere: touched.has_elsewhere, ..now };
        if touched.phase != now.phase {
            self.mark_in_block(cell, now);
        } else if touched.warp == now.warp
            && touched.clock == now.clock
            && touched.code == now.code
            && !touched.has_more
        {
            touched.lanes |= now.lanes;
        } else {
            self.mark_again(cell, now);
        }
    }

    /// The cell was touched in this phase before.
    fn mark_again(&mut self, cell: usize, mut now: Touched) {
        if self.more.is_empty() {
            self.more = vec![More::default(); self.touched.len()];
        }
        let (touched, more) = (&mut self.touched[cell], &mut self.more[cell]);
        let latest = if touched.has_more { more.latest } else { touched.lanes };
        let own = u32::from(now.warp);
        let has_stranger = touched.has_more && more.thread / 32 != own;
        let mut new = More { latest: now.lanes, ..*more };
        now.has_more = touched.has_more;
        if touched.warp != now.warp {
            let thread = 32 * u32::from(touched.warp) + latest.trailing_zeros();
            new = More { thread, clock: touched.clock, code: touched.code, ..new };
            now.has_more = true;
        } else if touched.clock == now.clock {
            let before = latest & !now.lanes;
            now.lanes |= touched.lanes;
            if touched.code == now.code {
                new.latest |= latest;
            } else if before != 0 && !has_stranger {
                let thread = 32 * own + before.trailing_zeros();
                new = More { thread, clock: touched.clock, code: touched.code, ..new };
                now.has_more = true;
            }
        }
        (*touched, *more) = (now, new);
    }

    /// The cell was touched by another block; one witness of those is enough.
    fn mark_in_block(&mut self, cell: usize, now: Touched) {
        if self.elsewhere.is_empty() {
            self.elsewhere = vec![Elsewhere::default(); self.touched.len()];
        }
        let Touched { phase, clock, lanes, code, warp, has_more, .. } = self.touched[cell];
        let latest = if has_more { self.more[cell].latest } else { lanes };
        let thread = 32 * u32::from(warp) + latest.trailing_zeros();
        self.elsewhere[cell] = Elsewhere { phase, clock, thread, code };
        self.touched[cell] = Touched { has_elsewhere: true, ..now };
    }

    /// Compares the current access, by lanes in `mask`, with the witnesses of a cell; reports one of them.
    pub(super) fn check(
        &self,
        current: &Current<'_>,
        class: Class,
        cell: usize,
        mask: u32,
        address: u64,
        findings: &mut FindingSet,
    ) {
        let Some(touched) = self.touched.get(cell).filter(|touched| touched.phase != 0) else { return };
        let elsewhere = touched.has_elsewhere.then(|| self.elsewhere[cell]);
        let more = touched.has_more.then(|| self.more[cell]);
        let found = touched.conflict(current, class, more, mask).or_else(|| {
            let Elsewhere { phase, clock, thread, code } = elsewhere?;
            witness(current, class, Stamp { phase, clock, thread }, code, mask)
        });
        if let Some((lane, stamp, code)) = found {
            let block = current.order.block_of(stamp.phase);
            let earlier = Earlier { class, code, thread: stamp.thread, block };
            current.race(findings, lane, earlier, address, false);
        }
    }
}

impl Touched {
    /// A lane in `mask` that one of these accesses is not ordered before; when, by which thread and instruction.
    fn conflict(
        &self,
        current: &Current<'_>,
        class: Class,
        more: Option<More>,
        mask: u32,
    ) -> Option<(u32, Stamp, Code)> {
        let order = current.order;
        let Touched { phase, clock, code, .. } = *self;
        if phase < order.phase() && phase >= order.block_phase() {
            return None;
        }
        let (own, warp) = (current.at.warp, u32::from(self.warp));
        let among = |of: u32| {
            if !conflicts(current, class, phase, warp, code) {
                return None;
            }
            lanes(mask).find_map(|lane| {
                let unordered = order.unordered_before(phase, clock, warp, of, 32 * own + lane);
                let thread = 32 * warp + unordered.trailing_zeros();
                (unordered != 0).then_some((lane, Stamp { phase, clock, thread }, code))
            })
        };
        let latest = more.map_or(self.lanes, |more| more.latest);
        among(latest)
            .or_else(|| {
                let More { thread, clock, code, .. } = more?;
                witness(current, class, Stamp { phase, clock, thread }, code, mask)
            })
            // Of the rest the instruction is no longer known; the latest is as good a guess as any.
            .or_else(|| among(self.lanes & !latest))
    }
}

/// A lane in `mask` that what a single thread did at `stamp` is not ordered before, if the two conflict.
pub(super) fn witness(
    current: &Current<'_>,
    class: Class,
    stamp: Stamp,
    code: Code,
    mask: u32,
) -> Option<(u32, Stamp, Code)> {
    if !conflicts(current, class, stamp.phase, stamp.thread / 32, code) {
        return None;
    }
    let unordered = current.order.unordered_after(stamp, current.at.warp, mask);
    (unordered != 0).then_some((unordered.trailing_zeros(), stamp, code))
}

/// Whether an access of `class` by a thread of `warp` conflicts with the current one if it is not ordered.
fn conflicts(current: &Current<'_>, class: Class, phase: u32, warp: u32, code: Code) -> bool {
    let same_warp = warp == current.at.warp && phase >= current.order.block_phase();
    current.class.conflicts(class, same_warp && code.is_volatile() && current.code.is_volatile())
}

/// LoadGroup each element.
pub(super) fn split<T: Clone>(cells: &mut Vec<T>, parts: usize) {
    *cells = cells.iter().flat_map(|cell| std::iter::repeat_n(cell.clone(), parts)).collect();
}
