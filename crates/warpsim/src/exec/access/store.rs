//! Stores.

use super::bytes;
use super::on_chip::SharedMemory;
use super::word::{UNKNOWN, access_of_words};
use super::{Admitted, Part, next_space, value_register};
use crate::exec::Machine;
use crate::exec::dispatch::per_cpu;
use crate::exec::interpret::origin;
use crate::exec::warp::Warp;
use crate::fault::{Sink, Space, Touch};
use crate::observer::{Access, Detail, Observer, Site};
use crate::pattern::{Eight, lanes};
use crate::program::{Memory, Register};
use crate::registers::{FULL, Lanes, Operands, RegisterFile};

/// The values of a store.
struct Values<'a> {
    /// Every lane's bytes, one lane after another.
    data: &'a [u8; 1024],
    /// For each element, the lanes whose value nobody set.
    poisoned: &'a [u32],
}

impl<O: Observer> Machine<'_, '_, O> {
    per_cpu! {
        /// Stores.
        pub(crate) fn store, store_avx2, store_any(
            warp: &mut Warp, fragment: usize, at: Site, memory: &Memory, ops: &Operands, active: u32
        );
    }

    #[inline(always)]
    fn store_any(
        &mut self,
        warp: &mut Warp,
        fragment: usize,
        at: Site,
        memory: &Memory,
        ops: &Operands,
        active: u32,
    ) {
        if memory.space != Some(Space::Local) {
            warp.fragments[fragment].idle = 0;
        }
        let is_shared_word = memory.space == Some(Space::Shared) && memory.is_word();
        if is_shared_word
            && active == FULL
            && !warp.registers.tainted
            && self.store_shared_word(warp, at, memory, ops)
        {
            return;
        }
        let addresses = self.addresses(warp, fragment, at, memory, ops.src[0], active);
        let count = usize::from(memory.count);
        let width = memory.width() as usize;
        let mut room = self.values.take().unwrap_or_else(|| Box::new([0; 1024]));
        let data = &mut *room;
        let lists = &self.context.program.lists;
        let mut poisoned = [0; 8];
        for (index, poisoned) in poisoned.iter_mut().enumerate().take(count) {
            let reg = value_register(lists, memory, ops.src[1], ops.imm, index);
            let offset = index * usize::from(memory.bytes);
            match memory.class {
                RegisterFile::Wide => {
                    bytes::lay_out_wide(data, warp.registers.wide(reg.index), width, offset, memory.bytes);
                }
                _ => bytes::lay_out(data, warp.registers.word(reg.index), width, offset, memory.bytes),
            }
            *poisoned = self.poison_of(warp, reg) & active;
        }
        let values = Values { data, poisoned: &poisoned[..count] };
        if let Some(space) = memory.space {
            let part = Part { space, mask: active, addresses: &addresses };
            self.store_part(warp, at, memory, ops, &part, &values);
        } else {
            let mut left = active;
            while let Some((space, mask, own)) = next_space(&addresses, &mut left) {
                let part = Part { space, mask, addresses: &own };
                self.store_part(warp, at, memory, ops, &part, &values);
            }
        }
        self.values = Some(room);
    }

    /// The store that kernels do most: one word of shared memory for each lane of a full warp, lying as the last one of
    /// this instruction did. Returns false, having done nothing, if it lies in another way.
    #[inline(always)]
    pub(crate) fn store_shared_word(
        &mut self,
        warp: &Warp,
        at: Site,
        memory: &Memory,
        ops: &Operands,
    ) -> bool {
        let Some(class) = memory.base else { return false };
        let base = Register { file: class, index: ops.src[0] };
        let placed = self.place_words(warp, at.pc, base, memory.offset, UNKNOWN);
        let last = (self.shared.bytes as u64).checked_sub(4);
        let (Some((first, known)), Some(last)) = (placed, last) else { return false };
        let mut entry = self.patterns.entry(known);
        if !entry.shape.fits(first, first, last, 4) {
            return false;
        }
        let values = warp.registers.word(ops.src[1]);
        if O::detail() != Detail::Faults {
            if !entry.has_pattern() {
                entry = self.patterns.aligned(known, first);
            }
            let access = Access {
                order: memory.order,
                values: Some(&values.map(u64::from)),
                ..access_of_words(Touch::Write, Space::Shared, memory.scope, first, entry)
            };
            self.observer.access(at, &access);
        }
        // Nobody asks what was written if values that nothing set are not tracked.
        let valid = if self.context.track_poison { &mut self.shared.valid[..] } else { &mut [] };
        // SAFETY: it was seen that all words are inside.
        unsafe { bytes::put_words(&mut self.shared.data, valid, first, entry, values) };
        true
    }

