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
    /// A thread of another warp in the same phase, if `has_other`.
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
    #[inline]
    pub(super) fn access(
        &mut self,
        current: &Current<'_>,
        base: u64,
        bytes: u32,
        groups: &[(u64, u32)],
        findings: &mut FindingSet,
    ) {
        let table = SHARED_CLASSES.iter().position(|class| *class == current.class);
        let mut number = u64::MAX;
        let mut index = 0;
        for &(offset, lanes) in groups {
            let address = base + offset;
            if address >> PAGE_SHIFT != number {
                number = address >> PAGE_SHIFT;
                index = self.page(number);
                self.pages[index].prepare(bytes, table);
            }
            let page = &mut self.pages[index];
            if current.class == Class::Write && lanes & (lanes - 1) != 0 {
                current.race_within(findings, lanes, address);
            }
            let first = (address as usize & ((1 << PAGE_SHIFT) - 1)) >> page.shift;
            let end = (first + (bytes as usize >> page.shift)).min(page.cells());
            for cell in first..end {
                if !page.is_first_touch(cell, table) {
                    let at = address + (((cell - first) as u64) << page.shift);
                    page.check(current, cell, cell - first, lanes, at, findings);
                }
                match table {
                    Some(table) => page.mark_touched(current, table, cell, lanes),
                    None => page.mark_written(current, cell, cell - first, lanes),
                }
            }
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
    fn cells(&self) -> usize {
        1 << (PAGE_SHIFT - self.shift)
    }

    /// Makes room for an access.
    #[inline]
    fn prepare(&mut self, bytes: u32, table: Option<usize>) {
        if bytes < 1 << self.shift {
            self.refine(bytes.trailing_zeros());
        }
        let cells = self.cells();
        match table {
            Some(table) if self.tables[table].touched.is_empty() => {
                self.tables[table].touched = vec![Touched::default(); cells];
            }
            None if self.writes.is_empty() => self.writes = vec![Written::default(); cells],
            _ => {}
        }
    }

    /// Whether nothing but accesses of class `table` has touched the page, or the cell, so that there is nothing to
    /// compare with.
    #[inline]
    fn is_first_touch(&self, cell: usize, table: Option<usize>) -> bool {
        let no_writes = self.writes.get(cell).is_none_or(|written| written.phase == 0);
        let others =
            |index: usize| self.tables[index].touched.get(cell).is_none_or(|touched| touched.phase == 0);
        match table {
            // Reads: of any kind conflict with writes only.
            Some(0 | 1) => no_writes && others(2),
            Some(_) => no_writes && others(0) && others(1),
            None => no_writes && others(0) && others(1) && others(2),
        }
    }

    #[inline]
    fn mark_touched(&mut self, current: &Current<'_>, table: usize, cell: usize, lanes: u32) {
        let order = current.order;
        let phase = order.phase();
        let (own, warp) = (current.at.warp as u8, order.warp(current.at.warp));
        let cells = self.cells();
        let Table { touched, elsewhere } = &mut self.tables[table];
        let touched = &mut touched[cell];
        let mut now = Touched {
            phase,
            clock: warp.clock,
            lanes,
            latest: lanes,
            warp: own,
            code: current.code,
            has_other: false,
            ..Touched::default()
        };
        if touched.phase == phase {
            if touched.warp != own {
                (now.has_other, now.other_code, now.other_clock) = (true, touched.code, touched.clock);
                now.other_thread = touched.first_thread() as u16;
            } else {
                (now.has_other, now.other_thread) = (touched.has_other, touched.other_thread);
                (now.other_clock, now.other_code) = (touched.other_clock, touched.other_code);
                if touched.clock == warp.clock {
                    now.lanes |= touched.lanes;
                    now.latest |= if touched.code == now.code { touched.latest } else { 0 };
                }
            }
        } else if touched.phase != 0 && touched.phase < order.block_phase() {
            if elsewhere.is_empty() {
                elsewhere.resize(cells, Elsewhere::default());
            }
            let Touched { phase, clock, code, .. } = *touched;
            elsewhere[cell] = Elsewhere { phase, clock, thread: touched.first_thread(), code };
        }
        *touched = now;
    }

    #[inline]
    fn mark_written(&mut self, current: &Current<'_>, cell: usize, index: usize, lanes: u32) {
        let lane = 31 - lanes.leading_zeros();
        let value = current.cell_value(lane, index, self.shift);
        self.writes[cell] = Written {
            phase: current.order.phase(),
            clock: current.order.warp(current.at.warp).clock,
            thread: (32 * current.at.warp + lane) as u16,
            has_value: value.is_some(),
            code: current.code,
            value: value.unwrap_or(0),
        };
    }

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

impl Touched {
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
    lanes: u32,
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
    let same_warp = u32::from(touched.warp) == own && touched.phase == order.phase();
    if conflicts(touched.code, same_warp)
        && (touched.phase == order.phase() || touched.phase < order.block_phase())
    {
        for lane in crate::pattern::lanes(lanes) {
            let Touched { phase, clock, .. } = *touched;
            let warp = u32::from(touched.warp);
            let unordered = order.unordered_before(phase, clock, warp, touched.lanes, 32 * own + lane);
            if unordered != 0 {
                let unordered =
                    if unordered & touched.latest != 0 { unordered & touched.latest } else { unordered };
                let thread = 32 * warp + unordered.trailing_zeros();
                return report(lane, Stamp { phase, clock, thread }, touched.code);
            }
        }
    }
    if touched.has_other && conflicts(touched.other_code, u32::from(touched.other_thread) / 32 == own) {
        let stamp = Stamp {
            phase: touched.phase,
            clock: touched.other_clock,
            thread: u32::from(touched.other_thread),
        };
        let unordered = order.unordered_after(stamp, own, lanes);
        if unordered != 0 {
            return report(unordered.trailing_zeros(), stamp, touched.other_code);
        }
    }
    if let Some(elsewhere) = elsewhere.filter(|elsewhere| elsewhere.phase != 0)
        && conflicts(elsewhere.code, false)
    {
        let Elsewhere { phase, clock, thread, code } = *elsewhere;
        let stamp = Stamp { phase, clock, thread };
        let unordered = order.unordered_after(stamp, own, lanes);
        if unordered != 0 {
            report(unordered.trailing_zeros(), stamp, code);
        }
    }
}
