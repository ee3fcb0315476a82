//! The shadow of global memory: who touched each cell last.
//!
//! Buffers are large and read by everyone, so a cell remembers, of each class of access, two witnesses in the
//! latest phase (all lanes of one warp, and a thread of another warp) and one thread of another block. With block
//! barriers alone that finds a race wherever there is one; where finer ordering is mixed in, a third access that
//! alone is unordered may be missed. What is reported is always unordered.
//!
//! Pages of 4 KiB get a shadow when they are touched, and of that only the parts for the classes they see.

use super::super::finding::FindingSet;
use super::conflict::{Class, Code, Current, Earlier, SHARED_CLASSES};
use super::order::Stamp;
use crate::pattern::lanes;

const PAGE_SHIFT: u32 = 12;
/// Allocations are this far apart, each with its own page table.
const WINDOW_SHIFT: u32 = 34;
/// No page.
const NONE: u32 = u32::MAX;

/// The shadow of the device's memory.
#[derive(Clone, Debug, Default)]
pub(super) struct GlobalShadow {
    /// By allocation: its window's number, and the index in `pages` of each of its pages.
    windows: Vec<(u64, Vec<u32>)>,
    pages: Vec<Page>,
}

#[derive(Clone, Debug)]
struct Page {
    /// A cell has `1 << shift` bytes: a word, until narrower accesses are seen.
    shift: u32,
    /// By cell; empty until there is one.
    writes: Vec<Written>,
    /// By class, in the order of [`SHARED_CLASSES`]; empty until there is one.
    tables: [Table; 3],
}

#[derive(Clone, Debug, Default)]
struct Table {
    touched: Vec<Touched>,
    /// Another block than that of `touched`; empty until there is one.
    elsewhere: Vec<Elsewhere>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Written {
    /// 0: never.
    phase: u32,
    clock: u32,
    thread: u16,
    has_value: bool,
    code: Code,
    value: u32,
}

/// The latest accesses by threads of one block.
#[derive(Clone, Copy, Debug, Default)]
struct Touched {
    /// 0: never.
    phase: u32,
    clock: u32,
    lanes: u32,
    /// Those of them that did so by the latest instruction, `code`.
    latest: u32,
    warp: u8,
    has_other: bool,
    /// In the same phase, if `has_other`: a thread of another warp; or if there is none, one of the same warp by an
    /// instruction before the latest.
    other_thread: u16,
    code: Code,
    other_clock: u32,
    other_code: Code,
}

/// An access by a thread of an earlier block.
#[derive(Clone, Copy, Debug, Default)]
struct Elsewhere {
    /// 0: never.
    phase: u32,
    clock: u32,
    thread: u32,
    code: Code,
}

impl GlobalShadow {
    /// Checks and remembers an access of `bytes` bytes by each of `groups` (offset from `base`, lanes).
    pub(super) fn access(
        &mut self,
        current: &Current<'_>,
        base: u64,
        bytes: u32,
        groups: &[(u64, u32)],
        findings: &mut FindingSet,
    ) {
        if current.class == Class::Write {
            for &(offset, lanes) in groups.iter().filter(|group| group.1 & (group.1 - 1) != 0) {
                current.race_within(findings, lanes, base + offset);
            }
        }
        let mut rest = groups;
        while let Some(&(offset, _)) = rest.first() {
            let number = (base + offset) >> PAGE_SHIFT;
            let page_end = ((number + 1) << PAGE_SHIFT).wrapping_sub(base);
            let in_page = match rest.last() {
                Some(last) if last.0 < page_end => rest.len(),
                _ => rest.partition_point(|group| group.0 < page_end),
            };
            let index = self.page(number);
            let base = base.wrapping_sub(number << PAGE_SHIFT);
            self.pages[index].access(current, number, base, bytes, &rest[..in_page], findings);
            rest = &rest[in_page..];
        }
    }

    /// The index of a page, by its number in the address space.
    #[inline]
    fn page(&mut self, number: u64) -> usize {
        let key = number >> (WINDOW_SHIFT - PAGE_SHIFT);
        let in_window = (number & ((1 << (WINDOW_SHIFT - PAGE_SHIFT)) - 1)) as usize;
        let window = match self.windows.iter().position(|window| window.0 == key) {
            Some(window) => window,
            None => {
                self.windows.push((key, Vec::new()));
                self.windows.len() - 1
            }
        };
        let table = &mut self.windows[window].1;
        if in_window >= table.len() {
            table.resize(in_window + 1, NONE);
        }
        if table[in_window] == NONE {
            table[in_window] = self.pages.len() as u32;
            self.pages.push(Page { shift: 2, writes: Vec::new(), tables: Default::default() });
        }
        table[in_window] as usize
    }
}

impl Page {
    #[inline]
    fn cells(&self) -> usize {
        1 << (PAGE_SHIFT - self.shift)
    }

