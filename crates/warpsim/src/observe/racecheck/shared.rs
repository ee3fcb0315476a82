//! The shadow of shared memory: who touched each cell in this phase.
//!
//! Exact: for each warp and cell, which lanes. That costs memory only for warps and cells that are touched, and
//! makes a read by a warp one store to its own row, without looking at what the other warps have read. What a
//! phase has touched so far is also kept as ranges, and where it wrote as bits, which tell most accesses at once that
//! nothing can conflict; accesses are entered only when something can ([`deferred`](super::deferred)).

use std::collections::HashMap;

use super::super::finding::FindingSet;
use super::conflict::{Class, Code, Current, Earlier, Places, READ, READS, WRITES, cell_value};
use super::deferred::{Deferred, Note};
use super::order::{Order, Stamp};
use super::witness::split;
use crate::observer::LoadGroup;
use crate::pattern::lanes;

/// The most cells with accesses remembered besides the rows in one phase; what exceeds it may be missed.
const MOST_SPILLED: usize = 1 << 16;

/// Accesses by one warp to one cell, at one clock of the warp.
#[derive(Clone, Copy, Debug, Default)]
struct Touched {
    clock: u32,
    lanes: u32,
    /// Those of them that did so by the latest instruction, `code`.
    latest: u32,
    code: Code,
    /// Some others, if there are any, which did so by `before_code`.
    before: u32,
    before_code: Code,
}

#[derive(Clone, Copy, Debug, Default)]
struct Written {
    phase: u32,
    clock: u32,
    thread: u32,
    code: Code,
    value: Option<u32>,
}

/// Cells touched in a phase lie in here.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Range {
    phase: u32,
    start: usize,
    end: usize,
}

impl Range {
    #[inline]
    fn add(&mut self, other: Range) {
        if self.phase == other.phase {
            self.start = self.start.min(other.start);
            self.end = self.end.max(other.end);
        } else {
            *self = other;
        }
    }

    #[inline]
    fn meets(&self, other: Range) -> bool {
        self.phase == other.phase && self.start < other.end && other.start < self.end
    }
}

/// The last writes of one class.
#[derive(Clone, Debug, Default)]
struct Writes {
    touched: Range,
    /// A bit for each cell that was written in the phase of `touched`.
    bits: Vec<u64>,
    cells: Vec<Written>,
}

impl Writes {
    /// Whether there are any in this phase to one of the cells.
    #[inline]
    fn have_any(&self, cells: &Cells<'_>, shift: u32) -> bool {
        self.touched.meets(cells.range)
            && cells
                .runs(shift)
                .any(|(start, count)| words_of(start, count).any(|(word, bits)| self.bits[word] & bits != 0))
    }

    /// Remembers where there are some.
    #[inline]
    fn touch(&mut self, cells: &Cells<'_>, shift: u32) {
        if self.touched.phase != cells.range.phase {
            self.bits.fill(0);
        }
        self.touched.add(cells.range);
        for (start, count) in cells.runs(shift) {
            words_of(start, count).for_each(|(word, bits)| self.bits[word] |= bits);
        }
    }
}

/// The words that hold the bits of `count` cells (one at least) from `start` on, and which bits these are.
#[inline]
fn words_of(start: usize, count: usize) -> impl Iterator<Item = (usize, u64)> {
    let end = start + count;
    (start / 64..=(end - 1) / 64).map(move |word| {
        let above = u64::MAX << start.saturating_sub(64 * word);
        let below = u64::MAX >> (64 * (word + 1)).saturating_sub(end);
        (word, above & below)
    })
}

/// Accesses of one class.
#[derive(Clone, Debug, Default)]
struct Table {
    touched: Range,
    by_warp: Vec<Row>,
}

/// Accesses of one class by one warp.
#[derive(Clone, Debug, Default)]
struct Row {
    touched: Range,
    cells: Vec<Touched>,
}

/// The shadow of a block's shared memory.
#[derive(Clone, Debug)]
pub(super) struct SharedShadow {
    /// A cell has `1 << shift` bytes: a word, until narrower accesses are seen.
    shift: u32,
    cells: usize,
    /// In the order of [`WRITES`].
    writes: [Writes; 2],
    /// In the order of [`READS`].
    tables: [Table; 2],
    /// Reads that are in the ranges of `tables` already, and not yet in its rows.
    reads: Deferred,
    /// Writes that are in the ranges and bits of `writes`, and not yet in its cells.
    written: Deferred,
    spilled: Spilled,
}

