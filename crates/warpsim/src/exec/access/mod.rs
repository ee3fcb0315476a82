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

pub(crate) use copy::Copies;

use crate::exec::interpret::origin;
use crate::exec::warp::Warp;
use crate::exec::{Issue, Machine};
use crate::fault::{Sink, Space, Touch};
use crate::memory::window;
use crate::observer::{Access, Addresses, BadAccess, Detail, Observer, Order, Scope, Site};
use crate::pattern::lanes;
use crate::program::{Memory, Register};
use crate::registers::{FULL, Lanes, RegisterFile};
use layout::{Layout, Words};

/// Lanes of an access that go to one space.
pub(crate) struct Request<'a> {
    pub(crate) touch: Touch,
    pub(crate) space: Space,
    /// Never 0.
    pub(crate) mask: u32,
    /// In that space.
    pub(crate) addresses: &'a Lanes<u64>,
    /// Whether a copy does it that its instruction only issues.
    pub(crate) is_async: bool,
}

impl Request<'_> {
    pub(crate) fn new(touch: Touch, space: Space, mask: u32, addresses: &Lanes<u64>) -> Request<'_> {
        Request { touch, space, mask, addresses, is_async: false }
    }
}

/// The lanes of a [`Request`] whose access is inside its memory and aligned.
#[derive(Clone, Copy)]
pub(crate) struct Admitted {
    pub(crate) mask: u32,
    /// The number of these lanes' layout; means nothing if there are none.
    pub(crate) layout: u32,
}

impl Admitted {
    /// The address of the first lane.
    pub(crate) fn first(&self, request: &Request<'_>) -> u64 {
        request.addresses[self.mask.trailing_zeros() as usize % 32]
    }
}

impl<O: Observer> Machine<'_, '_, O> {
    /// The addresses that the lanes of a memory instruction name, its base in register `base`.
    #[inline(always)]
    pub(crate) fn addresses(
        &mut self,
        warp: &Warp,
        issue: &Issue<'_>,
        memory: &Memory,
        base: u16,
    ) -> Lanes<u64> {
        let frame = if memory.in_frame {
            i64::from(warp.frames[warp.groups[issue.group].frame as usize].local_base)
        } else {
            0
        };
        let offset = memory.offset.wrapping_add(frame) as u64;
        if let Some(file) = memory.base
            && warp.registers.tainted
        {
            let reg = Register { file, index: base };
            let lanes = self.poison_of(warp, reg) & issue.active;
            if lanes != 0 {
                self.observer.poison(issue.at, lanes, Sink::Address, origin(self.origin_of(warp, reg)));
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

    /// Where a full warp's words are, `offset` bytes after the addresses in `base`, if they lie as at the last access of
    /// instruction `pc`: what kernels do most.
    #[inline(always)]
    pub(crate) fn words(&self, warp: &Warp, pc: u32, base: Register, offset: i64) -> Option<Words> {
        if base.file == RegisterFile::Wide {
            self.layouts.words(pc, warp.registers.wide(base.index), offset)
        } else {
            self.layouts.words(pc, warp.registers.word(base.index), offset)
        }
    }

    /// The lanes of an access (one at least) that are inside their memory and aligned; reports the others.
    #[inline(always)]
    pub(crate) fn admit(
        &mut self,
        warp: &Warp,
        at: Site,
        request: &Request<'_>,
        memory: &Memory,
    ) -> Admitted {
        let width = memory.width();
        let layout = self.layouts.find(at.pc, width, request.mask, request.addresses);
        let all = Admitted { mask: request.mask, layout };
        let first = all.first(request);
        let bounds = match request.space {
            Space::Global => self.view.bounds(first, u64::from(width)),
            _ => self.length(warp, request).checked_sub(u64::from(width)).map(|last| (0, last)),
        };
        let layout = self.layouts.layout(layout);
        if bounds.is_some_and(|(start, last)| layout.fits(first, first.wrapping_sub(start), last)) {
            return all;
        }
        match self.refuse(warp, at, request, u64::from(width)) {
            0 => Admitted { mask: 0, ..all },
            mask => Admitted { mask, layout: self.layouts.find(at.pc, width, mask, request.addresses) },
        }
    }

    /// Bytes of a memory other than global memory that an access may touch.
    fn length(&self, warp: &Warp, request: &Request<'_>) -> u64 {
        let reads = request.touch == Touch::Read;
        let length = match request.space {
            Space::Shared => self.shared.bytes,
            Space::Local => warp.local.stride as usize,
            Space::Constant if reads => self.context.constant.len(),
            Space::Param if reads => self.context.params.len(),
            _ => 0,
        };
        length as u64
    }

    /// Reports the lanes whose access cannot be carried out, and returns the others.
    #[cold]
    fn refuse(&mut self, warp: &Warp, at: Site, request: &Request<'_>, width: u64) -> u32 {
        let &Request { touch, space, .. } = request;
        let mut admitted = request.mask;
        for lane in lanes(request.mask) {
            let address = request.addresses[lane as usize];
            let is_inside = |address: u64| match space {
                // Lanes may be in different buffers.
                Space::Global => self.view.locate(address, width).is_some(),
                Space::Shared if self.shared.reserved.contains(&address) => true,
                _ => self.length(warp, request).checked_sub(width).is_some_and(|last| address <= last),
            };
            let aligned = address & (width - 1) == 0;
            if aligned && is_inside(address) {
                continue;
            }
            admitted &= !(1 << lane);
            let bytes = width as u32;
            // Also if it begins in the last bytes of a buffer, and passes the end only because of that.
            let misaligned = !aligned && (is_inside(address) || is_inside(address & !(width - 1)));
            self.observer.bad_access(at, &BadAccess { touch, space, bytes, lane, address, misaligned });
        }
        admitted
    }

    /// Reports an access to the observer.
    #[inline(always)]
    pub(crate) fn observe(
        &mut self,
        at: Site,
        request: &Request<'_>,
        admitted: &Admitted,
        memory: &Memory,
        values: Option<&Lanes<u64>>,
    ) {
        if O::detail() == Detail::Faults || admitted.mask == 0 || request.space == Space::Param {
            return;
        }
        let layout = self.layouts.aligned(admitted.layout, admitted.first(request));
        self.observer.access(at, &access(request, admitted, layout, memory, values));
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

/// An access as observers see it.
#[inline(always)]
pub(crate) fn access<'a>(
    request: &Request<'a>,
    admitted: &Admitted,
    layout: &'a Layout,
    memory: &Memory,
    values: Option<&'a Lanes<u64>>,
) -> Access<'a> {
    Access {
        touch: request.touch,
        space: request.space,
        bytes: memory.width(),
        mask: admitted.mask,
        addresses: request.addresses.into(),
        pattern: &layout.pattern,
        order: memory.order,
        scope: memory.scope,
        is_async: request.is_async,
        values,
    }
}

/// An ordinary access by a full warp to words.
#[inline(always)]
pub(crate) fn access_of_words<'a>(
    touch: Touch,
    space: Space,
    scope: Scope,
    first: u64,
    layout: &'a Layout,
) -> Access<'a> {
    Access {
        touch,
        space,
        bytes: 4,
        mask: FULL,
        addresses: Addresses::new(first, &layout.relative),
        pattern: &layout.pattern,
        order: Order::Weak,
        scope,
        is_async: false,
        values: None,
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
    let mask = lanes(*left)
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
