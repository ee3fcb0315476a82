//! The shadow of global memory: who touched each cell last.
//!
//! Buffers are large and read by everyone, so a cell remembers, of reads of each class, two witnesses in the
//! latest phase (all lanes of one warp, and a thread of another warp) and one thread of another block
//! ([`witness`](super::witness)). With block barriers alone that finds a race wherever there is one; where finer
//! ordering is mixed in, a third access that alone is unordered may be missed. What is reported is always unordered.
//!
//! Pages of 4 KiB get a shadow when they are touched, and of that only the parts for the classes they see.

use super::super::finding::FindingSet;
use super::conflict::{Class, Code, Current, Earlier, Places, READS, WRITES};
use super::order::Stamp;
use super::witness::{Table, split, witness};

const PAGE_SHIFT: u32 = 12;
/// Allocations are this far apart, each with its own page table.
const WINDOW_SHIFT: u32 = 34;
/// No page.
const NONE: u32 = u32::MAX;

/// The shadow of the device's memory.
#[derive(Clone, Debug, Default)]
pub(super) struct GlobalShadow {
    /// By allocation.
    windows: Vec<Window>,
    pages: Vec<Page>,
}

/// The pages of one allocation that were touched, and those between them.
#[derive(Clone, Debug)]
struct Window {
    key: u64,
    /// The page that `table` begins with: an allocation begins somewhere inside its window.
    first: usize,
    /// For each page from there on its index in `pages`.
    table: Vec<u32>,
}

impl Window {
    /// The entry of a page, which may be new.
    #[inline]
    fn entry(&mut self, page: usize) -> &mut u32 {
        if page < self.first {
            let missing = self.first - page;
            self.table.splice(0..0, std::iter::repeat_n(NONE, missing));
            self.first = page;
        }
        let index = page - self.first;
        if index >= self.table.len() {
            self.table.resize(index + 1, NONE);
        }
        &mut self.table[index]
    }
}

#[derive(Clone, Debug)]
struct Page {
    /// A cell has `1 << shift` bytes: a word, until narrower accesses are seen.
    shift: u32,
    /// The last writes by class, in the order of [`WRITES`], and cell; empty until there is one.
    writes: [Vec<Written>; 2],
    /// By class, in the order of [`READS`].
    tables: [Table; 2],
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

impl GlobalShadow {
    /// Checks and remembers an access of `bytes` bytes by each group of `places` (offsets from `base`).
    pub(super) fn access(
        &mut self,
        current: &Current<'_>,
        base: u64,
        bytes: u32,
        places: Places<'_>,
        findings: &mut FindingSet,
    ) {
        current.check_within(findings, base, places);
        let mut known = (u64::MAX, 0);
        for &(first, count) in places.runs {
            let mut run = &places.groups[first..first + count];
            while let Some(&(offset, _)) = run.first() {
                let start = base + offset;
                let number = start >> PAGE_SHIFT;
                let left = ((number + 1) << PAGE_SHIFT) - start;
                let (in_page, rest) = run.split_at(run.len().min(left.div_ceil(u64::from(bytes)) as usize));
                if number != known.0 {
                    known = (number, self.page(number));
                }
                self.pages[known.1].access(current, start, bytes, in_page, findings);
                run = rest;
            }
        }
    }

    /// The index of a page, by its number in the address space.
    #[inline]
    fn page(&mut self, number: u64) -> usize {
        let key = number >> (WINDOW_SHIFT - PAGE_SHIFT);
        let in_window = (number & ((1 << (WINDOW_SHIFT - PAGE_SHIFT)) - 1)) as usize;
        let window = match self.windows.iter().position(|window| window.key == key) {
            Some(window) => window,
            None => {
                self.windows.push(Window { key, first: in_window, table: Vec::new() });
                self.windows.len() - 1
            }
        };
        let entry = self.windows[window].entry(in_window);
        if *entry == NONE {
            *entry = self.pages.len() as u32;
            self.pages.push(Page { shift: 2, writes: Default::default(), tables: Default::default() });
        }
        *entry as usize
    }
}

impl Page {
    #[inline]
    fn cells(&self) -> usize {
        1 << (PAGE_SHIFT - self.shift)
    }

    /// An access of `bytes` bytes by each of `run` (lanes), one behind the other from `start` on; all begin in this page.
    #[inline]
    fn access(
        &mut self,
        current: &Current<'_>,
        start: u64,
        bytes: u32,
        run: &[(u64, u32)],
        findings: &mut FindingSet,
    ) {
        if bytes < 1 << self.shift {
            self.refine(bytes.trailing_zeros());
        }
        let shift = self.shift;
        let per_lane = bytes as usize >> shift;
        let first = (start & ((1 << PAGE_SHIFT) - 1)) as usize >> shift;
        // What reaches into the next page, which only an instruction that allows less than natural alignment does, is
        // not looked at.
        let cells = first..(first + run.len() * per_lane).min(self.cells());
        // Each with its part of its lanes' access.
        let each_cell = || {
            let lanes = run.iter().flat_map(|&(_, lanes)| (0..per_lane).map(move |part| (part, lanes)));
            cells.clone().zip(lanes).map(|(cell, (part, lanes))| (cell, part, lanes))
        };

        let reading = READS.iter().position(|class| *class == current.class);
        let conflicting = self.writes.iter().any(|writes| !writes.is_empty())
            || (reading.is_none() && self.tables.iter().any(|table| !table.is_empty()));
        if conflicting {
            for (cell, part, lanes) in each_cell() {
                let address = (start >> shift << shift) + (((cell - first) as u64) << shift);
                self.check(current, cell, part, lanes, address, findings);
            }
        }

        match reading {
            Some(index) => {
                let all = self.cells();
                let table = &mut self.tables[index];
                table.reserve(all);
                table.mark(current, cells.clone(), run, per_lane);
            }
            None => {
                let all = self.cells();
                let writes = &mut self.writes[usize::from(current.class == WRITES[1])];
                writes.resize(all, Written::default());
                for (cell, part, lanes) in each_cell() {
                    let lane = 31 - lanes.leading_zeros();
                    writes[cell] = Written::now(current, lane, current.cell_value(lane, part, shift));
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
        for (writes, class) in self.writes.iter().zip(WRITES) {
            let Some(written) = writes.get(cell).filter(|written| written.phase != 0) else { continue };
            let Written { phase, clock, thread, code, .. } = *written;
            let stamp = Stamp { phase, clock, thread: u32::from(thread) };
            let Some((lane, ..)) = witness(current, class, stamp, code, lanes) else { continue };
            let value = current.cell_value(lane, index, self.shift);
            let both_plain = current.class == Class::Write && class == Class::Write;
            let same_value = both_plain && written.has_value && value == Some(written.value);
            let block = current.order.block_of(phase);
            let earlier = Earlier { class, code, thread: stamp.thread, block };
            current.race(findings, lane, earlier, address, same_value);
        }
        for (table, class) in self.tables.iter().zip(READS) {
            table.check(current, class, cell, lanes, address, findings);
        }
    }

    /// Splits all cells, for an access that is narrower.
    #[cold]
    fn refine(&mut self, shift: u32) {
        let parts = 1 << (self.shift - shift);
        let bits = 8 << shift;
        for writes in &mut self.writes {
            split(writes, parts);
            for (cell, written) in writes.iter_mut().enumerate() {
                written.value = written.value >> (bits * (cell % parts) as u32) & ((1 << bits) - 1);
            }
        }
        for table in &mut self.tables {
            table.split(parts);
        }
        self.shift = shift;
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
