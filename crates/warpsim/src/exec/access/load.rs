//! Loads.

use super::bytes::{self, Source};
use super::on_chip::{LocalMemory, SharedMemory};
use super::word::{UNKNOWN, access_of_words};
use super::{Part, next_space, value_register};
use crate::exec::dispatch::per_cpu;
use crate::exec::warp::Warp;
use crate::exec::{Context, Machine};
use crate::fault::{Space, Touch};
use crate::memory::View;
use crate::observer::{Detail, Observer, Order, Site};
use crate::pattern::{Entry, Shape, lanes};
use crate::program::{Memory, Register};
use crate::registers::{FULL, Lanes, Operands, RegisterFile};

impl<O: Observer> Machine<'_, '_, O> {
    per_cpu! {
        /// Loads.
        pub(crate) fn load, load_avx2, load_any(
            warp: &mut Warp, fragment: usize, at: Site, memory: &Memory, ops: &Operands, active: u32
        );
        /// The load that kernels do most: one word of shared memory for each lane of a full warp, lying as the last one
        /// of this instruction did, or as the one that `known` remembers. Returns false, having done nothing, where
        /// [`Self::load`] has to look closer.
        pub(crate) fn load_shared_word, load_shared_word_avx2, load_known_word::<true>(
            warp: &mut Warp, at: Site, memory: &Memory, ops: &Operands, known: &mut u32
        ) -> bool;
        /// The same from global memory.
        pub(crate) fn load_global_word, load_global_word_avx2, load_known_word::<false>(
            warp: &mut Warp, at: Site, memory: &Memory, ops: &Operands, known: &mut u32
        ) -> bool;
    }

