//! Where a value that nothing set was first read: it may lie in memory for a while, or go through other registers.

use std::collections::HashMap;

use super::Request;
use crate::exec::Machine;
use crate::exec::warp::Warp;
use crate::fault::Space;
use crate::observer::{Observer, Site};
use crate::pattern::lanes;
use crate::registers::Lanes;

/// Bytes of a word.
const WORD: u64 = 4;

/// Where the values came from that were stored without ever having been set, by word. An entry means something only
/// where the memory holds such a value.
#[derive(Debug, Default)]
pub(crate) struct Origins(HashMap<u64, u32>);

impl Origins {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// `bytes` bytes from `place` on hold a value of this origin, which is one of a register's.
    #[cold]
    pub(crate) fn put(&mut self, place: u64, bytes: u64, origin: u32) {
        for word in place / WORD..(place + bytes).div_ceil(WORD) {
            self.0.insert(word, origin);
        }
    }

    fn get(&self, place: u64) -> Option<u32> {
        self.0.get(&(place / WORD)).copied()
    }
}

impl<O: Observer> Machine<'_, '_, O> {
    /// Lanes of a load find memory that holds nothing anyone set, `offset` bytes on from their addresses. Gives the
    /// origin: an earlier instruction, if one stored what it had read so, else this one, at `at`.
    #[cold]
    pub(crate) fn origin_in_memory(
        &mut self,
        warp: &Warp,
        at: Site,
        request: &Request<'_>,
        missing: u32,
        offset: u64,
    ) -> u32 {
        let first = missing.trailing_zeros() as usize % 32;
        let (_, place) =
            self.place(warp, request.space, first, request.addresses[first].wrapping_add(offset));
        let known = match request.space {
            Space::Shared => self.shared.origins.get(place),
            Space::Local => warp.local.origins.get(place),
            _ => None,
        };
        known.unwrap_or_else(|| {
            let addresses = request.addresses.map(|address| address.wrapping_add(offset));
            self.observer.unwritten(at, request.space, missing, &addresses);
            at.pc + 1
        })
    }

    /// Lanes store to memory on the chip a value that nothing set, of this origin.
    #[cold]
    pub(crate) fn keep_origin(
        &mut self,
        warp: &mut Warp,
        space: Space,
        places: &Lanes<u64>,
        mask: u32,
        bytes: u64,
        origin: u32,
    ) {
        let origins = match space {
            Space::Shared => &mut self.shared.origins,
            _ => &mut warp.local.origins,
        };
        for lane in lanes(mask) {
            origins.put(places[lane as usize], bytes, origin);
        }
    }
}
