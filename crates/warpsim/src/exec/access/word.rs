//! Accesses of one word for each lane of a full warp, which lie as they did before: what kernels do most.

use crate::exec::Machine;
use crate::exec::warp::Warp;
use crate::fault::{Space, Touch};
use crate::observer::{Access, Addresses, Observer, Order, Scope};
use crate::pattern::Entry;
use crate::program::Register;
use crate::registers::{FULL, RegisterFile};

/// "Nothing is known of how the addresses lie."
pub(crate) const UNKNOWN: u32 = u32::MAX;

impl<O: Observer> Machine<'_, '_, O> {
    /// Where the first lane's word is, `offset` bytes behind the address in `base`, and the cache's entry for how all
    /// lanes lie: `known`, unless that is [`UNKNOWN`], else the one of the last access of instruction `pc`. `None` if that
    /// lay in another way.
    #[inline(always)]
    pub(crate) fn place_words(
        &self,
        warp: &Warp,
        pc: u32,
        base: Register,
        offset: i64,
        known: u32,
    ) -> Option<(u64, u32)> {
        // No closures here: they would be functions of their own, and not built for the caller's CPU.
        if base.file == RegisterFile::Wide {
            let base = warp.registers.wide(base.index);
            let entry = if known == UNKNOWN { self.patterns.known_words(pc, base)? } else { known };
            Some((base[0].wrapping_add(offset as u64), entry))
        } else {
            let base = warp.registers.word(base.index);
            let entry = if known == UNKNOWN { self.patterns.known_words(pc, base)? } else { known };
            Some((u64::from(base[0].wrapping_add(offset as u32)), entry))
        }
    }
}

/// An ordinary access that lies as `entry` says, the first lane's word at `first`.
#[inline(always)]
pub(crate) fn access_of_words(
    touch: Touch,
    space: Space,
    scope: Scope,
    first: u64,
    entry: &Entry,
) -> Access<'_> {
    Access {
        touch,
        space,
        bytes: 4,
        mask: FULL,
        addresses: Addresses::new(first, &entry.relative),
        pattern: &entry.pattern,
        order: Order::Weak,
        scope,
        is_async: false,
        values: None,
    }
}