    /// An access that lies in this page, `number`; `base` is relative to it.
    #[inline]
    fn access(
        &mut self,
        current: &Current<'_>,
        number: u64,
        base: u64,
        bytes: u32,
        groups: &[(u64, u32)],
        findings: &mut FindingSet,
    ) {
        if bytes < 1 << self.shift {
            self.refine(bytes.trailing_zeros());
        }
        let shift = self.shift;
        let per_lane = bytes as usize >> shift;
        let cells = self.cells();
        let cells_of = |offset: u64| {
            let first = (base.wrapping_add(offset) >> shift) as usize;
            first..(first + per_lane).min(cells)
        };

        let touched = |index: usize| !self.tables[index].touched.is_empty();
        let conflicting = !self.writes.is_empty()
            || match current.class {
                Class::Read | Class::SyncRead => touched(2),
                Class::SyncWrite => touched(0) || touched(1),
                Class::Write => touched(0) || touched(1) || touched(2),
            };
        if conflicting {
            for &(offset, lanes) in groups {
                for (part, cell) in cells_of(offset).enumerate() {
                    let address = (number << PAGE_SHIFT) + ((cell as u64) << shift);
                    self.check(current, cell, part, lanes, address, findings);
                }
            }
        }

        match SHARED_CLASSES.iter().position(|class| *class == current.class) {
            Some(index) => {
                let table = &mut self.tables[index];
                table.touched.resize(cells, Touched::default());
                let now = Touched::now(current);
                for &(offset, lanes) in groups {
                    for cell in cells_of(offset) {
                        table.mark(current, cell, Touched { lanes, latest: lanes, ..now });
                    }
                }
            }
            None => {
                self.writes.resize(cells, Written::default());
                for &(offset, lanes) in groups {
                    let lane = 31 - lanes.leading_zeros();
                    for (part, cell) in cells_of(offset).enumerate() {
                        self.writes[cell] =
                            Written::now(current, lane, current.cell_value(lane, part, shift));
                    }
                }
            }
        }
    }

    #[inline]
    fn check(
        &self,
        current: &Current<'_>,
        cell: usize,
        index: usize,
        lanes: u32,
        address: u64,
        findings: &mut FindingSet,
    ) {
        if let Some(written) = self.writes.get(cell).filter(|written| written.phase != 0) {
            let Written { phase, clock, thread, code, .. } = *written;
            let stamp = Stamp { phase, clock, thread: u32::from(thread) };
            let unordered = current.order.unordered_after(stamp, current.at.warp, lanes);
            if unordered != 0 {
                let lane = unordered.trailing_zeros();
                let value = current.cell_value(lane, index, self.shift);
                let same_value =
                    current.class == Class::Write && written.has_value && value == Some(written.value);
                let block = current.order.block_of(phase);
                let earlier = Earlier { class: Class::Write, code, thread: stamp.thread, block };
                current.race(findings, lane, earlier, address, same_value);
            }
        }
        for (table, class) in self.tables.iter().zip(SHARED_CLASSES) {
            if let Some(touched) = table.touched.get(cell).filter(|touched| touched.phase != 0) {
                let elsewhere = table.elsewhere.get(cell);
                check_touched(current, class, touched, elsewhere, lanes, address, findings);
            }
        }
    }

    /// Splits all cells, for an access that is narrower.
    #[cold]
    fn refine(&mut self, shift: u32) {
        let parts = 1 << (self.shift - shift);
        let bits = 8 << shift;
        split(&mut self.writes, parts);
        for (cell, written) in self.writes.iter_mut().enumerate() {
            written.value = written.value >> (bits * (cell % parts) as u32) & ((1 << bits) - 1);
        }
        for table in &mut self.tables {
            split(&mut table.touched, parts);
            split(&mut table.elsewhere, parts);
        }
        self.shift = shift;
    }
}

impl Table {
    /// Remembers an access to a cell, and what has to be kept of earlier ones.
    #[inline]
    fn mark(&mut self, current: &Current<'_>, cell: usize, mut now: Touched) {
        let touched = &mut self.touched[cell];
        if touched.phase == now.phase {
            if touched.warp != now.warp {
                now.has_other = true;
                (now.other_thread, now.other_code, now.other_clock) =
                    (touched.first_thread() as u16, touched.code, touched.clock);
            } else {
                now.has_other = touched.has_other;
                (now.other_thread, now.other_code, now.other_clock) =
                    (touched.other_thread, touched.other_code, touched.other_clock);
                if touched.clock == now.clock {
                    now.follow(touched);
                }
            }
        } else if touched.phase != 0 && touched.phase < current.order.block_phase() {
            if self.elsewhere.is_empty() {
                self.elsewhere = vec![Elsewhere::default(); self.touched.len()];
            }
            let touched = &self.touched[cell];
            let Touched { phase, clock, code, .. } = *touched;
            self.elsewhere[cell] = Elsewhere { phase, clock, thread: touched.first_thread(), code };
        }
        self.touched[cell] = now;
    }
}

impl Written {
    #[inline]
    fn now(current: &Current<'_>, lane: u32, value: Option<u32>) -> Written {
        Written {
            phase: current.order.phase(),
            clock: current.order.warp(current.at.warp).clock,
            thread: (32 * current.at.warp + lane) as u16,
            has_value: value.is_some(),
            code: current.code,
            value: value.unwrap_or(0),
        }
    }
}

impl Touched {
    /// An access by no lanes yet.
    #[inline]
    fn now(current: &Current<'_>) -> Touched {
        Touched {
            phase: current.order.phase(),
            clock: current.order.warp(current.at.warp).clock,
            warp: current.at.warp as u8,
            code: current.code,
            ..Touched::default()
        }
    }

