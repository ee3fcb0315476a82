//! Loads, stores and atomics.

use super::scatter::{self, Source};
use super::shared::{LocalMemory, SharedMemory};
use super::step::origin;
use super::warp::Warp;
use super::{Context, Machine};
use crate::fault::{Sink, Space, Touch};
use crate::isa::AtomicFn;
use crate::memory::{View, window};
use crate::observer::{Access, BadAccess, Observer, Order, Site};
use crate::program::{Memory, Reg};
use crate::registers::{Class, Lanes, Operands};

/// Lanes of an access that go to one space, with addresses in that space.
pub(super) struct Part {
    pub(super) space: Space,
    pub(super) mask: u32,
    pub(super) addresses: Lanes<u64>,
}

impl<O: Observer> Machine<'_, '_, O> {
    pub(super) fn load(
        &mut self,
        warp: &mut Warp,
        fragment: usize,
        at: Site,
        memory: Memory,
        ops: &Operands,
        active: u32,
    ) {
        let context = self.context;
        let lists = &context.program.lists;
        let addresses = self.addresses(warp, fragment, at, &memory, ops.src[0], active);
        warp.fragments[fragment].polled |= memory.order != Order::Weak;
        for part in parts(&memory, addresses, active) {
            let mask = self.admit(warp, at, Touch::Read, &part, &memory);
            self.observe(at, Touch::Read, &part, mask, &memory, None);
            // Lanes whose access was refused get zero, and nothing is known of it.
            let refused = part.mask & !mask;
            let mut scratch = self.scratch.take().unwrap_or_default();
            let memories = Memories { view: self.view, shared: &self.shared, context, local: &warp.local };
            let source = memories.source(&part, mask, memory.width() as usize, &mut scratch);
            let count = usize::from(memory.count);
            let mut missing = [0; 8];
            for (index, missing) in missing.iter_mut().enumerate().take(count) {
                let reg = value_register(lists, &memory, ops.dst[0], ops.imm, index);
                let offset = index * usize::from(memory.bytes);
                *missing = refused;
                if let Some(source) = source.as_ref().filter(|_| context.track_poison) {
                    *missing |= source.invalid(offset, memory.bytes) & mask;
                }
                match (memory.class, &source) {
                    (Class::Wide, Some(source)) => {
                        let mut value = source.gather(offset, memory.bytes);
                        if memory.sign_extend.is_some() {
                            let unused = 64 - 8 * u32::from(memory.bytes);
                            value = value.map(|v| ((v << unused) as i64 >> unused) as u64);
                        }
                        warp.registers.set_wide(reg.index, &value, mask);
                    }
                    (Class::Wide, None) => {}
                    (_, Some(source)) => {
                        let mut value = source.gather_words(offset, memory.bytes);
                        if let Some(bits) = memory.sign_extend {
                            let unused = 32 - 8 * u32::from(memory.bytes);
                            let keep = u32::MAX >> (32 - u32::from(bits.min(32)));
                            value = value.map(|v| ((v << unused) as i32 >> unused) as u32 & keep);
                        }
                        warp.registers.set_word(reg.index, &value, mask);
                    }
                    (_, None) => {}
                }
                if refused != 0 {
                    match memory.class {
                        Class::Wide => warp.registers.set_wide(reg.index, &[0; 32], refused),
                        _ => warp.registers.set_word(reg.index, &[0; 32], refused),
                    }
                }
            }
            self.scratch = Some(scratch);
            for (index, &missing) in missing.iter().enumerate().take(count) {
                let reg = value_register(lists, &memory, ops.dst[0], ops.imm, index);
                self.set_poison(warp, reg, part.mask, missing, at.pc);
            }
        }
    }

