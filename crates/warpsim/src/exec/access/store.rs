//! Stores.

use super::bytes;
use super::layout::Octet;
use super::on_chip::SharedMemory;
use super::{Admitted, Request, access_of_words, next_space_of, value_register};
use crate::exec::dispatch::per_cpu;
use crate::exec::interpret::origin;
use crate::exec::warp::Warp;
use crate::exec::{Issue, Machine};
use crate::fault::{Sink, Space, Touch};
use crate::observer::{Access, Detail, Observer, Site};
use crate::pattern::lanes;
use crate::program::Memory;
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
        pub(crate) fn store, store_avx2, store_any(warp: &mut Warp, issue: &Issue<'_>, memory: &Memory);
    }

    #[inline(always)]
    fn store_any(&mut self, warp: &mut Warp, issue: &Issue<'_>, memory: &Memory) {
        let &Issue { at, group, active, ops } = issue;
        if memory.space != Some(Space::Local) {
            warp.groups[group].idle = 0;
        }
        if memory.space == Some(Space::Shared)
            && active == FULL
            && !warp.registers.tainted
            && memory.is_plain_word()
            && self.store_words(warp, at, memory, ops)
        {
            return;
        }
        let addresses = self.addresses(warp, issue, memory, ops.src[0]);
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
            let request = Request::new(Touch::Write, space, active, &addresses);
            self.store_request(warp, issue, memory, &request, &values);
        } else {
            let mut left = active;
            while let Some((space, mask, own)) = next_space_of(None, &addresses, &mut left) {
                let request = Request::new(Touch::Write, space, mask, &own);
                self.store_request(warp, issue, memory, &request, &values);
            }
        }
        self.values = Some(room);
    }

    /// The store that kernels do most: one word of shared memory for each lane of a full warp, lying as the last ones of
    /// this instruction did. Returns false, having done nothing, if they lie in another way.
    #[inline(always)]
    pub(crate) fn store_words(&mut self, warp: &Warp, at: Site, memory: &Memory, ops: &Operands) -> bool {
        let Some(base) = memory.base_register(ops) else { return false };
        let Some(words) = self.words(warp, at.pc, base, memory.offset) else { return false };
        let layout = match O::detail() {
            Detail::Faults => self.layouts.layout(words.layout),
            _ => self.layouts.with_wavefronts(words),
        };
        // Nobody asks what was written if values that nothing set are not tracked.
        let track = self.context.track_poison;
        let Some(located) = self.shared.locate_mut(layout, words.first, track) else { return false };
        let values = warp.registers.word(ops.src[1]);
        if O::detail() != Detail::Faults {
            let access = Access {
                values: Some(&values.map(u64::from)),
                ..access_of_words(Touch::Write, Space::Shared, memory.scope, words.first, layout)
            };
            self.observer.access(at, &access);
        }
        located.put(values);
        true
    }

    #[inline(always)]
    fn store_request(
        &mut self,
        warp: &mut Warp,
        &Issue { at, ops, .. }: &Issue<'_>,
        memory: &Memory,
        request: &Request<'_>,
        &Values { data, poisoned }: &Values<'_>,
    ) {
        let width = memory.width() as usize;
        let admitted = self.admit(warp, at, request, memory);
        if O::detail() != Detail::Faults {
            let values = (memory.count == 1).then(|| single_values(warp, memory, ops));
            self.observe(at, request, &admitted, memory, values.as_ref());
        }
        let mask = admitted.mask;
        if mask == 0 {
            return;
        }
        match request.space {
            Space::Global => {
                for (index, &lanes) in poisoned.iter().enumerate() {
                    if lanes & mask != 0 {
                        let lists = &self.context.program.lists;
                        let reg = value_register(lists, memory, ops.src[1], ops.imm, index);
                        let origin = origin(self.origin_of(warp, reg));
                        self.observer.poison(at, lanes & mask, Sink::Store, origin);
                    }
                }
                self.store_global(request.addresses, &admitted, data, width);
            }
            Space::Shared => {
                let SharedMemory { data: to, valid, .. } = &mut self.shared;
                bytes::scatter(
                    to,
                    valid,
                    request.addresses,
                    mask,
                    &self.layouts.layout(admitted.layout).octets,
                    data,
                    width,
                );
                invalidate(valid, request.addresses, mask, poisoned, memory.bytes);
                self.keep_origins(warp, memory, ops, (Space::Shared, request.addresses), mask, poisoned);
            }
            Space::Local => {
                let places = warp.local.places(request.addresses);
                let (to, valid) = (&mut warp.local.data, &mut warp.local.valid);
                bytes::scatter(to, valid, &places, mask, &[Octet::Scattered; 4], data, width);
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
        &Admitted { mask, layout }: &Admitted,
        data: &[u8; 1024],
        width: usize,
    ) {
        let layout = self.layouts.layout(layout);
        if layout.is_dense
            && let Some((buffer, offset)) = self.view.locate(addresses[0], 32 * width as u64)
        {
            return self.view.write(buffer, offset, &data[..32 * width]);
        }
        for (octet, &lie) in layout.octets.iter().enumerate() {
            let first = 8 * octet;
            if lie == Octet::Contiguous
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