    /// Remembers an earlier access at the same clock as well.
    #[inline]
    fn follow(&mut self, earlier: &Touched) {
        self.lanes |= earlier.lanes;
        let before = earlier.latest & !self.latest;
        if self.code == earlier.code {
            self.latest |= earlier.latest;
        } else if before != 0
            && !(self.has_other && u32::from(self.other_thread) / 32 != u32::from(self.warp))
        {
            self.has_other = true;
            self.other_thread = (32 * u32::from(self.warp) + before.trailing_zeros()) as u16;
            (self.other_code, self.other_clock) = (earlier.code, earlier.clock);
        }
    }

    #[inline]
    fn first_thread(&self) -> u32 {
        32 * u32::from(self.warp) + self.latest.trailing_zeros()
    }
}

fn split<T: Clone>(cells: &mut Vec<T>, parts: usize) {
    *cells = cells.iter().flat_map(|cell| std::iter::repeat_n(cell.clone(), parts)).collect();
}

/// Compares the current access with the witnesses of a class; reports one of them.
fn check_touched(
    current: &Current<'_>,
    class: Class,
    touched: &Touched,
    elsewhere: Option<&Elsewhere>,
    mask: u32,
    address: u64,
    findings: &mut FindingSet,
) {
    let order = current.order;
    let conflicts = |code: Code, same_warp: bool| {
        current.class.conflicts(class, same_warp && code.is_volatile() && current.code.is_volatile())
    };
    let mut report = |lane: u32, stamp: Stamp, code: Code| {
        let earlier = Earlier { class, code, thread: stamp.thread, block: order.block_of(stamp.phase) };
        current.race(findings, lane, earlier, address, false);
    };

    let own = current.at.warp;
    if touched.phase == order.phase() || touched.phase < order.block_phase() {
        let Touched { phase, clock, .. } = *touched;
        let warp = u32::from(touched.warp);
        let among = |of: u32| {
            lanes(mask).find_map(|lane| {
                let unordered = order.unordered_before(phase, clock, warp, of, 32 * own + lane);
                (unordered != 0).then(|| (lane, 32 * warp + unordered.trailing_zeros()))
            })
        };
        let conflict = conflicts(touched.code, warp == own && phase == order.phase());
        if let Some((lane, thread)) = conflict.then(|| among(touched.latest)).flatten() {
            return report(lane, Stamp { phase, clock, thread }, touched.code);
        }
        let thread = u32::from(touched.other_thread);
        if touched.has_other && conflicts(touched.other_code, thread / 32 == own) {
            let stamp = Stamp { phase, clock: touched.other_clock, thread };
            let unordered = order.unordered_after(stamp, own, mask);
            if unordered != 0 {
                return report(unordered.trailing_zeros(), stamp, touched.other_code);
            }
        }
        // Of the rest the instruction is no longer known; the latest is as good a guess as any.
        if let Some((lane, thread)) = conflict.then(|| among(touched.lanes & !touched.latest)).flatten() {
            return report(lane, Stamp { phase, clock, thread }, touched.code);
        }
    }
    if let Some(elsewhere) = elsewhere.filter(|elsewhere| elsewhere.phase != 0)
        && conflicts(elsewhere.code, false)
    {
        let Elsewhere { phase, clock, thread, code } = *elsewhere;
        let stamp = Stamp { phase, clock, thread };
        let unordered = order.unordered_after(stamp, own, mask);
        if unordered != 0 {
            report(unordered.trailing_zeros(), stamp, code);
        }
    }
}
