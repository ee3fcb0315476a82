//! What loads, stores and atomics have in common: addresses, the check of bounds and alignment, and telling
//! observers.

mod atomic;
pub(crate) mod bytes;
mod copy;
pub(crate) mod layout;
pub(crate) mod load;
pub(crate) mod on_chip;
mod origin;
mod store;
mod tile;
pub(crate) mod word;

pub(crate) use copy::Copies;

use crate::exec::Machine;
use crate::exec::interpret::origin;
use crate::exec::warp::Warp;
use crate::fault::{Sink, Space, Touch};
use crate::memory::window;
use crate::observer::{Access, BadAccess, Detail, Observer, Site};
use crate::pattern::Shape;
use crate::program::{Memory, Register};
use crate::registers::{Lanes, RegisterFile};

/// Lanes of an access that go to one space, with addresses in that space.
pub(crate) struct Part<'a> {
    pub(crate) space: Space,
    pub(crate) mask: u32,
    pub(crate) addresses: &'a Lanes<u64>,
}

/// The lanes of a [`Part`] whose access is inside its memory and aligned.
#[derive(Clone, Copy)]
pub(crate) struct Admitted {
    pub(crate) mask: u32,
    /// How these lanes' accesses lie; means nothing if there are none.
    pub(crate) shape: Shape,
}