/// Accesses at older clocks that are not ordered before those in their row.
#[derive(Clone, Debug, Default)]
struct Spilled {
    phase: u32,
    /// By class, warp and cell.
    lists: HashMap<(usize, u32, usize), Vec<Touched>>,
}

/// A warp's access, in cells.
#[derive(Clone, Copy)]
struct Cells<'a> {
    range: Range,
    /// Address of the lowest byte.
    base: u64,
    per_lane: usize,
    /// With offsets from `base`.
    places: Places<'a>,
}

impl Cells<'_> {
    /// Cells that lie side by side, as (first, how many).
    #[inline]
    fn runs(&self, shift: u32) -> impl Iterator<Item = (usize, usize)> {
        self.places.runs.iter().map(move |&(first, count)| {
            let cell = (self.base + self.places.groups[first].0) >> shift;
            (cell as usize, count * self.per_lane)
        })
    }
}

impl SharedShadow {
    pub(super) fn new(warps: usize) -> SharedShadow {
        let table = Table { by_warp: vec![Row::default(); warps], ..Table::default() };
        SharedShadow {
            shift: 2,
            cells: 0,
            writes: Default::default(),
            tables: [table.clone(), table],
            reads: Deferred::default(),
            written: Deferred::default(),
            spilled: Spilled::default(),
        }
    }

    /// Checks and remembers an access of `bytes` bytes by each group of `places` (offsets from `base`), which end `span`
    /// bytes after `base` or before.
    pub(super) fn access(
        &mut self,
        current: &Current<'_>,
        base: u64,
        span: u64,
        bytes: u32,
        places: Places<'_>,
        findings: &mut FindingSet,
    ) {
        let phase = current.order.phase();
        self.begin(phase);
        if bytes < 1 << self.shift {
            self.enter_reads();
            self.enter_writes();
            self.refine(bytes.trailing_zeros());
        }
        let start = (base >> self.shift) as usize;
        let range = Range { phase, start, end: (base + span).div_ceil(1 << self.shift) as usize };
        if range.end > self.cells {
            self.grow(range.end);
        }
        let cells = Cells { range, base, per_lane: bytes as usize >> self.shift, places };
        current.check_within(findings, base, places);
        let reading = READS.iter().position(|class| *class == current.class);
        if self.writes.iter().any(|writes| writes.have_any(&cells, self.shift))
            || (reading.is_none() && self.tables.iter().any(|table| table.touched.meets(range)))
        {
            self.enter_writes();
            if reading.is_none() {
                self.enter_reads();
            }
            self.check(current, &cells, findings);
        }
        match reading {
            Some(class) => self.note_read(class, current, &cells),
            None => self.note_write(usize::from(current.class == WRITES[1]), current, &cells),
        }
    }

    /// Remembers a write that [`access`](Self::access) has been told of as one that happens now.
    pub(super) fn write_again(
        &mut self,
        current: &Current<'_>,
        base: u64,
        span: u64,
        bytes: u32,
        places: Places<'_>,
    ) {
        let phase = current.order.phase();
        self.begin(phase);
        let start = (base >> self.shift) as usize;
        let range = Range { phase, start, end: (base + span).div_ceil(1 << self.shift) as usize };
        let cells = Cells { range, base, per_lane: bytes as usize >> self.shift, places };
        self.note_write(0, current, &cells);
    }

    /// What was noted in other phases is of no interest any more.
    #[inline]
    fn begin(&mut self, phase: u32) {
        self.reads.begin(phase);
        self.written.begin(phase);
    }

    /// Remembers ordinary loads of a word by each of `groups`, `span` bytes from `base` on for the first of them. Returns
    /// false, having done nothing, if they might conflict with a write.
    pub(super) fn note_all(
        &mut self,
        order: &Order,
        warp: u32,
        (base, span): (u64, u64),
        groups: &[(u64, u32)],
        loads: &LoadGroup,
    ) -> bool {
        let phase = order.phase();
        self.begin(phase);
        let shift = self.shift;
        let cells_of = |distance: i64| {
            let base = base.wrapping_add_signed(distance);
            let start = (base >> shift) as usize;
            Range { phase, start, end: (base + span).div_ceil(1 << shift) as usize }
        };
        let range = cells_of(loads.lowest);
        let all = Range { end: cells_of(loads.highest).end, ..range };
        if all.end > self.cells {
            self.grow(all.end);
        }
        if self.writes.iter().any(|writes| writes.touched.meets(all)) {
            return false;
        }
        self.tables[READ].touched.add(all);
        let own = order.warp(warp);
        let note = Note {
            class: READ,
            warp,
            clock: own.clock,
            synced: own.synced,
            code: Code::default(),
            range: cells_of(0),
            base,
            per_lane: 4 >> shift,
            groups_end: 0,
            loads_end: 0,
        };
        if self.reads.add(note, groups, &loads.each) {
            self.enter_reads();
        }
        true
    }

