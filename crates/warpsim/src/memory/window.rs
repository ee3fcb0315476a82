//! The simulated address space.
//!
//! Every buffer sits alone in the middle of a 16 GiB window, so that an overshoot of less than 8 GiB in either
//! direction still tells which buffer was meant. Below the first window lie the windows through which generic
//! addresses reach shared, local, constant and parameter memory; address 0 belongs to nothing.

use crate::fault::Space;

const BUFFER_BITS: u32 = 34;
const MIDDLE: u64 = 1 << (BUFFER_BITS - 1);

const SHARED: u64 = 0x0_8000_0000;
const LOCAL: u64 = 0x1_0000_0000;
const CONSTANT: u64 = 0x1_8000_0000;
const PARAM: u64 = 0x2_0000_0000;
const LENGTH: u64 = 0x8000_0000;

/// The device address of byte 0 of buffer `index`.
pub(crate) fn buffer_address(index: usize) -> u64 {
    ((index as u64 + 1) << BUFFER_BITS) + MIDDLE
}

/// The buffer whose window holds `address`, and the offset from its byte 0 (negative before it).
#[inline(always)]
pub(crate) fn buffer_offset(address: u64) -> Option<(usize, i64)> {
    let window = address >> BUFFER_BITS;
    if window == 0 {
        return None;
    }
    let start = (window << BUFFER_BITS) + MIDDLE;
    Some((window as usize - 1, address.wrapping_sub(start) as i64))
}

/// The space that a generic address points into, and the address within that space.
#[inline(always)]
pub(crate) fn generic(address: u64) -> (Space, u64) {
    match address {
        SHARED..LOCAL => (Space::Shared, address - SHARED),
        LOCAL..CONSTANT => (Space::Local, address - LOCAL),
        CONSTANT..PARAM => (Space::Constant, address - CONSTANT),
        _ if (PARAM..PARAM + LENGTH).contains(&address) => (Space::Param, address - PARAM),
        _ => (Space::Global, address),
    }
}

/// What to add to an address in `space` to make it generic.
pub(crate) fn generic_base(space: Space) -> u64 {
    match space {
        Space::Global => 0,
        Space::Shared => SHARED,
        Space::Local => LOCAL,
        Space::Constant => CONSTANT,
        Space::Param => PARAM,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overshoots_name_the_buffer_they_left() {
        for index in [0, 1, 77] {
            let start = buffer_address(index);
            assert_eq!(start % 256, 0);
            assert_eq!(buffer_offset(start), Some((index, 0)));
            assert_eq!(buffer_offset(start - 4), Some((index, -4)));
            assert_eq!(buffer_offset(start + (5 << 30)), Some((index, 5 << 30)));
        }
        assert_eq!(buffer_offset(0), None);
    }

    #[test]
    fn generic_addresses_round_trip() {
        for space in [Space::Shared, Space::Local, Space::Constant, Space::Param] {
            assert_eq!(generic(generic_base(space) + 12), (space, 12));
        }
        assert_eq!(generic(buffer_address(0)), (Space::Global, buffer_address(0)));
        assert_eq!(generic(0), (Space::Global, 0));
    }
}
