//! Memory on the chip: a block's shared memory, and the threads' local memory.

use std::ops::Range;

use super::bytes::{Located, LocatedMut};
use super::layout::Layout;
use super::origin::Origins;
use crate::registers::Lanes;

/// Data, and for each byte 0xFF once it is written.
#[derive(Debug)]
pub(crate) struct SharedMemory {
    pub(crate) data: Vec<u8>,
    pub(crate) valid: Vec<u8>,
    pub(crate) origins: Origins,
    /// How much of it is the kernel's.
    pub(crate) bytes: usize,
    /// What the system keeps for itself; it is zero when a block starts.
    pub(crate) reserved: Range<u64>,
}

impl SharedMemory {
    pub(crate) fn new(bytes: usize, reserved: Range<u64>) -> SharedMemory {
        let all = reserved.end as usize;
        let (data, valid, origins) = (vec![0; all], vec![0; all], Origins::default());
        let mut memory = SharedMemory { data, valid, origins, bytes, reserved };
        memory.valid[memory.reserved.start as usize..].fill(0xff);
        memory
    }

    /// The lanes' bytes, the first one's at `first`, if all are the kernel's and aligned, wherever they are moved in
    /// `room`.
    #[inline(always)]
    pub(crate) fn locate<'m>(
        &'m self,
        layout: &'m Layout,
        first: u64,
        room: [i64; 2],
    ) -> Option<Located<'m>> {
        let (data, valid) = (&self.data[..self.bytes], &self.valid[..self.bytes]);
        if !layout.is_aligned(first | room[0] as u64 | room[1] as u64) {
            return None;
        }
        Located::new(layout, first, room, data, Some(valid))
    }

    /// A full warp's words, for writing; `track`: mark what is written.
    #[inline(always)]
    pub(crate) fn locate_mut<'m>(
        &'m mut self,
        layout: &'m Layout,
        first: u64,
        track: bool,
    ) -> Option<LocatedMut<'m>> {
        if !layout.is_aligned(first) {
            return None;
        }
        let valid = if track { &mut self.valid[..self.bytes] } else { &mut [] };
        LocatedMut::new(layout, first, &mut self.data[..self.bytes], valid)
    }

    /// Fresh memory for the next block.
    pub(crate) fn reset(&mut self) {
        self.data.fill(0);
        self.valid[..self.bytes].fill(0);
        self.origins.clear();
    }
}

/// The local memory of a warp's threads, lane after lane, `stride` bytes each.
#[derive(Debug, Default)]
pub(crate) struct LocalMemory {
    pub(crate) data: Vec<u8>,
    pub(crate) valid: Vec<u8>,
    pub(crate) origins: Origins,
    pub(crate) stride: u32,
}

impl LocalMemory {
    /// Fresh memory for the threads of the next block. What an earlier one left there, and how much room its calls
    /// needed, is never seen: which blocks run one after another depends on the number of workers.
    pub(crate) fn reset(&mut self, stride: u32) {
        for memory in [&mut self.data, &mut self.valid] {
            memory.clear();
            memory.resize(32 * stride as usize, 0);
        }
        self.origins.clear();
        self.stride = stride;
    }

    /// Gives every lane `stride` bytes, keeping what is there.
    pub(crate) fn grow(&mut self, stride: u32) {
        let (old, new) = (self.stride as usize, stride as usize);
        for memory in [&mut self.data, &mut self.valid] {
            let mut grown = vec![0; new * 32];
            for lane in 0..32 {
                grown[lane * new..lane * new + old].copy_from_slice(&memory[lane * old..(lane + 1) * old]);
            }
            *memory = grown;
        }
        self.origins.clear();
        self.stride = stride;
    }

    /// Where addresses of each lane's memory are in `data`.
    pub(crate) fn places(&self, addresses: &Lanes<u64>) -> Lanes<u64> {
        std::array::from_fn(|lane| addresses[lane].wrapping_add(lane as u64 * u64::from(self.stride)))
    }

    /// Marks bytes of some lanes as never written.
    pub(crate) fn invalidate(&mut self, base: u32, bytes: u32, mask: u32) {
        self.origins.clear();
        for lane in crate::pattern::lanes(mask) {
            let start = (lane * self.stride + base) as usize;
            self.valid[start..start + bytes as usize].fill(0);
        }
    }
}