    #[inline]
    fn note_read(&mut self, class: usize, current: &Current<'_>, cells: &Cells<'_>) {
        self.tables[class].touched.add(cells.range);
        if self.reads.add(note(class, current, cells), cells.places.groups, &[]) {
            self.enter_reads();
        }
    }

    #[inline]
    fn note_write(&mut self, class: usize, current: &Current<'_>, cells: &Cells<'_>) {
        self.writes[class].touch(cells, self.shift);
        self.written.values.push(current.values.copied());
        if self.written.add(note(class, current, cells), cells.places.groups, &[]) {
            self.enter_writes();
        }
    }

    /// Enters all deferred writes.
    fn enter_writes(&mut self) {
        let mut group = 0;
        for (note, values) in self.written.notes.iter().zip(&self.written.values) {
            let groups = &self.written.groups[group..note.groups_end];
            group = note.groups_end;
            let writes = &mut self.writes[note.class].cells;
            for &(offset, lanes) in groups {
                let first = ((note.base + offset) >> self.shift) as usize;
                // Of lanes that store to one place, the last one counts.
                let lane = 31 - lanes.leading_zeros();
                for (part, written) in writes[first..first + note.per_lane].iter_mut().enumerate() {
                    *written = Written {
                        phase: note.range.phase,
                        clock: note.clock,
                        thread: 32 * note.warp + lane,
                        code: note.code,
                        value: cell_value(values.as_ref(), lane, part, self.shift),
                    };
                }
            }
        }
        self.written.clear();
    }

    /// Enters all deferred reads.
    fn enter_reads(&mut self) {
        let mut deferred = std::mem::take(&mut self.reads);
        let (mut group, mut load) = (0, 0);
        for note in &deferred.notes {
            let groups = &deferred.groups[group..note.groups_end];
            let loads = &deferred.loads[load..note.loads_end];
            if loads.is_empty() {
                self.mark_touched(note, groups);
            }
            for load in loads {
                let cells = load.distance >> self.shift;
                let moved = |cell: usize| cell.wrapping_add_signed(cells as isize);
                let range =
                    Range { start: moved(note.range.start), end: moved(note.range.end), ..note.range };
                let base = note.base.wrapping_add_signed(load.distance);
                let code = Code::new(load.pc, false, false);
                self.mark_touched(&Note { range, base, code, ..*note }, groups);
            }
            (group, load) = (note.groups_end, note.loads_end);
        }
        deferred.clear();
        self.reads = deferred;
    }

    fn mark_touched(&mut self, note: &Note, groups: &[(u64, u32)]) {
        let &Note { class: index, warp, clock, synced, code, range, base, per_lane, .. } = note;
        let row = &mut self.tables[index].by_warp[warp as usize];
        row.touched.add(range);
        if row.cells.len() < self.cells {
            row.cells.resize(self.cells, Touched::default());
        }
        let row = &mut row.cells[..];
        let mut mark = |cell: usize, touched: &mut Touched, lanes: u32| {
            let mut now = Touched { clock, lanes, latest: lanes, code, ..Touched::default() };
            if touched.clock > synced {
                if touched.clock == clock {
                    now.follow(touched);
                } else {
                    let at = (index, warp, cell);
                    self.spilled.add(range.phase, at, *touched, lanes);
                }
            }
            *touched = now;
        };
        let Range { start, end, .. } = range;
        if end - start == groups.len() && per_lane == 1 {
            // Consecutive words.
            for (part, (touched, &(_, lanes))) in row[start..end].iter_mut().zip(groups).enumerate() {
                mark(start + part, touched, lanes);
            }
        } else {
            for &(offset, lanes) in groups {
                let first = ((base + offset) >> self.shift) as usize;
                for (part, touched) in row[first..first + per_lane].iter_mut().enumerate() {
                    mark(first + part, touched, lanes);
                }
            }
        }
    }

