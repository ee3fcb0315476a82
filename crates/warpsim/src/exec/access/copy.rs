//! `cp.async`: copies from global to shared memory that are pending until their group is waited for.
//!
//! The bytes are read when the copy is issued, and are put where they go by a wait of the thread that issued it. What
//! lies there until then is nobody's to read; observers are told when a copy is issued and when it has arrived.

use super::{Admitted, Request, access};
use crate::exec::warp::Warp;
use crate::exec::{Issue, Machine};
use crate::fault::{Space, Touch};
use crate::observer::{Detail, Observer, Site};
use crate::pattern::lanes;
use crate::program::{AsyncCopy, AsyncSize, Memory};
use crate::registers::Lanes;

/// Copies that the lanes of a warp have in flight.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    pending: Vec<Pending>,
    /// Groups that each lane has committed.
    committed: [u32; 32],
}

/// What one instruction copies.
#[derive(Debug)]
struct Pending {
    pc: u32,
    /// Index of the instruction among the program's copies.
    number: u32,
    /// Lanes whose copy is in flight.
    mask: u32,
    /// The group it belongs to: each lane's number of committed groups when it was issued.
    group: [u32; 32],
    to: Lanes<u64>,
    data: [[u8; 16]; 32],
    valid: [[u8; 16]; 32],
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
    pub(crate) fn async_copy(&mut self, warp: &mut Warp, issue: &Issue<'_>, number: u32) {
        let &Issue { at, active, ops, .. } = issue;
        let program = self.context.program;
        let copy = &program.copies[number as usize];
        let to = self.addresses(warp, issue, &copy.to, ops.src[0]);
        let from = self.addresses(warp, issue, &copy.from, ops.src[1]);
        let to = copied(Touch::Write, Space::Shared, active, &to);
        let written = self.admit(warp, at, &to, &copy.to);
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
            let source = copied(Touch::Read, Space::Global, whole, &from);
            let admitted = self.admit(warp, at, &source, &copy.from);
            self.observe(at, &source, &admitted, &copy.from, None);
            read = admitted.mask;
        }
        for bytes in 1..copy.bytes {
            read |= self.read_in_pieces(warp, at, &copy.from, &from, of_size(bytes), bytes);
        }
        // The source may have taken its layout's place in the cache.
        if mask != 0 {
            let layout = self.layouts.find(at.pc, copy.to.width(), mask, to.addresses);
            self.observe(at, &to, &Admitted { mask, layout }, &copy.to, None);
        }
        let (mut data, mut valid) = ([[0; 16]; 32], [[0xff; 16]; 32]);
        for lane in lanes(mask) {
            let l = lane as usize;
            if read >> lane & 1 != 0 {
                let length = usize::from(size[l]);
                let into = (&mut data[l][..length], &mut valid[l][..length]);
                self.read_place(warp, (Space::Global, from[l]), into.0, into.1);
            } else if reading >> lane & 1 != 0 {
                valid[l] = [0; 16];
            }
            // Whoever reads it too early is told of the copy, and not also that nothing was written.
            let start = to.addresses[l] as usize;
            self.shared.valid[start..start + usize::from(copy.bytes)].fill(0xff);
        }
        let unwritten =
            lanes(read).filter(|&l| valid[l as usize][..usize::from(size[l as usize])].contains(&0));
        let unwritten = unwritten.fold(0, |mask, lane| mask | 1 << lane);
        if unwritten != 0 && self.context.track_poison {
            self.observer.unwritten(at, Space::Global, unwritten, &from);
        }
        if mask != 0 {
            let group = warp.copies.committed;
            let to = *to.addresses;
            warp.copies.pending.push(Pending { pc: at.pc, number, mask, group, to, data, valid });
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
            let request = copied(Touch::Read, Space::Global, mask, &addresses);
            let piece = Memory { bytes: piece, ..*memory };
            let admitted = self.admit(warp, at, &request, &piece);
            self.observe(at, &request, &admitted, &piece, None);
            mask = admitted.mask;
            done += u64::from(piece.bytes);
        }
        mask
    }

    /// `cp.async.wait_group` and `wait_all`.
    pub(crate) fn async_wait(&mut self, warp: &mut Warp, pending: Option<u32>, mask: u32) {
        let Copies { pending: copies, committed } = &mut warp.copies;
        for copy in copies.iter_mut() {
            let is_done = |lane: usize| match pending {
                Some(n) => committed[lane] - copy.group[lane] > n,
                None => true,
            };
            let done = lanes(copy.mask & mask)
                .filter(|lane| is_done(*lane as usize))
                .fold(0, |done, lane| done | 1 << lane);
            if done != 0 {
                self.put_copy(warp.index, copy, done);
                copy.mask &= !done;
            }
        }
        copies.retain(|copy| copy.mask != 0);
    }

    /// Copies of the lanes in `done` arrive.
    fn put_copy(&mut self, warp: u32, copy: &Pending, done: u32) {
        let AsyncCopy { bytes, to: memory, .. } = &self.context.program.copies[copy.number as usize];
        let bytes = usize::from(*bytes);
        for lane in lanes(done).map(|lane| lane as usize) {
            let range = copy.to[lane] as usize..copy.to[lane] as usize + bytes;
            self.shared.data[range.clone()].copy_from_slice(&copy.data[lane][..bytes]);
            self.shared.valid[range].copy_from_slice(&copy.valid[lane][..bytes]);
            if copy.valid[lane][..bytes].contains(&0) {
                self.shared.origins.put(copy.to[lane], bytes as u64, copy.pc + 1);
            }
        }
        if O::detail() == Detail::Faults {
            return;
        }
        let at = Site { block: self.block, warp, pc: copy.pc };
        let request = copied(Touch::Write, Space::Shared, done, &copy.to);
        let layout = self.layouts.find(copy.pc, memory.width(), done, &copy.to);
        let admitted = Admitted { mask: done, layout };
        let layout = self.layouts.aligned(layout, admitted.first(&request));
        self.observer.copy_arrived(at, &access(&request, &admitted, layout, memory, None));
    }
}

/// A request of a copy.
fn copied(touch: Touch, space: Space, mask: u32, addresses: &Lanes<u64>) -> Request<'_> {
    Request { is_async: true, ..Request::new(touch, space, mask, addresses) }
}
