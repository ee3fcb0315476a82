//! `cp.async`: copies from global to shared memory that are pending until their group is waited for.
//!
//! The bytes are read when the copy is issued, and the destination counts as unwritten until a wait puts them
//! there: reading it before is a use of a value that nothing wrote.

use super::{Admitted, Part};
use crate::exec::Machine;
use crate::exec::warp::Warp;
use crate::fault::{Space, Touch};
use crate::observer::{Access, Observer, Order, Site};
use crate::pattern::lanes;
use crate::program::{AsyncCopy, AsyncSize, Memory};
use crate::registers::{Lanes, Operands};

/// Copies that the lanes of a warp have in flight.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    pending: Vec<Pending>,
    /// Groups that each lane has committed.
    committed: [u32; 32],
}

#[derive(Debug)]
struct Pending {
    lane: u32,
    /// The group it belongs to: the lane's number of committed groups when it was issued.
    group: u32,
    to: u64,
    data: [u8; 16],
    valid: [u8; 16],
    bytes: u8,
}

impl Copies {
    pub(crate) fn clear(&mut self) {
        self.pending.clear();
        self.committed = [0; 32];
    }

    /// `cp.async.commit_group`.
    pub(crate) fn commit(&mut self, mask: u32) {
        for lane in lanes(mask) {
            self.committed[lane as usize] += 1;
        }
    }
}

impl<O: Observer> Machine<'_, '_, O> {
    pub(crate) fn async_copy(
        &mut self,
        warp: &mut Warp,
        fragment: usize,
        at: Site,
        copy: &AsyncCopy,
        ops: &Operands,
        active: u32,
    ) {
        let to = self.addresses(warp, fragment, at, &copy.to, ops.src[0], active);
        let from = self.addresses(warp, fragment, at, &copy.from, ops.src[1], active);
        let to = Part { space: Space::Shared, mask: active, addresses: &to };
        let written = self.admit(warp, at, Touch::Write, &to, &copy.to);
        let mask = written.mask;
        let size: [u8; 32] = match copy.size {
            AsyncSize::All => [copy.bytes; 32],
            AsyncSize::Register => {
                warp.registers.word(ops.src[2]).map(|n| n.min(u32::from(copy.bytes)) as u8)
            }
            AsyncSize::IgnoreIf => {
                let ignore = warp.registers.pred(ops.src[2]);
                std::array::from_fn(|lane| if ignore >> lane & 1 != 0 { 0 } else { copy.bytes })
            }
        };
        // Lanes that read nothing need no valid source, and those that read less need only so much.
        let of_size = |n: u8| lanes(mask).filter(|&l| size[l as usize] == n).fold(0, |m, l| m | 1 << l);
        let reading = mask & !of_size(0);
        let whole = of_size(copy.bytes);
        let mut read = 0;
        if whole != 0 {
            let source = Part { space: Space::Global, mask: whole, addresses: &from };
            let admitted = self.admit(warp, at, Touch::Read, &source, &copy.from);
            self.observe_async(at, Touch::Read, &source, &admitted, &copy.from);
            read = admitted.mask;
        }
        for bytes in 1..copy.bytes {
            read |= self.read_in_pieces(warp, at, &copy.from, &from, of_size(bytes), bytes);
        }
        // The source had the cache's attention since.
        let written =
            Admitted { shape: self.patterns.shape(at.pc, copy.to.width(), mask, to.addresses), ..written };
        self.observe_async(at, Touch::Write, &to, &written, &copy.to);
        for lane in lanes(mask) {
            let l = lane as usize;
            let bytes = usize::from(copy.bytes);
            let (mut data, mut valid) = ([0; 16], [0xff; 16]);
            if read >> lane & 1 != 0 {
                let length = usize::from(size[l]);
                self.read_place(warp, (Space::Global, from[l]), &mut data[..length], &mut valid[..length]);
            } else if reading >> lane & 1 != 0 {
                valid = [0; 16];
            }
            let start = to.addresses[l] as usize;
            self.shared.valid[start..start + bytes].fill(0);
            let group = warp.copies.committed[l];
            warp.copies.pending.push(Pending {
                lane,
                group,
                to: to.addresses[l],
                data,
                valid,
                bytes: copy.bytes,
            });
        }
    }

    /// The lanes of `mask` for which the `bytes` bytes from their address on may be read, however many: they are
    /// taken in pieces that accesses can have.
    fn read_in_pieces(
        &mut self,
        warp: &Warp,
        at: Site,
        memory: &Memory,
        from: &Lanes<u64>,
        mut mask: u32,
        bytes: u8,
    ) -> u32 {
        let mut done = 0;
        for piece in [8, 4, 2, 1].into_iter().filter(|piece| bytes & piece != 0) {
            if mask == 0 {
                break;
            }
            let addresses = from.map(|a| a.wrapping_add(done));
            let part = Part { space: Space::Global, mask, addresses: &addresses };
            let piece = Memory { bytes: piece, ..*memory };
            let admitted = self.admit(warp, at, Touch::Read, &part, &piece);
            self.observe_async(at, Touch::Read, &part, &admitted, &piece);
            mask = admitted.mask;
            done += u64::from(piece.bytes);
        }
        mask
    }

    /// `cp.async.wait_group` and `wait_all`.
    pub(crate) fn async_wait(&mut self, warp: &mut Warp, pending: Option<u32>, mask: u32) {
        let committed = warp.copies.committed;
        let shared = &mut self.shared;
        warp.copies.pending.retain(|copy| {
            let done = match pending {
                Some(n) => committed[copy.lane as usize] - copy.group > n,
                None => true,
            };
            let done = done && mask >> copy.lane & 1 != 0;
            if done {
                let range = copy.to as usize..copy.to as usize + usize::from(copy.bytes);
                shared.data[range.clone()].copy_from_slice(&copy.data[..usize::from(copy.bytes)]);
                shared.valid[range].copy_from_slice(&copy.valid[..usize::from(copy.bytes)]);
            }
            !done
        });
    }

    fn observe_async(
        &mut self,
        at: Site,
        touch: Touch,
        part: &Part<'_>,
        admitted: &Admitted,
        memory: &Memory,
    ) {
        if O::SILENT || admitted.mask == 0 {
            return;
        }
        let bytes = memory.width();
        let first = part.addresses[admitted.mask.trailing_zeros() as usize % 32];
        let pattern = self.patterns.pattern(&admitted.shape, first);
        let access = Access {
            touch,
            space: part.space,
            bytes,
            mask: admitted.mask,
            addresses: part.addresses.into(),
            pattern,
            order: Order::Weak,
            scope: memory.scope,
            is_async: true,
            values: None,
        };
        self.observer.access(at, &access);
    }
}