    #[inline(always)]
    fn store_part(
        &mut self,
        warp: &mut Warp,
        at: Site,
        memory: &Memory,
        ops: &Operands,
        part: &Part<'_>,
        &Values { data, poisoned }: &Values<'_>,
    ) {
        let width = memory.width() as usize;
        let admitted = self.admit(warp, at, Touch::Write, part, memory);
        if O::detail() != Detail::Faults {
            let values = (memory.count == 1).then(|| single_values(warp, memory, ops));
            self.observe(at, Touch::Write, part, &admitted, memory, values.as_ref());
        }
        let Admitted { mask, shape } = admitted;
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
                self.store_global(part.addresses, &admitted, data, width);
            }
            Space::Shared => {
                let SharedMemory { data: to, valid, .. } = &mut self.shared;
                bytes::scatter(to, valid, part.addresses, mask, &shape.eights, data, width);
                invalidate(valid, part.addresses, mask, poisoned, memory.bytes);
                self.keep_origins(warp, memory, ops, (Space::Shared, part.addresses), mask, poisoned);
            }
            Space::Local => {
                let places = warp.local.places(part.addresses);
                let (to, valid) = (&mut warp.local.data, &mut warp.local.valid);
                bytes::scatter(to, valid, &places, mask, &[Eight::Scattered; 4], data, width);
                invalidate(&mut warp.local.valid, &places, mask, poisoned, memory.bytes);
                self.keep_origins(warp, memory, ops, (Space::Local, &places), mask, poisoned);
            }
            // `admit` lets nobody write here.
            Space::Constant | Space::Param => {}
        }
    }

    /// Remembers where values came from that nothing set.
    #[inline(always)]
    fn keep_origins(
        &mut self,
        warp: &mut Warp,
        memory: &Memory,
        ops: &Operands,
        (space, places): (Space, &Lanes<u64>),
        mask: u32,
        poisoned: &[u32],
    ) {
        for (index, lanes) in poisoned.iter().map(|lanes| lanes & mask).enumerate() {
            if lanes != 0 {
                let bytes = u64::from(memory.bytes);
                let reg = value_register(&self.context.program.lists, memory, ops.src[1], ops.imm, index);
                let origin = self.origin_of(warp, reg);
                let places = places.map(|place| place.wrapping_add(index as u64 * bytes));
                self.keep_origin(warp, space, &places, lanes, bytes, origin);
            }
        }
    }

    fn store_global(
        &mut self,
        addresses: &Lanes<u64>,
        &Admitted { mask, shape }: &Admitted,
        data: &[u8; 1024],
        width: usize,
    ) {
        if shape.is_dense
            && let Some((buffer, offset)) = self.view.locate(addresses[0], 32 * width as u64)
        {
            return self.view.write(buffer, offset, &data[..32 * width]);
        }
        for (eight, &lie) in shape.eights.iter().enumerate() {
            let first = 8 * eight;
            if lie == Eight::Contiguous
                && let Some((buffer, offset)) = self.view.locate(addresses[first], 8 * width as u64)
            {
                self.view.write(buffer, offset, &data[first * width..(first + 8) * width]);
                continue;
            }
            for lane in lanes(mask & 0xff << first).map(|l| l as usize) {
                if let Some((buffer, offset)) = self.view.locate(addresses[lane], width as u64) {
                    self.view.write(buffer, offset, &data[lane * width..(lane + 1) * width]);
                }
            }
        }
    }
}

/// What a store of one element a lane writes.
fn single_values(warp: &Warp, memory: &Memory, ops: &Operands) -> Lanes<u64> {
    let keep = u64::MAX >> (64 - 8 * u32::from(memory.bytes));
    match memory.class {
        RegisterFile::Wide => warp.registers.wide(ops.src[1]).map(|value| value & keep),
        _ => warp.registers.word(ops.src[1]).map(|value| u64::from(value) & keep),
    }
}

/// Bytes that hold a poisoned value count as never written.
fn invalidate(valid: &mut [u8], places: &Lanes<u64>, mask: u32, poisoned: &[u32], bytes: u8) {
    for (index, &poisoned) in poisoned.iter().enumerate() {
        for lane in lanes(poisoned & mask) {
            let from = places[lane as usize] as usize + index * usize::from(bytes);
            valid[from..from + usize::from(bytes)].fill(0);
        }
    }
}
