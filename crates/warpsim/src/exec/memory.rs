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
pub(super) struct Part<'a> {
    pub(super) space: Space,
    pub(super) mask: u32,
    pub(super) addresses: &'a Lanes<u64>,
}

impl<O: Observer> Machine<'_, '_, O> {
    #[inline(always)]
    pub(super) fn load(
        &mut self,
        warp: &mut Warp,
        fragment: usize,
        at: Site,
        memory: &Memory,
        ops: &Operands,
        active: u32,
    ) {
        let addresses = self.addresses(warp, fragment, at, memory, ops.src[0], active);
        if memory.order != Order::Weak {
            warp.fragments[fragment].polled = true;
            warp.fragments[fragment].idle += 1;
        }
        if let Some(space) = memory.space {
            return self.load_part(
                warp,
                at,
                memory,
                ops,
                &Part { space, mask: active, addresses: &addresses },
            );
        }
        let mut left = active;
        while let Some((space, mask, own)) = next_space(&addresses, &mut left) {
            self.load_part(warp, at, memory, ops, &Part { space, mask, addresses: &own });
        }
    }

    #[inline(always)]
    fn load_part(&mut self, warp: &mut Warp, at: Site, memory: &Memory, ops: &Operands, part: &Part<'_>) {
        let context = self.context;
        let lists = &context.program.lists;
        let mask = self.admit(warp, at, Touch::Read, part, memory);
        self.observe(at, Touch::Read, part, mask, memory, None);
        // Lanes whose access was refused get zero. That has been told; what becomes of it needs no fault of its own.
        let refused = part.mask & !mask;
        if refused != 0 {
            for index in 0..usize::from(memory.count) {
                let reg = value_register(lists, memory, ops.dst[0], ops.imm, index);
                match memory.class {
                    Class::Wide => warp.registers.set_wide(reg.index, &[0; 32], refused),
                    _ => warp.registers.set_word(reg.index, &[0; 32], refused),
                }
                self.set_poison(warp, reg, refused, 0, at.pc);
            }
        }
        if mask == 0 {
            return;
        }
        let mut scratch = self.scratch.take().unwrap_or_default();
        let memories = Memories { view: self.view, shared: &self.shared, context, local: &warp.local };
        let like_first;
        let part = if mask == u32::MAX {
            part
        } else {
            like_first = scatter::like_first(part.addresses, mask);
            &Part { addresses: &like_first, ..*part }
        };
        let source = memories.source(part, mask, memory.width() as usize, &mut scratch);
        if mask == u32::MAX && memory.class == Class::Word && memory.bytes == 4 && memory.count == 1 {
            // By far the most frequent load.
            let missing = if context.track_poison { source.invalid(0, 4) } else { 0 };
            source.gather_into(warp.registers.word_mut(ops.dst[0]));
            self.scratch = Some(scratch);
            let reg = Reg { class: Class::Word, index: ops.dst[0] };
            return self.set_poison(warp, reg, mask, missing, at.pc);
        }
        let count = usize::from(memory.count);
        let mut missing = [0; 8];
        for (index, missing) in missing.iter_mut().enumerate().take(count) {
            let reg = value_register(lists, memory, ops.dst[0], ops.imm, index);
            let offset = index * usize::from(memory.bytes);
            if context.track_poison {
                *missing = source.invalid(offset, memory.bytes) & mask;
            }
            if memory.class == Class::Wide {
                let mut value = source.gather(offset, memory.bytes);
                if memory.sign_extend.is_some() {
                    let unused = 64 - 8 * u32::from(memory.bytes);
                    value.iter_mut().for_each(|v| *v = ((*v << unused) as i64 >> unused) as u64);
                }
                warp.registers.set_wide(reg.index, &value, mask);
            } else {
                let mut value = source.gather_words(offset, memory.bytes);
                if let Some(bits) = memory.sign_extend {
                    let unused = 32 - 8 * u32::from(memory.bytes);
                    let keep = u32::MAX >> (32 - u32::from(bits.min(32)));
                    value.iter_mut().for_each(|v| *v = ((*v << unused) as i32 >> unused) as u32 & keep);
                }
                warp.registers.set_word(reg.index, &value, mask);
            }
        }
        self.scratch = Some(scratch);
        for (index, &missing) in missing.iter().enumerate().take(count) {
            let reg = value_register(lists, memory, ops.dst[0], ops.imm, index);
            self.set_poison(warp, reg, mask, missing, at.pc);
        }
    }

