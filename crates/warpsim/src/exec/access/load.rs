//! Loads.

use super::bytes::Located;
use super::layout::Layout;
use super::on_chip::LocalMemory;
use super::{Request, access_of_words, next_space_of, value_register};
use crate::exec::dispatch::per_cpu;
use crate::exec::warp::Warp;
use crate::exec::{Issue, Machine};
use crate::fault::{Space, Touch};
use crate::memory::View;
use crate::observer::{Detail, Observer, Order, Site};
use crate::pattern::lanes;
use crate::program::Memory;
use crate::registers::{FULL, Lanes, Operands, RegisterFile};

impl<O: Observer> Machine<'_, '_, O> {
    per_cpu! {
        /// Loads.
        pub(crate) fn load, load_avx2, load_any(warp: &mut Warp, issue: &Issue<'_>, memory: &Memory);
    }

    #[inline(always)]
    fn load_any(&mut self, warp: &mut Warp, issue: &Issue<'_>, memory: &Memory) {
        if let Some(space @ (Space::Shared | Space::Global)) = memory.space
            && issue.active == FULL
            && !warp.registers.tainted
            && memory.is_plain_word()
            && self.load_words(warp, issue.at, space, memory, issue.ops)
        {
            return;
        }
        let addresses = self.addresses(warp, issue, memory, issue.ops.src[0]);
        if memory.order != Order::Weak {
            let group = &mut warp.groups[issue.group];
            group.polled = true;
            group.idle += 1;
        }
        if let Some(space) = memory.space {
            let request = Request::new(Touch::Read, space, issue.active, &addresses);
            return self.load_request(warp, issue, memory, &request);
        }
        let mut left = issue.active;
        while let Some((space, mask, own)) = next_space_of(None, &addresses, &mut left) {
            self.load_request(warp, issue, memory, &Request::new(Touch::Read, space, mask, &own));
        }
    }

    /// The load that kernels do most: one word for each lane of a full warp, lying as the last ones of this instruction
    /// did. Returns false, having done nothing, where [`Self::load`] has to look closer.
    #[inline(always)]
    pub(crate) fn load_words(
        &mut self,
        warp: &mut Warp,
        at: Site,
        space: Space,
        memory: &Memory,
        ops: &Operands,
    ) -> bool {
        let Some(base) = memory.base_register(ops) else { return false };
        let Some(words) = self.words(warp, at.pc, base, memory.offset) else { return false };
        let layout = match space {
            _ if O::detail() == Detail::Faults => self.layouts.layout(words.layout),
            Space::Shared => self.layouts.with_wavefronts(words),
            _ => self.layouts.aligned(words.layout, words.first),
        };
        let located = match space {
            Space::Shared => self.shared.locate(layout, words.first, [0, 0]),
            _ if !layout.is_aligned(words.first) => None,
            _ => match self.view.find_row(layout, words.first) {
                Some(place) => self.view.read_row(layout, place),
                None => None,
            },
        };
        let Some(located) = located else { return false };
        if self.context.track_poison && !located.all_valid() {
            return false;
        }
        if O::detail() != Detail::Faults {
            let access = access_of_words(Touch::Read, space, memory.scope, words.first, layout);
            self.observer.access(at, &access);
        }
        located.gather_into(warp.registers.word_mut(ops.dst[0]));
        true
    }

    #[inline(always)]
    fn load_request(
        &mut self,
        warp: &mut Warp,
        &Issue { at, ops, .. }: &Issue<'_>,
        memory: &Memory,
        request: &Request<'_>,
    ) {
        let context = self.context;
        let admitted = self.admit(warp, at, request, memory);
        self.observe(at, request, &admitted, memory, None);
        let mask = admitted.mask;
        if mask != request.mask {
            self.zero(warp, memory, ops, request.mask & !mask);
            if mask == 0 {
                return;
            }
        }
        let (layout, first) = (self.layouts.layout(admitted.layout), admitted.first(request));
        let located = match request.space {
            Space::Shared => {
                let (data, valid) = (&self.shared.data, &self.shared.valid);
                Located::new(layout, first, [0, 0], data, Some(valid))
            }
            Space::Constant => Located::new(layout, first, [0, 0], &context.constant, None),
            Space::Param => Located::new(layout, first, [0, 0], &context.params, None),
            Space::Local => self.scratch.locate_local(layout, first, &warp.local),
            Space::Global => self.scratch.locate_global(layout, first, mask, self.view),
        };
        // It was admitted, so it is there.
        let Some(located) = located else { return };
        let all_valid = !context.track_poison || located.all_valid();
        let lists = &context.program.lists;
        let count = usize::from(memory.count);
        let mut missing = [0; 8];
        for (index, missing) in missing.iter_mut().enumerate().take(count) {
            let reg = value_register(lists, memory, ops.dst[0], ops.imm, index);
            let offset = index * usize::from(memory.bytes);
            if !all_valid {
                *missing = located.invalid(offset, memory.bytes) & mask;
            }
            if memory.class == RegisterFile::Wide {
                let mut value = located.gather(offset, memory.bytes);
                if memory.sign_extend.is_some() {
                    let unused = 64 - 8 * u32::from(memory.bytes);
                    value.iter_mut().for_each(|v| *v = ((*v << unused) as i64 >> unused) as u64);
                }
                warp.registers.set_wide(reg.index, &value, mask);
            } else {
                let mut value = located.gather_words(offset, memory.bytes);
                if let Some(bits) = memory.sign_extend {
                    let unused = 32 - 8 * u32::from(memory.bytes);
                    let keep = u32::MAX >> (32 - u32::from(bits.min(32)));
                    value.iter_mut().for_each(|v| *v = ((*v << unused) as i32 >> unused) as u32 & keep);
                }
                warp.registers.set_word(reg.index, &value, mask);
            }
        }
        for (index, &missing) in missing.iter().enumerate().take(count) {
            let reg = value_register(lists, memory, ops.dst[0], ops.imm, index);
            let origin = match missing {
                0 => 0,
                _ => {
                    let offset = index as u64 * u64::from(memory.bytes);
                    self.origin_in_memory(warp, at, request, missing, offset)
                }
            };
            self.set_poison(warp, reg, mask, missing, origin);
        }
    }

    /// Lanes whose access was refused get zero. That was reported; what results from it needs no fault of its own.
    #[cold]
    fn zero(&mut self, warp: &mut Warp, memory: &Memory, ops: &Operands, refused: u32) {
        for index in 0..usize::from(memory.count) {
            let reg = value_register(&self.context.program.lists, memory, ops.dst[0], ops.imm, index);
            match memory.class {
                RegisterFile::Wide => warp.registers.set_wide(reg.index, &[0; 32], refused),
                _ => warp.registers.set_word(reg.index, &[0; 32], refused),
            }
            self.set_poison(warp, reg, refused, 0, 0);
        }
    }
}

/// Room for the bytes of one warp-wide access, lane after lane, and for where they are.
pub(crate) struct Scratch {
    data: [u8; 1024],
    valid: [u8; 1024],
    places: Lanes<u64>,
}

impl Default for Scratch {
    fn default() -> Scratch {
        Scratch { data: [0; 1024], valid: [0; 1024], places: [0; 32] }
    }
}

impl Scratch {
    /// Bytes of local memory, where every lane has memory of its own.
    fn locate_local<'m>(
        &'m mut self,
        layout: &Layout,
        first: u64,
        local: &'m LocalMemory,
    ) -> Option<Located<'m>> {
        self.places = local.places(&layout.relative.map(|relative| first.wrapping_add(relative)));
        Located::scattered(&self.places, layout.width() as usize, &local.data, &local.valid)
    }

    #[inline(always)]
    fn locate_global<'m>(
        &'m mut self,
        layout: &'m Layout,
        first: u64,
        mask: u32,
        view: &'m mut View<'_>,
    ) -> Option<Located<'m>> {
        match view.find_row(layout, first) {
            Some(place) => view.read_row(layout, place),
            None => self.collect(layout, first, mask, view),
        }
    }

    /// Brings bytes from different pages or buffers together.
    #[inline(never)]
    fn collect(
        &mut self,
        layout: &Layout,
        first: u64,
        mask: u32,
        view: &mut View<'_>,
    ) -> Option<Located<'_>> {
        let width = layout.width() as usize;
        for lane in lanes(mask).map(|l| l as usize) {
            let address = first.wrapping_add(layout.relative[lane]);
            if let Some((index, offset)) = view.locate(address, width as u64) {
                view.mark_read(index, offset, width);
                let range = lane * width..(lane + 1) * width;
                view.read(index, offset, &mut self.data[range.clone()], &mut self.valid[range]);
            }
        }
        self.places = std::array::from_fn(|lane| (lane * width) as u64);
        Located::scattered(&self.places, width, &self.data, &self.valid)
    }
}
