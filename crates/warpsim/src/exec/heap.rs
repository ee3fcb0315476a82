//! `malloc` and `free` of device code.
//!
//! The heap is a buffer of its own. No place in it is handed out twice: what a thread does with memory that another one
//! freed would look like a race, for only the allocator orders the two. What a launch may hold at a time is limited as
//! on hardware. The allocator keeps its numbers in the heap itself, so that they last as long as what they tell of.

use super::warp::Warp;
use super::{Machine, Stop};
use crate::fault::{Refused, Space};
use crate::memory::window;
use crate::observer::{Observer, Site};
use crate::pattern::lanes;
use crate::program::{Call, Place};

/// Bytes that may be in use at a time: `cudaLimitMallocHeapSize` as it is by default.
const LIMIT: u64 = 8 << 20;
/// Places are multiples of this, as are their headers' sizes.
const UNIT: u64 = 16;
/// At the start of the heap: bytes handed out so far, and bytes in use.
const GIVEN: u64 = 0;
const USED: u64 = 8;
/// In the header of what was handed out, behind its size.
const LIVE: u64 = 0x4556_494c_5041_4548;
const FREED: u64 = 0x4445_4552_4650_4148;

impl<O: Observer> Machine<'_, '_, O> {
    /// `malloc(bytes)` for each lane, in order.
    pub(crate) fn malloc(&mut self, warp: &mut Warp, group: usize, call: &Call, active: u32) {
        let mut pointers = [0; 32];
        for lane in lanes(active) {
            let bytes = self.argument(warp, group, call, 0, lane);
            pointers[lane as usize] = self.allocate(bytes).unwrap_or(0);
        }
        match call.results.first() {
            Some(Place::Local { offset, .. }) => {
                let base = warp.frames[warp.groups[group].frame as usize].local_base + offset;
                for lane in lanes(active) {
                    let place = self.place(warp, Space::Local, lane as usize, u64::from(base));
                    self.write_place(warp, place, &pointers[lane as usize].to_le_bytes());
                }
            }
            Some(Place::Register(reg)) => super::call::set_values(warp, *reg, &pointers, active),
            None => {}
        }
    }

    /// `free(pointer)` for each lane, in order.
    pub(crate) fn free(
        &mut self,
        warp: &mut Warp,
        group: usize,
        at: Site,
        call: &Call,
        active: u32,
    ) -> Result<(), Stop> {
        for lane in lanes(active) {
            let pointer = self.argument(warp, group, call, 0, lane);
            if pointer != 0 && self.release(pointer).is_none() {
                return Err(Stop::Refused(at, lane, Refused::Free { pointer }));
            }
        }
        Ok(())
    }

    /// A place for `bytes` bytes; `None` if there is no room, or nothing is asked for.
    fn allocate(&mut self, bytes: u64) -> Option<u64> {
        let size = bytes.checked_next_multiple_of(UNIT).filter(|&size| size != 0 && size <= LIMIT)?;
        // The kernel may have written anything over these numbers.
        let used = self.heap_number(USED)?.checked_add(size)?;
        let header = self.heap_number(GIVEN)?.max(UNIT);
        let end = header.checked_add(UNIT + size)?;
        // Looks whether the last byte is still inside.
        self.heap_number(end - 8).filter(|_| used <= LIMIT)?;
        for (offset, value) in [(GIVEN, end), (USED, used), (header, size), (header + 8, LIVE)] {
            self.set_heap_number(offset, value)?;
        }
        Some(self.heap_address()? + header + UNIT)
    }

    /// Takes a place back; `None` if it was not handed out.
    fn release(&mut self, pointer: u64) -> Option<()> {
        let header = pointer.checked_sub(self.heap_address()?)?.checked_sub(UNIT)?;
        let is_place = header >= UNIT && header.is_multiple_of(UNIT) && header < self.heap_number(GIVEN)?;
        if !is_place || self.heap_number(header + 8)? != LIVE {
            return None;
        }
        let used = self.heap_number(USED)?.saturating_sub(self.heap_number(header)?);
        self.set_heap_number(USED, used)?;
        self.set_heap_number(header + 8, FREED)
    }

    fn heap_address(&self) -> Option<u64> {
        let variable = self.context.program.heap? as usize;
        Some(window::buffer_address(self.context.first_global + variable))
    }

    fn heap_number(&self, offset: u64) -> Option<u64> {
        let (buffer, offset) = self.view.locate(self.heap_address()?.checked_add(offset)?, 8)?;
        let (mut raw, mut valid) = ([0; 8], [0; 8]);
        self.view.read(buffer, offset, &mut raw, &mut valid);
        Some(u64::from_le_bytes(raw))
    }

    fn set_heap_number(&mut self, offset: u64, value: u64) -> Option<()> {
        let (buffer, offset) = self.view.locate(self.heap_address()?.checked_add(offset)?, 8)?;
        self.view.write(buffer, offset, &value.to_le_bytes());
        Some(())
    }
}