    #[inline(always)]
    pub(super) fn store(
        &mut self,
        warp: &mut Warp,
        fragment: usize,
        at: Site,
        memory: &Memory,
        ops: &Operands,
        active: u32,
    ) {
        let addresses = self.addresses(warp, fragment, at, memory, ops.src[0], active);
        if memory.space != Some(Space::Local) {
            warp.fragments[fragment].idle = 0;
        }
        let count = usize::from(memory.count);
        let width = memory.width() as usize;
        // Every lane's bytes, one after another.
        let mut scratch = self.scratch.take().unwrap_or_default();
        let data = &mut scratch.data;
        let lists = &self.context.program.lists;
        let mut poisoned = [0; 8];
        for (index, poisoned) in poisoned.iter_mut().enumerate().take(count) {
            let reg = value_register(lists, memory, ops.src[1], ops.imm, index);
            let offset = index * usize::from(memory.bytes);
            match memory.class {
                Class::Wide => {
                    scatter::lay_out_wide(data, warp.registers.wide(reg.index), width, offset, memory.bytes);
                }
                _ => scatter::lay_out(data, warp.registers.word(reg.index), width, offset, memory.bytes),
            }
            *poisoned = self.poison_of(warp, reg) & active;
        }
        let poisoned = &poisoned[..count];
        if let Some(space) = memory.space {
            let part = Part { space, mask: active, addresses: &addresses };
            self.store_part(warp, at, memory, ops, &part, data, poisoned);
        } else {
            let mut left = active;
            while let Some((space, mask, own)) = next_space(&addresses, &mut left) {
                let part = Part { space, mask, addresses: &own };
                self.store_part(warp, at, memory, ops, &part, data, poisoned);
            }
        }
        self.scratch = Some(scratch);
    }

    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn store_part(
        &mut self,
        warp: &mut Warp,
        at: Site,
        memory: &Memory,
        ops: &Operands,
        part: &Part<'_>,
        data: &[u8; 1024],
        poisoned: &[u32],
    ) {
        let width = memory.width() as usize;
        let mask = self.admit(warp, at, Touch::Write, part, memory);
        if !O::SILENT {
            let values = (memory.count == 1).then(|| {
                let keep = u64::MAX >> (64 - 8 * u32::from(memory.bytes));
                let mut values = [0; 32];
                for (lane, value) in values.iter_mut().enumerate() {
                    *value = match memory.class {
                        Class::Wide => warp.registers.wide(ops.src[1])[lane],
                        _ => u64::from(warp.registers.word(ops.src[1])[lane]),
                    } & keep;
                }
                values
            });
            self.observe(at, Touch::Write, part, mask, memory, values.as_ref());
        }
        if mask == 0 {
            return;
        }
        match part.space {
            Space::Global => {
                for (index, &lanes) in poisoned.iter().enumerate() {
                    if lanes & mask != 0 {
                        let lists = &self.context.program.lists;
                        let reg = value_register(lists, memory, ops.src[1], ops.imm, index);
                        let origin = origin(self.origin_of(warp, reg));
                        self.observer.poison(at, lanes & mask, Sink::Store, origin);
                    }
                }
                self.store_global(part.addresses, mask, data, width);
            }
            Space::Shared => {
                let SharedMemory { data: to, valid } = &mut self.shared;
                scatter::scatter(to, valid, part.addresses, mask, data, width);
                invalidate(valid, part.addresses, mask, poisoned, memory.bytes);
            }
            Space::Local => {
                let places = warp.local.places(part.addresses);
                scatter::scatter(&mut warp.local.data, &mut warp.local.valid, &places, mask, data, width);
                invalidate(&mut warp.local.valid, &places, mask, poisoned, memory.bytes);
            }
            // `admit` lets nobody write here.
            Space::Constant | Space::Param => {}
        }
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn atomic(
        &mut self,
        warp: &mut Warp,
        fragment: usize,
        at: Site,
        memory: &Memory,
        function: AtomicFn,
        ops: &Operands,
        active: u32,
    ) {
        let addresses = self.addresses(warp, fragment, at, memory, ops.src[0], active);
        warp.fragments[fragment].polled = true;
        let mut changed = false;
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
        let mut left = active;
        while let Some((space, mask, own)) = next_space_of(memory.space, &addresses, &mut left) {
            let part = Part { space, mask, addresses: &own };
            let mask = self.admit(warp, at, Touch::Atomic, &part, memory);
            self.observe(at, Touch::Atomic, &part, mask, memory, Some(&b));
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
                changed |= new != old[lane];
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
        let this = &mut warp.fragments[fragment];
        this.idle = if changed { 0 } else { this.idle + 1 };
    }

    /// The addresses that the lanes of a memory instruction name.
    #[inline(always)]
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
        let offset = memory.offset.wrapping_add(frame) as u64;
        if let Some(class) = memory.base
            && warp.registers.tainted
        {
            let reg = Reg { class, index: base };
            let lanes = self.poison_of(warp, reg) & active;
            if lanes != 0 {
                self.observer.poison(at, lanes, Sink::Address, origin(self.origin_of(warp, reg)));
            }
        }
        let mut addresses = [offset; 32];
        match memory.base {
            None => {}
            Some(Class::Wide) => {
                let base = warp.registers.wide(base);
                for lane in 0..32 {
                    addresses[lane] = base[lane].wrapping_add(offset);
                }
            }
            Some(_) => {
                let base = warp.registers.word(base);
                for lane in 0..32 {
                    addresses[lane] = u64::from(base[lane].wrapping_add(offset as u32));
                }
            }
        }
        addresses
    }

    /// The lanes of an access that are inside their memory and aligned; tells of the others.
    #[inline(always)]
    pub(super) fn admit(
        &mut self,
        warp: &Warp,
        at: Site,
        touch: Touch,
        part: &Part<'_>,
        memory: &Memory,
    ) -> u32 {
        let width = u64::from(memory.width());
        let bounds = match part.space {
            Space::Global => {
                self.view.bounds(part.addresses[part.mask.trailing_zeros() as usize % 32], width)
            }
            space => self.length(warp, touch, space).checked_sub(width).map(|last| (0, last)),
        };
        let Some((start, last)) = bounds else {
            return self.refuse(warp, at, touch, part, width, part.mask);
        };
        if self.lanes.all_inside(part.addresses, start, last, width) {
            return part.mask;
        }
        let mut bad = 0;
        for (lane, &address) in part.addresses.iter().enumerate() {
            bad |= u32::from(address.wrapping_sub(start) > last || address & (width - 1) != 0) << lane;
        }
        bad &= part.mask;
        if bad == 0 { part.mask } else { self.refuse(warp, at, touch, part, width, bad) }
    }

    /// Bytes of a memory other than global memory that an access may touch.
    fn length(&self, warp: &Warp, touch: Touch, space: Space) -> u64 {
        let length = match space {
            Space::Shared => self.shared.data.len(),
            Space::Local => warp.local.stride as usize,
            Space::Constant if touch == Touch::Read => self.context.constant.len(),
            Space::Param if touch == Touch::Read => self.context.params.len(),
            _ => 0,
        };
        length as u64
    }

    /// Tells of the lanes in `bad` whose access cannot be carried out, and returns the others.
    #[cold]
    fn refuse(
        &mut self,
        warp: &Warp,
        at: Site,
        touch: Touch,
        part: &Part<'_>,
        width: u64,
        mut bad: u32,
    ) -> u32 {
        for lane in crate::pattern::lanes(bad) {
            let address = part.addresses[lane as usize];
            let aligned = address & (width - 1) == 0;
            let inside = match part.space {
                // Lanes may be in different buffers.
                Space::Global => self.view.locate(address, width).is_some(),
                space => {
                    self.length(warp, touch, space).checked_sub(width).is_some_and(|last| address <= last)
                }
            };
            if part.space == Space::Global && inside && aligned {
                bad &= !(1 << lane);
                continue;
            }
            let bytes = width as u32;
            let misaligned = inside && !aligned;
            self.observer
                .bad_access(at, &BadAccess { touch, space: part.space, bytes, lane, address, misaligned });
        }
        part.mask & !bad
    }

    /// Tells the observer of an access.
    #[inline(always)]
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
        let pattern = self.patterns.get(at.pc, bytes, mask, part.addresses);
        self.observer.access(
            at,
            &Access {
                touch,
                space: part.space,
                bytes,
                mask,
                addresses: part.addresses,
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
                into.copy_from_slice(&self.context.constant[range]);
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
    #[inline(always)]
    pub(super) fn set_poison(&self, warp: &mut Warp, reg: Reg, mask: u32, poisoned: u32, pc: u32) {
        if poisoned != 0 || warp.registers.tainted {
            self.record_poison(warp, reg, mask, poisoned, pc);
        }
    }

    #[cold]
    fn record_poison(&self, warp: &mut Warp, reg: Reg, mask: u32, poisoned: u32, pc: u32) {
        if !self.context.track_poison {
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
    /// Where the bytes of a load are on the host, for the lanes that were admitted; scattered ones are collected in
    /// `scratch` first.
    #[inline(always)]
    fn source(self, part: &Part<'s>, mask: u32, width: usize, scratch: &'s mut Scratch) -> Source<'s> {
        let (data, valid, addresses) = match part.space {
            Space::Shared => (&self.shared.data, Some(self.shared.valid.as_slice()), part.addresses),
            Space::Constant => (&self.context.constant, None, part.addresses),
            Space::Param => (&self.context.params, None, part.addresses),
            Space::Local => {
                scratch.places = self.local.places(part.addresses);
                (&self.local.data, Some(self.local.valid.as_slice()), &scratch.places)
            }
            Space::Global => return self.source_global(part, mask, width, scratch),
        };
        // SAFETY: `admit` let these lanes pass, because their access is inside the memory.
        unsafe { Source::new(data, valid, addresses, 0, width) }
    }

    #[inline(always)]
    fn source_global(self, part: &Part<'s>, mask: u32, width: usize, scratch: &'s mut Scratch) -> Source<'s> {
        let first = part.addresses[mask.trailing_zeros() as usize];
        let (mut low, mut high) = (first, first);
        for &address in part.addresses {
            low = low.min(address);
            high = high.max(address);
        }
        let span = (high - low) as usize + width;
        let together = if span <= 1 << 20 { self.view.locate(low, span as u64) } else { None };
        if let Some((index, offset)) =
            together.filter(|&(index, offset)| self.view.has_slice(index, offset, span))
        {
            mark_reads(self.view, part, mask, (index, offset), low, span, width);
            let (data, valid) = self.view.slice(index, offset, span).unwrap_or_default();
            // SAFETY: the slice goes from the lowest address of these lanes to the end of the highest access.
            return unsafe { Source::new(data, valid, part.addresses, low, width) };
        }
        for lane in crate::pattern::lanes(mask).map(|l| l as usize) {
            if let Some((index, offset)) = self.view.locate(part.addresses[lane], width as u64) {
                self.view.mark_read(index, offset, width);
                let range = lane * width..(lane + 1) * width;
                self.view.read(index, offset, &mut scratch.data[range.clone()], &mut scratch.valid[range]);
            }
        }
        scratch.places = std::array::from_fn(|lane| (lane * width) as u64);
        // SAFETY: the scratch has room for 32 bytes a lane, the most an access has.
        unsafe { Source::new(&scratch.data, Some(&scratch.valid), &scratch.places, 0, width) }
    }
}

/// Remembers what a load read.
fn mark_reads(
    view: &mut View<'_>,
    part: &Part<'_>,
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
    places: Lanes<u64>,
}

impl Default for Scratch {
    fn default() -> Scratch {
        Scratch { data: [0; 1024], valid: [0; 1024], places: [0; 32] }
    }
}

/// Bytes that hold a poisoned value count as never written.
fn invalidate(valid: &mut [u8], places: &Lanes<u64>, mask: u32, poisoned: &[u32], bytes: u8) {
    for (index, &lanes) in poisoned.iter().enumerate() {
        for lane in crate::pattern::lanes(lanes & mask) {
            let from = places[lane as usize] as usize + index * usize::from(bytes);
            valid[from..from + usize::from(bytes)].fill(0);
        }
    }
}

/// Of the lanes left of a generic access, those that go to the same space as the first one, with their addresses
/// in that space.
pub(super) fn next_space(addresses: &Lanes<u64>, left: &mut u32) -> Option<(Space, u32, Lanes<u64>)> {
    if *left == 0 {
        return None;
    }
    let first = addresses[left.trailing_zeros() as usize];
    let (space, inside) = window::generic(first);
    let mask = crate::pattern::lanes(*left)
        .filter(|&lane| window::generic(addresses[lane as usize]).0 == space)
        .fold(0, |mask, lane| mask | 1 << lane);
    *left &= !mask;
    let base = first.wrapping_sub(inside);
    Some((space, mask, addresses.map(|a| a.wrapping_sub(base))))
}

/// The same, where the space may be known.
pub(super) fn next_space_of(
    space: Option<Space>,
    addresses: &Lanes<u64>,
    left: &mut u32,
) -> Option<(Space, u32, Lanes<u64>)> {
    let Some(space) = space else { return next_space(addresses, left) };
    let mask = std::mem::take(left);
    (mask != 0).then_some((space, mask, *addresses))
}