    /// Loads a word a lane. `known` remembers how the addresses lie, for loads that have the same base.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn load_word<const AVX2: bool>(
        &mut self,
        warp: &mut Warp,
        fragment: usize,
        at: Site,
        memory: &Memory,
        ops: &Operands,
        active: u32,
        known: &mut u32,
    ) {
        let is_done = active == FULL
            && !warp.registers.tainted
            && if memory.space == Some(Space::Shared) {
                self.load_shared_word::<AVX2>(warp, at, memory, ops, known)
            } else {
                self.load_global_word::<AVX2>(warp, at, memory, ops, known)
            };
        if !is_done {
            *known = UNKNOWN;
            self.load::<AVX2>(warp, fragment, at, memory, ops, active);
        }
    }

    #[inline(always)]
    pub(crate) fn load_known_word<const IS_SHARED: bool>(
        &mut self,
        warp: &mut Warp,
        at: Site,
        memory: &Memory,
        ops: &Operands,
        known: &mut u32,
    ) -> bool {
        let class =
            if memory.base == Some(RegisterFile::Wide) { RegisterFile::Wide } else { RegisterFile::Word };
        let base = Register { file: class, index: ops.src[0] };
        let Some((first, placed)) = self.place_words(warp, at.pc, base, memory.offset, *known) else {
            return false;
        };
        *known = placed;
        let mut entry = self.patterns.entry(*known);
        let shape = &entry.shape;
        let mut place = None;
        if IS_SHARED {
            let last = (self.shared.bytes as u64).checked_sub(4);
            if !last.is_some_and(|last| shape.fits(first, first, last, 4)) {
                return false;
            }
        } else {
            place = if shape.is_aligned(first, 4) { self.view.place_row(first, shape, 4) } else { None };
            if place.is_none() {
                return false;
            }
        }
        // Nobody asks for the sectors of shared memory, and words are aligned.
        let is_priced = IS_SHARED && entry.has_pattern();
        if O::detail() != Detail::Faults && !is_priced {
            entry = self.patterns.aligned(*known, first);
        }
        let lie = Lie::of_words(entry, first);
        let source = match place {
            None => source_shared(&self.shared, &lie, 4),
            Some(place) => {
                self.view.mark_runs(place, &entry.runs);
                let (data, valid) = self.view.bytes(place);
                // SAFETY: these bytes go from the lowest address of the lanes to the end of the highest word.
                unsafe { Source::new(data, valid, lie.at, entry.shape.low, lie.shape, 4) }
            }
        };
        if self.context.track_poison && !source.all_valid(4) {
            return false;
        }
        if O::detail() != Detail::Faults {
            let space = if IS_SHARED { Space::Shared } else { Space::Global };
            let access = access_of_words(Touch::Read, space, memory.scope, first, entry);
            self.observer.access(at, &access);
        }
        source.gather_into(warp.registers.word_mut(ops.dst[0]));
        true
    }

    #[inline(always)]
    fn load_any(
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
            let part = Part { space, mask: active, addresses: &addresses };
            return self.load_part(warp, at, memory, ops, &part);
        }
        let mut left = active;
        while let Some((space, mask, own)) = next_space(&addresses, &mut left) {
            self.load_part(warp, at, memory, ops, &Part { space, mask, addresses: &own });
        }
    }

    #[inline(always)]
    fn load_part(&mut self, warp: &mut Warp, at: Site, memory: &Memory, ops: &Operands, part: &Part<'_>) {
        let context = self.context;
        let admitted = self.admit(warp, at, Touch::Read, part, memory);
        self.observe(at, Touch::Read, part, &admitted, memory, None);
        let mask = admitted.mask;
        if mask != part.mask {
            self.zero(warp, memory, ops, part.mask & !mask);
            if mask == 0 {
                return;
            }
        }
        let memories = Memories { view: self.view, shared: &self.shared, context, local: &warp.local };
        let like_first;
        let part = if mask == FULL {
            part
        } else {
            like_first = bytes::like_first(part.addresses, mask);
            &Part { addresses: &like_first, ..*part }
        };
        let runs = self.patterns.runs(&admitted.shape);
        let lie = Lie { at: part.addresses, origin: 0, mask, shape: &admitted.shape, runs };
        let source = memories.source(part.space, &lie, memory.width() as usize, &mut self.scratch);
        let all_valid = !context.track_poison || source.all_valid(memory.width() as usize);
        let lists = &context.program.lists;
        let count = usize::from(memory.count);
        let mut missing = [0; 8];
        for (index, missing) in missing.iter_mut().enumerate().take(count) {
            let reg = value_register(lists, memory, ops.dst[0], ops.imm, index);
            let offset = index * usize::from(memory.bytes);
            if !all_valid {
                *missing = source.invalid(offset, memory.bytes) & mask;
            }
            if memory.class == RegisterFile::Wide {
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
        for (index, &missing) in missing.iter().enumerate().take(count) {
            let reg = value_register(lists, memory, ops.dst[0], ops.imm, index);
            let origin = match missing {
                0 => 0,
                _ => self.origin_in_memory(warp, at, part, missing, index as u64 * u64::from(memory.bytes)),
            };
            self.set_poison(warp, reg, mask, missing, origin);
        }
    }

    /// Lanes whose access was refused get zero. That has been told; what becomes of it needs no fault of its own.
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

/// Where the lanes of an access are in its space.
pub(crate) struct Lie<'a> {
    /// The lanes' addresses, less `origin`; sensible ones for lanes that are not active, too.
    at: &'a Lanes<u64>,
    origin: u64,
    mask: u32,
    shape: &'a Shape,
    /// The bytes they touch, as runs (offset from the lowest address, length).
    runs: &'a [(usize, usize)],
}

impl<'a> Lie<'a> {
    /// The words of a full warp that lie as `entry` says, the first lane's at `first`.
    #[inline(always)]
    pub(crate) fn of_words(entry: &'a Entry, first: u64) -> Lie<'a> {
        Lie { at: &entry.relative, origin: first, mask: FULL, shape: &entry.shape, runs: &entry.runs }
    }
}

impl Lie<'_> {
    #[inline(always)]
    fn address(&self, lane: usize) -> u64 {
        self.at[lane].wrapping_add(self.origin)
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
    /// Where the bytes of a load are on the host, for lanes that were admitted; scattered ones are collected in
    /// `scratch` first.
    #[inline(always)]
    fn source(self, space: Space, lie: &Lie<'s>, width: usize, scratch: &'s mut Scratch) -> Source<'s> {
        let (data, valid) = match space {
            Space::Shared => return source_shared(self.shared, lie, width),
            Space::Constant => (&self.context.constant, None),
            Space::Param => (&self.context.params, None),
            Space::Local => {
                // Every lane has memory of its own.
                scratch.places = self.local.places(lie.at);
                let (data, valid) = (&self.local.data, Some(self.local.valid.as_slice()));
                let start = lie.origin.wrapping_neg();
                // SAFETY: `admit` let these lanes pass, because their access is inside each lane's memory.
                return unsafe { Source::new(data, valid, &scratch.places, start, &Shape::SCATTERED, width) };
            }
            Space::Global => return self.source_global(lie, width, scratch),
        };
        let start = lie.origin.wrapping_neg();
        // SAFETY: these lanes' access is inside the memory, and the shape tells how they lie.
        unsafe { Source::new(data, valid, lie.at, start, lie.shape, width) }
    }

    #[inline(always)]
    fn source_global(self, lie: &Lie<'s>, width: usize, scratch: &'s mut Scratch) -> Source<'s> {
        let first = lie.address(lie.mask.trailing_zeros() as usize % 32);
        if let Some(place) = self.view.place_row(first, lie.shape, width) {
            let low = first.wrapping_add(lie.shape.low);
            self.view.mark_runs(place, lie.runs);
            let (data, valid) = self.view.bytes(place);
            let start = low.wrapping_sub(lie.origin);
            // SAFETY: these bytes go from the lowest address of these lanes to the end of the highest access.
            return unsafe { Source::new(data, valid, lie.at, start, lie.shape, width) };
        }
        self.collect(lie, width, scratch)
    }

    /// Brings bytes from different pages or buffers together.
    #[inline(never)]
    fn collect(self, lie: &Lie<'s>, width: usize, scratch: &'s mut Scratch) -> Source<'s> {
        for lane in lanes(lie.mask).map(|l| l as usize) {
            if let Some((index, offset)) = self.view.locate(lie.address(lane), width as u64) {
                self.view.mark_read(index, offset, width);
                let range = lane * width..(lane + 1) * width;
                self.view.read(index, offset, &mut scratch.data[range.clone()], &mut scratch.valid[range]);
            }
        }
        scratch.places = std::array::from_fn(|lane| (lane * width) as u64);
        let (data, valid) = (&scratch.data, Some(scratch.valid.as_slice()));
        // SAFETY: the scratch has room for 32 bytes a lane, the most an access has.
        unsafe { Source::new(data, valid, &scratch.places, 0, &Shape::SCATTERED, width) }
    }
}

/// Where the bytes of a load from shared memory are.
#[inline(always)]
pub(crate) fn source_shared<'s>(shared: &'s SharedMemory, lie: &Lie<'s>, width: usize) -> Source<'s> {
    let (data, valid) = (&shared.data, Some(shared.valid.as_slice()));
    let start = lie.origin.wrapping_neg();
    // SAFETY: these lanes' access is inside the memory, and the shape tells how they lie.
    unsafe { Source::new(data, valid, lie.at, start, lie.shape, width) }
}

/// Room for the bytes of one warp-wide access, lane after lane.
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