    /// Compares with all earlier accesses of this phase.
    #[inline(never)]
    fn check(&self, current: &Current<'_>, cells: &Cells<'_>, findings: &mut FindingSet) {
        // Of each class, the warps that may have touched one of the cells.
        let warps = std::array::from_fn(|index| {
            let rows = self.tables[index].by_warp.iter().enumerate();
            rows.filter(|(_, row)| row.touched.meets(cells.range))
                .fold(0, |warps, (warp, _)| warps | 1 << warp)
        });
        for &(offset, lanes) in cells.places.groups {
            for part in 0..cells.per_lane {
                let address = cells.base + offset + ((part as u64) << self.shift);
                for (writes, class) in self.writes.iter().zip(WRITES) {
                    let written = &writes.cells[(address >> self.shift) as usize];
                    self.check_write(current, (class, written), part, lanes, address, findings);
                }
                self.check_touched(current, &warps, lanes, address, findings);
            }
        }
    }

    #[inline]
    fn check_write(
        &self,
        current: &Current<'_>,
        (class, written): (Class, &Written),
        part: usize,
        lanes: u32,
        address: u64,
        findings: &mut FindingSet,
    ) {
        let phase = current.order.phase();
        let same_warp = written.thread / 32 == current.at.warp;
        let is_volatile_pair = same_warp && current.code.is_volatile() && written.code.is_volatile();
        if written.phase != phase || !current.class.conflicts(class, is_volatile_pair) {
            return;
        }
        let stamp = Stamp { phase, clock: written.clock, thread: written.thread };
        let unordered = current.order.unordered_after(stamp, current.at.warp, lanes);
        if unordered != 0 {
            let lane = unordered.trailing_zeros();
            let value = current.cell_value(lane, part, self.shift);
            let both_plain = current.class == Class::Write && class == Class::Write;
            let same_value = both_plain && value.is_some() && value == written.value;
            let earlier =
                Earlier { class, code: written.code, thread: written.thread, block: current.at.block };
            current.race(findings, lane, earlier, address, same_value);
        }
    }

    /// Compares with what `warps`, by class, have done; of each class one access is reported.
    #[inline]
    fn check_touched(
        &self,
        current: &Current<'_>,
        warps: &[u32; 2],
        mask: u32,
        address: u64,
        findings: &mut FindingSet,
    ) {
        let own = current.at.warp;
        let cell = (address >> self.shift) as usize;
        for (index, class) in READS.into_iter().enumerate() {
            if warps[index] == 0 || !current.class.conflicts(class, current.code.is_volatile()) {
                continue;
            }
            let found = lanes(warps[index]).find_map(|warp| {
                let row = self.tables[index].by_warp[warp as usize].cells.get(cell)?;
                if row.clock < current.order.warp(warp).phase_clock {
                    return None;
                }
                let older = self.spilled.list(current.order.phase(), (index, warp, cell));
                std::iter::once(row).chain(older).find_map(|touched| {
                    let is_volatile_pair =
                        warp == own && current.code.is_volatile() && touched.code.is_volatile();
                    let conflicts = current.class.conflicts(class, is_volatile_pair);
                    conflicts.then(|| touched.unordered_before(current, warp, mask)).flatten()
                })
            });
            if let Some((lane, thread, code)) = found {
                let earlier = Earlier { class, code, thread, block: current.at.block };
                current.race(findings, lane, earlier, address, false);
            }
        }
    }

    /// Makes room for cells up to `end`.
    #[cold]
    fn grow(&mut self, end: usize) {
        self.cells = end.next_power_of_two().max(256);
        for writes in &mut self.writes {
            writes.cells.resize(self.cells, Written::default());
            writes.bits.resize(self.cells.div_ceil(64), 0);
        }
    }

