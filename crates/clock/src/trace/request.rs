//! What one warp-wide request costs.

use foldhash::HashMap;
use warpsim::observer::Access;
use warpsim::pattern::Pattern;
use warpsim::{Space, Touch};

/// Bytes of a line of the cache.
const LINE: u64 = 128;
/// Bytes of a sector.
const SECTOR: u64 = 32;
/// Where lines of local memory are counted from: no buffer is there.
const LOCAL: u64 = 1 << 50;
/// Lines of local memory that a warp has for itself.
const LOCAL_LINES: u64 = 1 << 20;

/// One warp-wide request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    /// Its lines: where they begin in the list of all, and how many.
    pub(crate) first: u32,
    pub(crate) lines: u16,
    /// Turns that it takes in the load/store unit.
    pub(crate) turns: u16,
    /// Bytes that its lanes ask for.
    pub(crate) bytes: u16,
}

impl Request {
    /// One that does the work of two.
    pub(super) fn and(self, other: Request) -> Request {
        Request {
            lines: self.lines + other.lines,
            turns: self.turns.saturating_add(other.turns),
            bytes: self.bytes.saturating_add(other.bytes),
            ..self
        }
    }
}

/// Finds the cost of accesses.
#[derive(Debug, Default)]
pub(super) struct Coster {
    /// The lines of all requests.
    pub(super) lines: Vec<(u64, u8)>,
    /// Patterns of joined loads that were seen: bytes, lanes and relative addresses.
    joined: HashMap<(u32, u32, u64, [u32; 32]), u16>,
}

impl Coster {
    /// `bytes` per lane may be more than the access asks for, where it stands for a vector.
    pub(super) fn cost(&mut self, warp: u32, access: &Access<'_>, bytes: u32) -> Request {
        let first = self.lines.len() as u32;
        let asked = (bytes * access.mask.count_ones()) as u16;
        let turns = match access.space {
            Space::Shared => self.wavefronts(access, bytes),
            Space::Constant | Space::Param => access.pattern.groups.len() as u16,
            Space::Local => {
                self.local_lines(warp, access);
                0
            }
            Space::Global => {
                self.global_lines(access);
                0
            }
        };
        let lines = (self.lines.len() as u32 - first) as u16;
        Request { first, lines, turns: turns.max(lines), bytes: asked }
    }

    fn wavefronts(&mut self, access: &Access<'_>, bytes: u32) -> u16 {
        let pattern = access.pattern;
        match access.touch {
            Touch::Read if bytes == access.bytes => pattern.load_wavefronts as u16,
            Touch::Read => self.joined_wavefronts(access, bytes),
            Touch::Write => pattern.store_wavefronts as u16,
            // Lanes that meet in one word take turns.
            Touch::Atomic => {
                let most = pattern.groups.iter().map(|group| group.1.count_ones()).max().unwrap_or(1);
                (pattern.store_wavefronts.max(1) * most) as u16
            }
        }
    }

    fn joined_wavefronts(&mut self, access: &Access<'_>, bytes: u32) -> u16 {
        let addresses = access.addresses.to_array();
        let base = addresses[access.mask.trailing_zeros() as usize & 31];
        let relative = addresses.map(|address| address.wrapping_sub(base) as u32);
        let masked =
            std::array::from_fn(|lane| if access.mask >> lane & 1 == 1 { relative[lane] } else { 0 });
        let key = (bytes, access.mask, base % LINE, masked);
        *self
            .joined
            .entry(key)
            .or_insert_with(|| Pattern::new(bytes, access.mask, &addresses).load_wavefronts as u16)
    }

    /// The lines of an access, with the sectors of each; they are searched from the last one, which it mostly is.
    fn global_lines(&mut self, access: &Access<'_>) {
        let first = self.lines.len();
        for lane in (0..32).filter(|lane| access.mask >> lane & 1 == 1) {
            let address = access.addresses.of(lane);
            let sectors = address / SECTOR..=(address + u64::from(access.bytes) - 1) / SECTOR;
            for sector in sectors {
                self.touch(first, sector * SECTOR / LINE, 1 << (sector % (LINE / SECTOR)));
            }
        }
    }

    /// The words of a warp's lanes at one place of their stacks lie side by side: a line for each word.
    fn local_lines(&mut self, warp: u32, access: &Access<'_>) {
        let first = self.lines.len();
        let base = LOCAL + u64::from(warp) * LOCAL_LINES;
        for lane in (0..32).filter(|lane| access.mask >> lane & 1 == 1) {
            let address = access.addresses.of(lane);
            for word in address / 4..=(address + u64::from(access.bytes) - 1) / 4 {
                self.touch(first, base + word % LOCAL_LINES, 1 << (lane / 8));
            }
        }
    }

    fn touch(&mut self, first: usize, line: u64, sector: u8) {
        match self.lines[first..].iter_mut().rev().find(|(known, _)| *known == line) {
            Some((_, sectors)) => *sectors |= sector,
            None => self.lines.push((line, sector)),
        }
    }
}

#[cfg(test)]
mod tests {
    use warpsim::observer::{Order, Scope};

    use super::*;

    fn cost(space: Space, bytes: u32, address: impl Fn(u64) -> u64) -> (Request, Vec<(u64, u8)>) {
        let addresses: [u64; 32] = std::array::from_fn(|lane| address(lane as u64));
        let pattern = Pattern::new(bytes, u32::MAX, &addresses);
        let access = Access {
            touch: Touch::Read,
            space,
            bytes,
            mask: u32::MAX,
            addresses: (&addresses).into(),
            pattern: &pattern,
            order: Order::Weak,
            scope: Scope::Block,
            is_async: false,
            values: None,
        };
        let mut coster = Coster::default();
        (coster.cost(0, &access, bytes), coster.lines)
    }

    #[test]
    fn a_global_request_takes_a_turn_for_each_line() {
        let row = cost(Space::Global, 4, |lane| 1024 + 4 * lane);
        assert_eq!((row.0.turns, row.1), (1, vec![(8, 0b1111)]));
        let column = cost(Space::Global, 4, |lane| 4096 * lane);
        assert_eq!((column.0.turns, column.1.len()), (32, 32));
        let quads = cost(Space::Global, 16, |lane| 16 * lane);
        assert_eq!((quads.0.turns, quads.0.bytes), (4, 512));
    }

    #[test]
    fn local_words_of_all_lanes_lie_in_one_line() {
        let same = cost(Space::Local, 4, |_| 8);
        assert_eq!((same.0.turns, same.1), (1, vec![(LOCAL + 2, 0b1111)]));
        assert_eq!(cost(Space::Local, 4, |lane| 4 * lane).0.turns, 32);
    }

    #[test]
    fn shared_and_constant_memory_take_turns_by_banks_and_by_addresses() {
        assert_eq!(cost(Space::Shared, 4, |lane| 128 * lane).0.turns, 32);
        assert_eq!(cost(Space::Constant, 4, |lane| 4 * (lane % 3)).0.turns, 3);
    }
}