    pub(super) fn store(
        &mut self,
        warp: &mut Warp,
        fragment: usize,
        at: Site,
        memory: Memory,
        ops: &Operands,
        active: u32,
    ) {
        let addresses = self.addresses(warp, fragment, at, &memory, ops.src[0], active);
        let count = usize::from(memory.count);
        let width = memory.width() as usize;
        // Every lane's bytes, one after another.
        let mut scratch = self.scratch.take().unwrap_or_default();
        let data = &mut scratch.data;
        let lists = &self.context.program.lists;
        let mut poisoned = [0; 8];
        for index in 0..count {
            let reg = value_register(lists, &memory, ops.src[1], ops.imm, index);
            let offset = index * usize::from(memory.bytes);
            match memory.class {
                Class::Wide => {
                    scatter::lay_out_wide(data, warp.registers.wide(reg.index), width, offset, memory.bytes)
                }
                _ => scatter::lay_out(data, warp.registers.word(reg.index), width, offset, memory.bytes),
            }
            poisoned[index] = self.poison_of(warp, reg) & active;
        }
        let values = (!O::SILENT && count == 1).then(|| {
            let reg = value_register(lists, &memory, ops.src[1], ops.imm, 0);
            let keep = u64::MAX >> (64 - 8 * u32::from(memory.bytes));
            match memory.class {
                Class::Wide => warp.registers.wide(reg.index).map(|v| v & keep),
                _ => warp.registers.word(reg.index).map(|v| u64::from(v) & keep),
            }
        });
        for part in parts(&memory, addresses, active) {
            let mask = self.admit(warp, at, Touch::Write, &part, &memory);
            self.observe(at, Touch::Write, &part, mask, &memory, values.as_ref());
            if mask == 0 {
                continue;
            }
            match part.space {
                Space::Global => {
                    for (index, &lanes) in poisoned.iter().enumerate().take(count) {
                        if lanes & mask != 0 {
                            let reg = value_register(lists, &memory, ops.src[1], ops.imm, index);
                            let origin = origin(self.origin_of(warp, reg));
                            self.observer.poison(at, lanes & mask, Sink::Store, origin);
                        }
                    }
                    self.store_global(&part.addresses, mask, data, width);
                }
                Space::Shared => {
                    let SharedMemory { data: to, valid } = &mut self.shared;
                    scatter::scatter(to, valid, &part.addresses.map(|a| a as usize), mask, data, width);
                    invalidate(
                        valid,
                        &part.addresses.map(|a| a as usize),
                        mask,
                        &poisoned[..count],
                        memory.bytes,
                    );
                }
                Space::Local => {
                    let LocalMemory { data: to, valid, stride } = &mut warp.local;
                    let stride = *stride as usize;
                    let places = std::array::from_fn(|lane| lane * stride + part.addresses[lane] as usize);
                    scatter::scatter(to, valid, &places, mask, data, width);
                    invalidate(valid, &places, mask, &poisoned[..count], memory.bytes);
                }
                // `admit` lets nobody write here.
                Space::Constant | Space::Param => {}
            }
        }
        self.scratch = Some(scratch);
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn atomic(
        &mut self,
        warp: &mut Warp,
        fragment: usize,
        at: Site,
        memory: Memory,
        function: AtomicFn,
        ops: &Operands,
        active: u32,
    ) {
        let addresses = self.addresses(warp, fragment, at, &memory, ops.src[0], active);
        warp.fragments[fragment].polled = true;
        let wide = memory.class == Class::Wide;
        let operand = |slot: usize| {
            if wide {
                *warp.registers.wide(ops.src[slot])
            } else {
                warp.registers.word(ops.src[slot]).map(u64::from)
            }
        };
        let (b, c) = (operand(1), operand(2));
        let bytes = usize::from(memory.bytes);
        let keep = u64::MAX >> (64 - 8 * bytes);
        let value = Reg { class: memory.class, index: ops.src[1] };
        let poisoned = self.poison_of(warp, value) & active;
        let mut old = [0u64; 32];
        for part in parts(&memory, addresses, active) {
            let mask = self.admit(warp, at, Touch::Atomic, &part, &memory);
            self.observe(at, Touch::Atomic, &part, mask, &memory, Some(&b));
            if poisoned & mask != 0 {
                let origin = origin(self.origin_of(warp, value));
                self.observer.poison(at, poisoned & mask, Sink::Store, origin);
            }
            let mut unknown = part.mask & !mask;
            for lane in crate::pattern::lanes(mask).map(|l| l as usize) {
                let address = part.addresses[lane];
                let (mut raw, mut valid) = ([0u8; 8], [0u8; 8]);
                let place = self.place(warp, part.space, lane, address);
                self.read_place(warp, place, &mut raw[..bytes], &mut valid[..bytes]);
                if valid[..bytes].iter().any(|&v| v != 0xff) {
                    unknown |= 1 << lane;
                }
                old[lane] = u64::from_le_bytes(raw);
                let new = function(old[lane], b[lane] & keep, c[lane] & keep) & keep;
                self.write_place(warp, place, &new.to_le_bytes()[..bytes]);
            }
            if wide {
                warp.registers.set_wide(ops.dst[0], &old, part.mask);
            } else {
                warp.registers.set_word(ops.dst[0], &old.map(|v| v as u32), part.mask);
            }
            let unknown = if self.context.track_poison { unknown } else { 0 };
            self.set_poison(warp, Reg { class: memory.class, index: ops.dst[0] }, part.mask, unknown, at.pc);
        }
    }

    /// The addresses that the lanes of a memory instruction name.
    pub(super) fn addresses(
        &mut self,
        warp: &Warp,
        fragment: usize,
        at: Site,
        memory: &Memory,
        base: u16,
        active: u32,
    ) -> Lanes<u64> {
        let frame = if memory.in_frame {
            i64::from(warp.frames[warp.fragments[fragment].frame as usize].local_base)
        } else {
            0
        };
        let offset = (memory.offset + frame) as u64;
        if let Some(class) = memory.base
            && warp.registers.tainted
        {
            let reg = Reg { class, index: base };
            let lanes = self.poison_of(warp, reg) & active;
            if lanes != 0 {
                self.observer.poison(at, lanes, Sink::Address, origin(self.origin_of(warp, reg)));
            }
        }
        match memory.base {
            None => [offset; 32],
            Some(Class::Wide) => warp.registers.wide(base).map(|a| a.wrapping_add(offset)),
            Some(_) => warp.registers.word(base).map(|a| u64::from(a.wrapping_add(offset as u32))),
        }
    }

    /// The lanes of an access that are inside their memory and aligned; tells of the others.
    pub(super) fn admit(&mut self, warp: &Warp, at: Site, touch: Touch, part: &Part, memory: &Memory) -> u32 {
        let width = u64::from(memory.width());
        let length = match part.space {
            Space::Global => return self.admit_global(at, touch, part, width),
            Space::Shared => self.shared.data.len(),
            Space::Local => warp.local.stride as usize,
            Space::Constant if touch == Touch::Read => self.context.program.constant.len(),
            Space::Param if touch == Touch::Read => self.context.params.len(),
            _ => 0,
        };
        let mut bad = 0;
        match (length as u64).checked_sub(width) {
            Some(last) => {
                for (lane, &address) in part.addresses.iter().enumerate() {
                    bad |= u32::from(address > last || address & (width - 1) != 0) << lane;
                }
            }
            None => bad = u32::MAX,
        }
        bad &= part.mask;
        for lane in crate::pattern::lanes(bad) {
            let address = part.addresses[lane as usize];
            let misaligned = length as u64 >= width && address <= length as u64 - width;
            let bytes = width as u32;
            self.observer
                .bad_access(at, &BadAccess { touch, space: part.space, bytes, lane, address, misaligned });
        }
        part.mask & !bad
    }

    fn admit_global(&mut self, at: Site, touch: Touch, part: &Part, width: u64) -> u32 {
        let first = part.addresses[part.mask.trailing_zeros() as usize % 32];
        let (start, last) = self.view.bounds(first, width);
        let mut bad = 0;
        for (lane, &address) in part.addresses.iter().enumerate() {
            bad |= u32::from(address.wrapping_sub(start) > last || address & (width - 1) != 0) << lane;
        }
        bad &= part.mask;
        // Perhaps they are in another buffer.
        for lane in crate::pattern::lanes(bad) {
            let address = part.addresses[lane as usize];
            let inside = self.view.locate(address, width).is_some();
            let misaligned = address & (width - 1) != 0;
            if inside && !misaligned {
                bad &= !(1 << lane);
            } else {
                let bad = BadAccess {
                    touch,
                    space: Space::Global,
                    bytes: width as u32,
                    lane,
                    address,
                    misaligned: inside,
                };
                self.observer.bad_access(at, &bad);
            }
        }
        part.mask & !bad
    }

    /// Tells the observer of an access.
    pub(super) fn observe(
        &mut self,
        at: Site,
        touch: Touch,
        part: &Part,
        mask: u32,
        memory: &Memory,
        values: Option<&Lanes<u64>>,
    ) {
        if O::SILENT || mask == 0 || matches!(part.space, Space::Local | Space::Param) {
            return;
        }
        let bytes = memory.width();
        let pattern = self.patterns.get(at.pc, bytes, mask, &part.addresses);
        self.observer.access(
            at,
            &Access {
                touch,
                space: part.space,
                bytes,
                mask,
                addresses: &part.addresses,
                pattern,
                order: memory.order,
                scope: memory.scope,
                is_async: false,
                values,
            },
        );
    }

    fn store_global(&mut self, addresses: &Lanes<u64>, mask: u32, data: &[u8; 1024], width: usize) {
        let first = addresses[0];
        let dense = mask == u32::MAX
            && addresses.iter().enumerate().all(|(lane, &a)| a == first.wrapping_add((lane * width) as u64));
        if dense && let Some((buffer, offset)) = self.view.locate(first, 32 * width as u64) {
            return self.view.write(buffer, offset, &data[..32 * width]);
        }
        for lane in crate::pattern::lanes(mask).map(|l| l as usize) {
            if let Some((buffer, offset)) = self.view.locate(addresses[lane], width as u64) {
                self.view.write(buffer, offset, &data[lane * width..(lane + 1) * width]);
            }
        }
    }

    /// Where a single lane's address is.
    pub(super) fn place(&self, warp: &Warp, space: Space, lane: usize, address: u64) -> (Space, u64) {
        match space {
            Space::Local => (space, lane as u64 * u64::from(warp.local.stride) + address),
            _ => (space, address),
        }
    }

    /// Reads bytes that [`Self::admit`] let pass.
    pub(super) fn read_place(
        &mut self,
        warp: &Warp,
        (space, address): (Space, u64),
        into: &mut [u8],
        valid: &mut [u8],
    ) {
        let range = address as usize..address as usize + into.len();
        match space {
            Space::Global => {
                if let Some((buffer, offset)) = self.view.locate(address, into.len() as u64) {
                    self.view.mark_read(buffer, offset, into.len());
                    self.view.read(buffer, offset, into, valid);
                }
            }
            Space::Shared => {
                into.copy_from_slice(&self.shared.data[range.clone()]);
                valid.copy_from_slice(&self.shared.valid[range]);
            }
            Space::Local => {
                into.copy_from_slice(&warp.local.data[range.clone()]);
                valid.copy_from_slice(&warp.local.valid[range]);
            }
            Space::Constant => {
                into.copy_from_slice(&self.context.program.constant[range]);
                valid.fill(0xff);
            }
            Space::Param => {
                into.copy_from_slice(&self.context.params[range]);
                valid.fill(0xff);
            }
        }
    }

    /// Writes bytes that [`Self::admit`] let pass.
    pub(super) fn write_place(&mut self, warp: &mut Warp, (space, address): (Space, u64), bytes: &[u8]) {
        let range = address as usize..address as usize + bytes.len();
        match space {
            Space::Global => {
                if let Some((buffer, offset)) = self.view.locate(address, bytes.len() as u64) {
                    self.view.write(buffer, offset, bytes);
                }
            }
            Space::Shared => {
                self.shared.data[range.clone()].copy_from_slice(bytes);
                self.shared.valid[range].fill(0xff);
            }
            Space::Local => {
                warp.local.data[range.clone()].copy_from_slice(bytes);
                warp.local.valid[range].fill(0xff);
            }
            Space::Constant | Space::Param => {}
        }
    }

    fn poison_index(&self, warp: &Warp, reg: Reg) -> usize {
        let size = self.context.program.functions[warp.function() as usize].registers;
        warp.registers.base.poison + size.unified(reg) as usize
    }

    /// Lanes of a register that hold nothing anyone set.
    pub(super) fn poison_of(&self, warp: &Warp, reg: Reg) -> u32 {
        if !warp.registers.tainted {
            return 0;
        }
        warp.registers.poison[self.poison_index(warp, reg)]
    }

    pub(super) fn origin_of(&self, warp: &Warp, reg: Reg) -> u32 {
        warp.registers.origin[self.poison_index(warp, reg)]
    }

    /// Sets which of the lanes in `mask` of a register are poisoned, by the instruction at `pc`.
    pub(super) fn set_poison(&self, warp: &mut Warp, reg: Reg, mask: u32, poisoned: u32, pc: u32) {
        if !self.context.track_poison || (poisoned == 0 && !warp.registers.tainted) {
            return;
        }
        let index = self.poison_index(warp, reg);
        let slot = &mut warp.registers.poison[index];
        *slot = (*slot & !mask) | (poisoned & mask);
        if poisoned != 0 {
            warp.registers.origin[index] = pc.wrapping_add(1);
            warp.registers.tainted = true;
        }
    }
}

/// All memories that a load may read.
struct Memories<'s, 'v> {
    view: &'s mut View<'v>,
    shared: &'s SharedMemory,
    context: &'s Context<'s>,
    local: &'s LocalMemory,
}

impl<'s> Memories<'s, '_> {
    /// Where the bytes of a load are on the host; scattered ones are collected in `buffer` first.
    fn source(self, part: &Part, mask: u32, width: usize, scratch: &'s mut Scratch) -> Option<Source<'s>> {
        if mask == 0 {
            return None;
        }
        let plain = |data: &'s [u8], valid: Option<&'s [u8]>| {
            let at =
                std::array::from_fn(
                    |lane| if mask >> lane & 1 != 0 { part.addresses[lane] as usize } else { 0 },
                );
            Some(Source { data, valid, at })
        };
        match part.space {
            Space::Shared => plain(&self.shared.data, Some(&self.shared.valid)),
            Space::Constant => plain(&self.context.program.constant, None),
            Space::Param => plain(&self.context.params, None),
            Space::Local => {
                let stride = self.local.stride as usize;
                let at = std::array::from_fn(|lane| {
                    lane * stride + if mask >> lane & 1 != 0 { part.addresses[lane] as usize } else { 0 }
                });
                Some(Source { data: &self.local.data, valid: Some(&self.local.valid), at })
            }
            Space::Global => Some(self.source_global(part, mask, width, scratch)),
        }
    }

    fn source_global(self, part: &Part, mask: u32, width: usize, scratch: &'s mut Scratch) -> Source<'s> {
        let first = part.addresses[mask.trailing_zeros() as usize];
        let (mut low, mut high) = (first, first);
        for (lane, &address) in part.addresses.iter().enumerate() {
            let address = if mask >> lane & 1 != 0 { address } else { first };
            low = low.min(address);
            high = high.max(address);
        }
        let span = (high - low) as usize + width;
        if span <= 1 << 20
            && let Some((index, offset)) = self.view.locate(low, span as u64)
        {
            mark_reads(self.view, part, mask, (index, offset), low, span, width);
            if self.view.has_slice(index, offset, span) {
                let at = part.addresses.map(|a| a.wrapping_sub(low) as usize);
                let at = std::array::from_fn(|lane| if mask >> lane & 1 != 0 { at[lane] } else { 0 });
                let (data, valid) = self.view.slice(index, offset, span).expect("just asked");
                return Source { data, valid, at };
            }
        }
        for lane in crate::pattern::lanes(mask).map(|l| l as usize) {
            if let Some((index, offset)) = self.view.locate(part.addresses[lane], width as u64) {
                self.view.mark_read(index, offset, width);
                let range = lane * width..(lane + 1) * width;
                self.view.read(index, offset, &mut scratch.data[range.clone()], &mut scratch.valid[range]);
            }
        }
        Source {
            data: &scratch.data,
            valid: Some(&scratch.valid),
            at: std::array::from_fn(|lane| lane * width),
        }
    }
}

/// Remembers what a load read.
fn mark_reads(
    view: &mut View<'_>,
    part: &Part,
    mask: u32,
    (buffer, offset): (usize, usize),
    low: u64,
    span: usize,
    width: usize,
) {
    if span <= 32 * width {
        return view.mark_read(buffer, offset, span);
    }
    for lane in crate::pattern::lanes(mask) {
        let at = offset + (part.addresses[lane as usize] - low) as usize;
        view.mark_read(buffer, at, width);
    }
}

/// Register number `index` of the values that a memory instruction moves.
fn value_register(lists: &[Reg], memory: &Memory, single: u16, list: u32, index: usize) -> Reg {
    if memory.count == 1 { Reg { class: memory.class, index: single } } else { lists[list as usize + index] }
}

/// Room for the bytes of one warp-wide access, lane after lane.
pub(super) struct Scratch {
    data: [u8; 1024],
    valid: [u8; 1024],
}

impl Default for Scratch {
    fn default() -> Scratch {
        Scratch { data: [0; 1024], valid: [0; 1024] }
    }
}

/// Bytes that hold a poisoned value count as never written.
fn invalidate(valid: &mut [u8], places: &[usize; 32], mask: u32, poisoned: &[u32], bytes: u8) {
    for (index, &lanes) in poisoned.iter().enumerate() {
        for lane in crate::pattern::lanes(lanes & mask) {
            let from = places[lane as usize] + index * usize::from(bytes);
            valid[from..from + usize::from(bytes)].fill(0);
        }
    }
}

/// The lanes of an access by the space they go to: one part, but for generic addresses of several kinds.
pub(super) fn parts(
    memory: &Memory,
    addresses: Lanes<u64>,
    active: u32,
) -> impl Iterator<Item = Part> + use<> {
    let whole = memory.space;
    let mut left = active;
    std::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        if let Some(space) = whole {
            left = 0;
            return Some(Part { space, mask: active, addresses });
        }
        let (space, start) = window::generic(addresses[left.trailing_zeros() as usize]);
        let base = addresses[left.trailing_zeros() as usize].wrapping_sub(start);
        let mut mask = 0;
        for lane in crate::pattern::lanes(left) {
            if window::generic(addresses[lane as usize]).0 == space {
                mask |= 1 << lane;
            }
        }
        left &= !mask;
        Some(Part { space, mask, addresses: addresses.map(|a| a.wrapping_sub(base)) })
    })
}