    /// Splits all cells, for an access that is narrower.
    #[cold]
    fn refine(&mut self, shift: u32) {
        let parts = 1 << (self.shift - shift);
        let bits = 8 << shift;
        let split_range = |range: &mut Range| {
            (range.start, range.end) = (range.start * parts, range.end * parts);
        };
        self.cells *= parts;
        for writes in &mut self.writes {
            split_range(&mut writes.touched);
            split(&mut writes.cells, parts);
            for (cell, written) in writes.cells.iter_mut().enumerate() {
                let part = (cell % parts) as u32;
                written.value = written.value.map(|value| value >> (bits * part) & ((1 << bits) - 1));
            }
            writes.bits.clear();
            writes.bits.resize(self.cells.div_ceil(64), 0);
            let of_phase = |written: &Written| written.phase != 0 && written.phase == writes.touched.phase;
            for (cell, _) in writes.cells.iter().enumerate().filter(|(_, written)| of_phase(written)) {
                writes.bits[cell / 64] |= 1 << (cell % 64);
            }
        }
        for table in &mut self.tables {
            split_range(&mut table.touched);
            for row in &mut table.by_warp {
                split_range(&mut row.touched);
                split(&mut row.cells, parts);
            }
        }
        self.spilled.split(parts);
        self.shift = shift;
    }
}

/// The note of an access.
#[inline]
fn note(class: usize, current: &Current<'_>, cells: &Cells<'_>) -> Note {
    let warp = current.order.warp(current.at.warp);
    Note {
        class,
        warp: current.at.warp,
        clock: warp.clock,
        synced: warp.synced,
        code: current.code,
        range: cells.range,
        base: cells.base,
        per_lane: cells.per_lane,
        groups_end: 0,
        loads_end: 0,
    }
}

impl Touched {
    /// Remembers an earlier access at the same clock as well.
    #[inline]
    fn follow(&mut self, earlier: &Touched) {
        self.lanes |= earlier.lanes;
        if self.code == earlier.code {
            self.latest |= earlier.latest;
            (self.before, self.before_code) = (earlier.before & !self.latest, earlier.before_code);
        } else if earlier.latest & !self.latest != 0 {
            (self.before, self.before_code) = (earlier.latest & !self.latest, earlier.code);
        } else {
            (self.before, self.before_code) = (earlier.before & !self.latest, earlier.before_code);
        }
    }

    /// Of the current access's lanes in `mask`, one that this access by `warp` is not ordered before, and the thread
    /// that did it with its instruction.
    #[inline]
    fn unordered_before(&self, current: &Current<'_>, warp: u32, mask: u32) -> Option<(u32, u32, Code)> {
        let (order, own) = (current.order, current.at.warp);
        if warp == own
            && (self.lanes == mask && mask & (mask - 1) == 0 || self.clock <= order.warp(own).synced)
        {
            return None;
        }
        let among = |of: u32, code: Code| {
            lanes(mask).find_map(|lane| {
                let thread = 32 * own + lane;
                let unordered = order.unordered_before(order.phase(), self.clock, warp, of, thread);
                (unordered != 0).then(|| (lane, 32 * warp + unordered.trailing_zeros(), code))
            })
        };
        // Of the rest the instruction is no longer known; the latest is as good a guess as any.
        among(self.latest, self.code)
            .or_else(|| among(self.before, self.before_code))
            .or_else(|| among(self.lanes & !(self.latest | self.before), self.code))
    }
}

impl Spilled {
    /// Those of this phase.
    #[inline]
    fn list(&self, phase: u32, at: (usize, u32, usize)) -> &[Touched] {
        if self.phase != phase || self.lists.is_empty() {
            return &[];
        }
        self.lists.get(&at).map_or(&[], Vec::as_slice)
    }

    /// Keeps an access that its row has no room for; those of `superseded` lanes are known by their newer ones.
    #[cold]
    fn add(&mut self, phase: u32, at: (usize, u32, usize), old: Touched, superseded: u32) {
        if self.phase != phase {
            self.lists.clear();
            self.phase = phase;
        }
        if self.lists.len() >= MOST_SPILLED {
            return;
        }
        let list = self.lists.entry(at).or_default();
        list.push(old);
        for (index, touched) in list.iter_mut().rev().enumerate() {
            touched.lanes &= !(superseded | if index > 0 { old.lanes } else { 0 });
            touched.latest &= touched.lanes;
            touched.before &= touched.lanes;
        }
        list.retain(|touched| touched.lanes != 0);
    }

    /// Splits each cell.
    fn split(&mut self, parts: usize) {
        self.lists = std::mem::take(&mut self.lists)
            .into_iter()
            .flat_map(|((class, warp, cell), list)| {
                (0..parts).map(move |part| ((class, warp, cell * parts + part), list.clone()))
            })
            .collect();
    }
}
