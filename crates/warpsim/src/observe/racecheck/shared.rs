//! The shadow of shared memory: who touched each cell in this phase.
//!
//! Exact: for each warp and cell, which lanes. That costs memory only for warps and cells that are touched, and
//! makes a read by a warp one store to its own row, without looking at what the other warps have read.

use std::collections::HashMap;

use super::super::finding::FindingSet;
use super::conflict::{Class, Code, Current, Earlier, SHARED_CLASSES};
use super::order::{Order, Stamp};

/// The most accesses remembered besides the rows in one phase; what exceeds it may be missed.
const MOST_SPILLED: usize = 1 << 16;

/// Accesses by one warp to one cell, at one clock of the warp.
#[derive(Clone, Copy, Debug, Default)]
struct Touched {
    clock: u32,
    lanes: u32,
    /// Those of them that did so by the latest instruction, `code`.
    latest: u32,
    code: Code,
}

/// Which warps have touched a cell in a phase.
#[derive(Clone, Copy, Debug, Default)]
struct Toucher {
    phase: u32,
    warps: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Written {
    clock: u32,
    thread: u32,
    code: Code,
    value: Option<u32>,
}

/// Accesses of one class.
#[derive(Clone, Debug, Default)]
struct Table {
    /// The last phase in which there was one.
    phase: u32,
    /// By cell.
    touchers: Vec<Toucher>,
    /// By warp, then by cell.
    rows: Vec<Vec<Touched>>,
}

/// The shadow of a block's shared memory.
#[derive(Clone, Debug)]
pub(super) struct SharedShadow {
    /// A cell has `1 << shift` bytes: a word, until narrower accesses are seen.
    shift: u32,
    cells: usize,
    /// By cell: the phase of the last write.
    write_phases: Vec<u32>,
    writes: Vec<Written>,
    /// In the order of [`SHARED_CLASSES`].
    tables: [Table; 3],
    /// (class, warp, cell): accesses at older clocks that are not ordered before those in the row.
    spilled: HashMap<(usize, u32, usize), Vec<Touched>>,
    spilled_phase: u32,
}

impl SharedShadow {
    pub(super) fn new(warps: usize) -> SharedShadow {
        let table = Table { rows: vec![Vec::new(); warps], ..Table::default() };
        SharedShadow {
            shift: 2,
            cells: 0,
            write_phases: Vec::new(),
            writes: Vec::new(),
            tables: [table.clone(), table.clone(), table],
            spilled: HashMap::new(),
            spilled_phase: 0,
        }
    }

    /// Checks and remembers an access of `bytes` bytes by each of `groups` (offset from `base`, lanes) that ends
    /// `span` bytes after `base`.
    #[inline]
    pub(super) fn access(
        &mut self,
        current: &Current<'_>,
        base: u64,
        span: u64,
        bytes: u32,
        groups: &[(u64, u32)],
        findings: &mut FindingSet,
    ) {
        if bytes < 1 << self.shift {
            self.refine(bytes.trailing_zeros());
        }
        let end = (base + span).div_ceil(1 << self.shift) as usize;
        if end > self.cells {
            self.grow(end);
        }
        let per_lane = bytes as usize >> self.shift;
        let order = current.order;
        let phase = order.phase();
        if self.spilled_phase != phase {
            self.spilled.clear();
            self.spilled_phase = phase;
        }

        let suspicious = match current.class {
            Class::Write => true,
            // Checking nothing but phases decides nearly every read.
            _ => groups.iter().any(|&(offset, _)| {
                let cell = ((base + offset) >> self.shift) as usize;
                self.write_phases[cell..cell + per_lane].contains(&phase)
            }),
        };
        if suspicious
            || self.tables[1..].iter().any(|table| table.phase == phase)
            || current.class == Class::SyncWrite
        {
            self.check(current, base, per_lane, groups, findings);
        }
        match SHARED_CLASSES.iter().position(|class| *class == current.class) {
            Some(index) => self.mark_touched(index, current, base, per_lane, groups),
            None => self.mark_written(current, base, per_lane, groups),
        }
    }