impl<O: Observer> Machine<'_, '_, O> {
    /// The addresses that the lanes of a memory instruction name.
    #[inline(always)]
    pub(crate) fn addresses(
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
            let reg = Register { file: class, index: base };
            let lanes = self.poison_of(warp, reg) & active;
            if lanes != 0 {
                self.observer.poison(at, lanes, Sink::Address, origin(self.origin_of(warp, reg)));
            }
        }
        let mut addresses = [offset; 32];
        match memory.base {
            None => {}
            Some(RegisterFile::Wide) => {
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

    /// The lanes of an access (one at least) that are inside their memory and aligned; tells of the others.
    #[inline(always)]
    pub(crate) fn admit(
        &mut self,
        warp: &Warp,
        at: Site,
        touch: Touch,
        part: &Part<'_>,
        memory: &Memory,
    ) -> Admitted {
        let width = memory.width();
        let shape = self.patterns.shape(at.pc, width, part.mask, part.addresses);
        let first = part.addresses[part.mask.trailing_zeros() as usize % 32];
        let bounds = match part.space {
            Space::Global => self.view.bounds(first, u64::from(width)),
            space => self.length(warp, touch, space).checked_sub(u64::from(width)).map(|last| (0, last)),
        };
        if bounds.is_some_and(|(start, last)| shape.fits(first, first.wrapping_sub(start), last, width)) {
            return Admitted { mask: part.mask, shape };
        }
        let mask = self.refuse(warp, at, touch, part, u64::from(width));
        let shape = match mask {
            0 => shape,
            mask => self.patterns.shape(at.pc, width, mask, part.addresses),
        };
        Admitted { mask, shape }
    }

    /// Bytes of a memory other than global memory that an access may touch.
    fn length(&self, warp: &Warp, touch: Touch, space: Space) -> u64 {
        let length = match space {
            Space::Shared => self.shared.bytes,
            Space::Local => warp.local.stride as usize,
            Space::Constant if touch == Touch::Read => self.context.constant.len(),
            Space::Param if touch == Touch::Read => self.context.params.len(),
            _ => 0,
        };
        length as u64
    }

    /// Tells of the lanes whose access cannot be carried out, and returns the others.
    #[cold]
    fn refuse(&mut self, warp: &Warp, at: Site, touch: Touch, part: &Part<'_>, width: u64) -> u32 {
        let mut admitted = part.mask;
        for lane in crate::pattern::lanes(part.mask) {
            let address = part.addresses[lane as usize];
            let is_inside = |address: u64| match part.space {
                // Lanes may be in different buffers.
                Space::Global => self.view.locate(address, width).is_some(),
                Space::Shared if self.shared.reserved.contains(&address) => true,
                space => {
                    self.length(warp, touch, space).checked_sub(width).is_some_and(|last| address <= last)
                }
            };
            let aligned = address & (width - 1) == 0;
            if aligned && is_inside(address) {
                continue;
            }
            admitted &= !(1 << lane);
            let bytes = width as u32;
            // Also if it begins in the last bytes of a buffer, and passes the end only because of that.
            let misaligned = !aligned && (is_inside(address) || is_inside(address & !(width - 1)));
            self.observer
                .bad_access(at, &BadAccess { touch, space: part.space, bytes, lane, address, misaligned });
        }
        admitted
    }

    /// Tells the observer of an access.
    #[inline(always)]
    pub(crate) fn observe(
        &mut self,
        at: Site,
        touch: Touch,
        part: &Part,
        admitted: &Admitted,
        memory: &Memory,
        values: Option<&Lanes<u64>>,
    ) {
        if O::detail() == Detail::Faults || admitted.mask == 0 || part.space == Space::Param {
            return;
        }
        let bytes = memory.width();
        let first = part.addresses[admitted.mask.trailing_zeros() as usize % 32];
        let pattern = self.patterns.pattern(&admitted.shape, first);
        self.observer.access(
            at,
            &Access {
                touch,
                space: part.space,
                bytes,
                mask: admitted.mask,
                addresses: part.addresses.into(),
                pattern,
                order: memory.order,
                scope: memory.scope,
                is_async: false,
                values,
            },
        );
    }

    /// Where a single lane's address is.
    pub(crate) fn place(&self, warp: &Warp, space: Space, lane: usize, address: u64) -> (Space, u64) {
        match space {
            Space::Local => (space, lane as u64 * u64::from(warp.local.stride) + address),
            _ => (space, address),
        }
    }

    /// Reads bytes that [`Self::admit`] let pass.
    pub(crate) fn read_place(
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
    pub(crate) fn write_place(&mut self, warp: &mut Warp, (space, address): (Space, u64), bytes: &[u8]) {
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

    fn poison_index(&self, warp: &Warp, reg: Register) -> usize {
        let size = self.context.program.functions[warp.function() as usize].registers;
        warp.registers.base.poison + size.unified(reg) as usize
    }

    /// Lanes of a register that hold nothing anyone set.
    pub(crate) fn poison_of(&self, warp: &Warp, reg: Register) -> u32 {
        if !warp.registers.tainted {
            return 0;
        }
        warp.registers.poison[self.poison_index(warp, reg)]
    }

    pub(crate) fn origin_of(&self, warp: &Warp, reg: Register) -> u32 {
        warp.registers.origin[self.poison_index(warp, reg)]
    }

    /// Sets which of the lanes in `mask` of a register are poisoned, and where that came from: 0, or 1 more than the
    /// instruction that read what nothing had written.
    #[inline(always)]
    pub(crate) fn set_poison(&self, warp: &mut Warp, reg: Register, mask: u32, poisoned: u32, origin: u32) {
        if poisoned != 0 || warp.registers.tainted {
            self.record_poison(warp, reg, mask, poisoned, origin);
        }
    }

    #[cold]
    fn record_poison(&self, warp: &mut Warp, reg: Register, mask: u32, poisoned: u32, origin: u32) {
        if !self.context.track_poison {
            return;
        }
        let index = self.poison_index(warp, reg);
        if poisoned != 0 {
            warp.registers.taint();
            warp.registers.origin[index] = origin;
        }
        let slot = &mut warp.registers.poison[index];
        *slot = (*slot & !mask) | (poisoned & mask);
    }
}

/// Register number `index` of the values that a memory instruction moves.
pub(crate) fn value_register(
    lists: &[Register],
    memory: &Memory,
    single: u16,
    list: u32,
    index: usize,
) -> Register {
    if memory.count == 1 {
        Register { file: memory.class, index: single }
    } else {
        lists[list as usize + index]
    }
}

/// Of the lanes left of a generic access, those that go to the same space as the first one, with their addresses
/// in that space.
pub(crate) fn next_space(addresses: &Lanes<u64>, left: &mut u32) -> Option<(Space, u32, Lanes<u64>)> {
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
pub(crate) fn next_space_of(
    space: Option<Space>,
    addresses: &Lanes<u64>,
    left: &mut u32,
) -> Option<(Space, u32, Lanes<u64>)> {
    let Some(space) = space else { return next_space(addresses, left) };
    let mask = std::mem::take(left);
    (mask != 0).then_some((space, mask, *addresses))
}
