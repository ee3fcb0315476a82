//! `wmma.load` and `wmma.store`: all lanes of a warp move a matrix between memory and their registers.

use super::{Request, next_space_of};
use crate::exec::interpret::origin;
use crate::exec::warp::Warp;
use crate::exec::{Issue, Machine};
use crate::fault::{Sink, Space, Touch};
use crate::isa::TILE_BYTES;
use crate::observer::Observer;
use crate::pattern::lanes;
use crate::program::TileAccess;
use crate::registers::{Lanes, RegisterFile};

impl<O: Observer> Machine<'_, '_, O> {
    pub(crate) fn load_tile(&mut self, warp: &mut Warp, issue: &Issue<'_>, number: u32) {
        let &Issue { at, active, ops, .. } = issue;
        let access = &self.context.program.tiles[number as usize];
        let TileAccess { tile, memory, registers } = access;
        let bytes = tile.piece_bytes();
        let start = self.addresses(warp, issue, memory, ops.src[0]);
        let stride = *warp.registers.word(ops.src[1]);
        let (mut data, mut valid) = ([0u8; TILE_BYTES], [0u8; TILE_BYTES]);
        let mut first_origin = 0;
        for piece in 0..tile.requests() {
            let addresses = piece_addresses(access, &start, &stride, piece);
            let mut left = active;
            while let Some((space, mask, own)) = next_space_of(memory.space, &addresses, &mut left) {
                let request = Request::new(Touch::Read, space, mask, &own);
                let admitted = self.admit(warp, at, &request, memory);
                self.observe(at, &request, &admitted, memory, None);
                for lane in lanes(mask).map(|l| l as usize) {
                    let (line, byte) = tile.piece(piece, lane);
                    let packed = tile.packed(line, byte);
                    let range = packed..packed + bytes;
                    if admitted.mask >> lane & 1 != 0 {
                        let place = self.place(warp, space, lane, own[lane]);
                        self.read_place(warp, place, &mut data[range.clone()], &mut valid[range.clone()]);
                        if first_origin == 0 && valid[range].iter().any(|&v| v != 0xff) {
                            first_origin = self.origin_in_memory(warp, at, &request, 1 << lane, 0);
                        }
                    } else {
                        // That it was refused has been told.
                        valid[range].fill(0xff);
                    }
                }
            }
        }
        for (index, reg) in registers.iter().enumerate() {
            let value: Lanes<u64> = std::array::from_fn(|lane| tile.gather(&data, index, lane));
            let known: Lanes<u64> = std::array::from_fn(|lane| tile.gather(&valid, index, lane));
            let whole = if reg.file == RegisterFile::Wide { u64::MAX } else { u64::from(u32::MAX) };
            let unknown =
                lanes(active).filter(|&l| known[l as usize] != whole).fold(0, |mask, l| mask | 1 << l);
            match reg.file {
                RegisterFile::Wide => warp.registers.set_wide(reg.index, &value, active),
                _ => warp.registers.set_word(reg.index, &value.map(|v| v as u32), active),
            }
            let unknown = if self.context.track_poison { unknown } else { 0 };
            self.set_poison(warp, *reg, active, unknown, first_origin);
        }
    }

    pub(crate) fn store_tile(&mut self, warp: &mut Warp, issue: &Issue<'_>, number: u32) {
        let &Issue { at, group, active, ops } = issue;
        let access = &self.context.program.tiles[number as usize];
        let TileAccess { tile, memory, registers } = access;
        let bytes = tile.piece_bytes();
        let start = self.addresses(warp, issue, memory, ops.src[0]);
        let stride = *warp.registers.word(ops.src[1]);
        let (mut data, mut known) = ([0u8; TILE_BYTES], [0u8; TILE_BYTES]);
        let mut first_unknown = None;
        for (index, reg) in registers.iter().enumerate() {
            let poisoned = self.poison_of(warp, *reg) & active;
            if poisoned != 0 {
                first_unknown.get_or_insert((poisoned, origin(self.origin_of(warp, *reg))));
            }
            let value: Lanes<u64> = match reg.file {
                RegisterFile::Wide => *warp.registers.wide(reg.index),
                _ => warp.registers.word(reg.index).map(u64::from),
            };
            for lane in lanes(active) {
                tile.scatter(&mut data, index, lane as usize, value[lane as usize]);
                let is_known = poisoned >> lane & 1 == 0;
                tile.scatter(&mut known, index, lane as usize, if is_known { u64::MAX } else { 0 });
            }
        }
        warp.groups[group].idle = 0;
        for piece in 0..tile.requests() {
            let addresses = piece_addresses(access, &start, &stride, piece);
            let mut left = active;
            while let Some((space, mask, own)) = next_space_of(memory.space, &addresses, &mut left) {
                let request = Request::new(Touch::Write, space, mask, &own);
                let admitted = self.admit(warp, at, &request, memory);
                self.observe(at, &request, &admitted, memory, None);
                if let (Space::Global, Some((poisoned, origin))) = (space, first_unknown) {
                    self.observer.poison(at, poisoned, Sink::Store, origin);
                }
                for lane in lanes(admitted.mask).map(|l| l as usize) {
                    let (line, byte) = tile.piece(piece, lane);
                    let packed = tile.packed(line, byte);
                    let place = self.place(warp, space, lane, own[lane]);
                    self.write_place(warp, place, &data[packed..packed + bytes]);
                    if space != Space::Global && known[packed..packed + bytes].iter().any(|&k| k != 0xff) {
                        self.forget_place(warp, place, &known[packed..packed + bytes]);
                        if let Some((_, origin)) = first_unknown {
                            let origin = origin.map_or(0, |pc| pc + 1);
                            self.keep_origin(warp, space, &[place.1; 32], 1, bytes as u64, origin);
                        }
                    }
                }
            }
        }
    }

    /// Marks bytes on the chip that were written with a value that nobody set.
    fn forget_place(&mut self, warp: &mut Warp, (space, address): (Space, u64), known: &[u8]) {
        let range = address as usize..address as usize + known.len();
        match space {
            Space::Shared => self.shared.valid[range].copy_from_slice(known),
            Space::Local => warp.local.valid[range].copy_from_slice(known),
            Space::Global | Space::Constant | Space::Param => {}
        }
    }
}

/// Where each lane's piece of a request is.
fn piece_addresses(
    access: &TileAccess,
    start: &Lanes<u64>,
    stride: &Lanes<u32>,
    request: usize,
) -> Lanes<u64> {
    std::array::from_fn(|lane| {
        let (line, byte) = access.tile.piece(request, lane);
        let line_bytes = access.tile.stride_bytes(u64::from(stride[lane]));
        start[lane].wrapping_add((line as u64).wrapping_mul(line_bytes)).wrapping_add(byte as u64)
    })
}