    fn mark_touched(
        &mut self,
        index: usize,
        current: &Current<'_>,
        base: u64,
        per_lane: usize,
        groups: &[(u64, u32)],
    ) {
        let (phase, warp) = (current.order.phase(), current.order.warp(current.at.warp));
        let (shift, code) = (self.shift, current.code);
        let table = &mut self.tables[index];
        table.phase = phase;
        let touchers = &mut table.touchers[..];
        let row = &mut table.rows[current.at.warp as usize];
        if row.len() < self.cells {
            row.resize(self.cells, Touched::default());
        }
        for &(offset, lanes) in groups {
            let cell = ((base + offset) >> shift) as usize;
            let rows = &mut row[cell..cell + per_lane];
            for (touched, toucher) in rows.iter_mut().zip(&mut touchers[cell..cell + per_lane]) {
                let others = if toucher.phase == phase { toucher.warps } else { 0 };
                *toucher = Toucher { phase, warps: others | 1 << current.at.warp };
                if touched.clock > warp.synced {
                    if touched.clock == warp.clock {
                        let latest = if touched.code == code { touched.latest } else { 0 };
                        let lanes_so_far = touched.lanes | lanes;
                        *touched =
                            Touched { clock: warp.clock, lanes: lanes_so_far, latest: latest | lanes, code };
                        continue;
                    }
                    let old = touched.lanes & !lanes;
                    if old != 0 && self.spilled.len() < MOST_SPILLED {
                        let at = (index, current.at.warp, cell);
                        spill(&mut self.spilled, at, Touched { lanes: old, ..*touched }, lanes);
                    }
                }
                *touched = Touched { clock: warp.clock, lanes, latest: lanes, code };
            }
        }
    }

    fn mark_written(&mut self, current: &Current<'_>, base: u64, per_lane: usize, groups: &[(u64, u32)]) {
        let phase = current.order.phase();
        let clock = current.order.warp(current.at.warp).clock;
        for &(offset, lanes) in groups {
            let cell = ((base + offset) >> self.shift) as usize;
            let lane = 31 - lanes.leading_zeros();
            for index in 0..per_lane {
                self.write_phases[cell + index] = phase;
                self.writes[cell + index] = Written {
                    clock,
                    thread: 32 * current.at.warp + lane,
                    code: current.code,
                    value: current.cell_value(lane, index, self.shift),
                };
            }
        }
    }

    /// Compares with all earlier accesses of this phase.
    fn check(
        &mut self,
        current: &Current<'_>,
        base: u64,
        per_lane: usize,
        groups: &[(u64, u32)],
        findings: &mut FindingSet,
    ) {
        for &(offset, lanes) in groups {
            let address = base + offset;
            if current.class == Class::Write && lanes & (lanes - 1) != 0 {
                current.race_within(findings, lanes, address);
            }
            let first = (address >> self.shift) as usize;
            for index in 0..per_lane {
                let at = address + ((index as u64) << self.shift);
                self.check_write(current, first + index, index, lanes, at, findings);
                for (table, class) in SHARED_CLASSES.into_iter().enumerate() {
                    self.check_table(current, table, class, first + index, lanes, at, findings);
                }
            }
        }
    }

    #[inline]
    fn check_write(
        &self,
        current: &Current<'_>,
        cell: usize,
        index: usize,
        lanes: u32,
        address: u64,
        findings: &mut FindingSet,
    ) {
        let phase = current.order.phase();
        if self.write_phases[cell] != phase {
            return;
        }
        let written = &self.writes[cell];
        let stamp = Stamp { phase, clock: written.clock, thread: written.thread };
        let unordered = current.order.unordered_after(stamp, current.at.warp, lanes);
        if unordered != 0 {
            let lane = unordered.trailing_zeros();
            let value = current.cell_value(lane, index, self.shift);
            let same_value = current.class == Class::Write && value.is_some() && value == written.value;
            let earlier = Earlier {
                class: Class::Write,
                code: written.code,
                thread: written.thread,
                block: current.at.block,
            };
            current.race(findings, lane, earlier, address, same_value);
        }
    }

    #[inline]
    #[allow(clippy::too_many_arguments)]
    fn check_table(
        &self,
        current: &Current<'_>,
        index: usize,
        class: Class,
        cell: usize,
        lanes: u32,
        address: u64,
        findings: &mut FindingSet,
    ) {
        let phase = current.order.phase();
        let table = &self.tables[index];
        if table.phase != phase || table.touchers[cell].phase != phase {
            return;
        }
        if !current.class.conflicts(class, current.code.is_volatile()) {
            return;
        }
        for warp in crate::pattern::lanes(table.touchers[cell].warps) {
            let touched = &table.rows[warp as usize][cell];
            let volatile_pair =
                current.code.is_volatile() && touched.code.is_volatile() && warp == current.at.warp;
            if !current.class.conflicts(class, volatile_pair) {
                continue;
            }
            let spilled = self.spilled.get(&(index, warp, cell));
            let all = std::iter::once(touched).chain(spilled.into_iter().flatten());
            for touched in all {
                if let Some((lane, thread)) =
                    first_unordered(current.order, phase, warp, touched, current.at.warp, lanes)
                {
                    let earlier = Earlier { class, code: touched.code, thread, block: current.at.block };
                    current.race(findings, lane, earlier, address, false);
                    return;
                }
            }
        }
    }

    /// Makes room for cells up to `end`.
    #[cold]
    fn grow(&mut self, end: usize) {
        self.cells = end.next_power_of_two().max(256);
        self.write_phases.resize(self.cells, 0);
        self.writes.resize(self.cells, Written::default());
        for table in &mut self.tables {
            table.touchers.resize(self.cells, Toucher::default());
        }
    }

    /// Splits all cells, for an access that is narrower.
    #[cold]
    fn refine(&mut self, shift: u32) {
        let parts = 1 << (self.shift - shift);
        let bits = 8 << shift;
        self.cells *= parts;
        split(&mut self.write_phases, parts);
        split(&mut self.writes, parts);
        for (cell, written) in self.writes.iter_mut().enumerate() {
            let part = (cell % parts) as u32;
            written.value = written.value.map(|value| value >> (bits * part) & ((1 << bits) - 1));
        }
        for table in &mut self.tables {
            split(&mut table.touchers, parts);
            table.rows.iter_mut().for_each(|row| split(row, parts));
        }
        self.spilled = std::mem::take(&mut self.spilled)
            .into_iter()
            .flat_map(|((class, warp, cell), touched)| {
                (0..parts).map(move |part| ((class, warp, cell * parts + part), touched.clone()))
            })
            .collect();
        self.shift = shift;
    }
}

fn split<T: Clone>(cells: &mut Vec<T>, parts: usize) {
    *cells = cells.iter().flat_map(|cell| std::iter::repeat_n(cell.clone(), parts)).collect();
}

/// Keeps an access that its row has no room for; those of `lanes` are superseded by their own newer ones.
#[cold]
fn spill(
    spilled: &mut HashMap<(usize, u32, usize), Vec<Touched>>,
    at: (usize, u32, usize),
    old: Touched,
    lanes: u32,
) {
    let list = spilled.entry(at).or_default();
    for touched in list.iter_mut() {
        touched.lanes &= !(lanes | old.lanes);
        touched.latest &= touched.lanes;
    }
    list.retain(|touched| touched.lanes != 0);
    list.push(Touched { latest: old.latest & old.lanes, ..old });
}

/// Of the current access's `lanes` in warp `own`, one that `touched` by `warp` is not ordered before, and the
/// thread that did it: one of the latest, whose instruction is known, if there is a choice.
fn first_unordered(
    order: &Order,
    phase: u32,
    warp: u32,
    touched: &Touched,
    own: u32,
    lanes: u32,
) -> Option<(u32, u32)> {
    let within = |of: u32| {
        crate::pattern::lanes(lanes).find_map(|lane| {
            let unordered = order.unordered_before(phase, touched.clock, warp, of, 32 * own + lane);
            (unordered != 0).then(|| (lane, 32 * warp + unordered.trailing_zeros()))
        })
    };
    within(touched.latest).or_else(|| within(touched.lanes & !touched.latest))
}
