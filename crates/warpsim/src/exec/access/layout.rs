//! Remembers what the accesses of each instruction look like.
//!
//! Kernels repeat their access patterns over and over, only elsewhere in memory. So what depends on the addresses
//! relative to the first active lane's alone is worked out once and remembered per instruction: a repeat costs one
//! vector compare.

use crate::pattern::{Pattern, SECTOR, WORD, lanes, sectors};

/// How many patterns are remembered for one instruction: enough for a branch that alternates between masks.
const WAYS: usize = 4;
/// Marks a way that holds nothing yet.
const EMPTY: u32 = u32::MAX;

/// Remembers the last patterns of each instruction.
#[derive(Clone, Debug, Default)]
pub struct PatternCache {
    /// By instruction: indices into `entries`, most recently used first.
    ways: Vec<[u32; WAYS]>,
    entries: Vec<Entry>,
}

/// How an access lies in memory, wherever it begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// The lowest start address of an active lane, relative to the first active lane's.
    pub(crate) low: u64,
    /// Bytes from the lowest start address to the highest.
    pub(crate) span: u64,
    /// Every bit that is set in an active lane's relative address: tells whether all are aligned alike.
    pub(crate) bits: u64,
    /// Lanes 0 to 7, 8 to 15, 16 to 23 and 24 to 31.
    pub(crate) eights: [Eight; 4],
    /// How all of these lie, or `Scattered` if that differs.
    pub(crate) all_eights: Eight,
    /// Whether all 32 lanes lie one behind the other.
    pub(crate) is_dense: bool,
    /// The cache's entry that holds the pattern.
    entry: u32,
}

impl Shape {
    /// Of accesses of which nothing is known.
    pub(crate) const SCATTERED: Shape = Shape {
        low: 0,
        span: 0,
        bits: 0,
        eights: [Eight::Scattered; 4],
        all_eights: Eight::Scattered,
        is_dense: false,
        entry: EMPTY,
    };

    /// Whether all lanes' accesses are inside a memory and aligned, if the first one's is at `first`, which is
    /// `offset` bytes behind the start of the memory. `last` is the last offset at which an access fits, `width`
    /// its size.
    #[inline(always)]
    pub(crate) fn fits(&self, first: u64, offset: u64, last: u64, width: u32) -> bool {
        let lowest = offset.wrapping_add(self.low);
        self.span <= last && lowest <= last - self.span && self.is_aligned(first, width)
    }

    /// Whether all lanes' accesses of `width` bytes are aligned, if the first one's is at `first`.
    #[inline(always)]
    pub(crate) fn is_aligned(&self, first: u64, width: u32) -> bool {
        (first | self.bits) & u64::from(width - 1) == 0
    }
}

/// How eight neighbouring lanes lie, if all of them are active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Eight {
    /// One behind the other.
    Contiguous,
    /// All at one address.
    Same,
    /// In any other way, or some are not active.
    Scattered,
}

/// What was remembered of an access.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    bytes: u32,
    mask: u32,
    /// All ones for a lane in the mask, else 0.
    select: [u64; 32],
    /// Addresses relative to that of the first active lane; 0 for lanes that are not.
    pub(crate) relative: [u64; 32],
    /// The lower halves of these.
    relative_low: [u32; 32],
    pub(crate) shape: Shape,
    /// The bytes that active lanes touch, as runs (offset from the lowest address, length), ascending.
    pub(crate) runs: Vec<(usize, usize)>,
    /// The first active lane's address modulo the sector size, for which `pattern` holds; [`NOT_ASKED`] while
    /// nobody wanted to know the pattern.
    alignment: u64,
    /// Sectors by alignment; 0 where not yet computed.
    sectors_at: [u8; SECTOR as usize],
    pub(crate) pattern: Pattern,
}

/// No alignment.
const NOT_ASKED: u64 = u64::MAX;

impl PatternCache {
    /// A cache that has seen nothing.
    pub fn new() -> PatternCache {
        PatternCache::default()
    }

    /// The pattern of an access of `bytes` per lane in `mask` (not 0) by instruction `pc`: equal to
    /// [`Pattern::new`].
    pub fn get(&mut self, pc: u32, bytes: u32, mask: u32, addresses: &[u64; 32]) -> &Pattern {
        let shape = self.shape(pc, bytes, mask, addresses);
        self.pattern(&shape, addresses[(mask.trailing_zeros() & 31) as usize])
    }

    /// The shape of such an access. It holds until the next call.
    #[inline(always)]
    pub(crate) fn shape(&mut self, pc: u32, bytes: u32, mask: u32, addresses: &[u64; 32]) -> Shape {
        let first = addresses[(mask.trailing_zeros() & 31) as usize];
        if let Some(&[index, ..]) = self.ways.get(pc as usize)
            && index != EMPTY
            && self.entries[index as usize].matches(bytes, mask, first, addresses)
        {
            return self.entries[index as usize].shape;
        }
        self.find(pc, bytes, mask, first, addresses)
    }

    /// The pattern of the access that `shape` was asked for, whose first active lane is at `first`.
    #[inline(always)]
    pub(crate) fn pattern(&mut self, shape: &Shape, first: u64) -> &Pattern {
        &self.aligned(shape.entry, first).pattern
    }

    /// The runs of bytes that the accesses touch which `shape` was asked for.
    #[inline(always)]
    pub(crate) fn runs(&self, shape: &Shape) -> &[(usize, usize)] {
        &self.entries[shape.entry as usize].runs
    }

    /// The number of the entry for a full warp's access of 4 bytes a lane, if this instruction's last one lay as
    /// these addresses do.
    #[inline(always)]
    pub(crate) fn known_words<T: Address>(&self, pc: u32, addresses: &[T; 32]) -> Option<u32> {
        let index = self.ways.get(pc as usize)?[0];
        let entry = self.entries.get(index as usize)?;
        let is_known = entry.bytes == 4 && entry.mask == u32::MAX && T::differ(addresses, entry) == T::ZERO;
        is_known.then_some(index)
    }

    /// An entry by number; its pattern, if there is one yet, is right but for sectors.
    #[inline(always)]
    pub(crate) fn entry(&self, index: u32) -> &Entry {
        &self.entries[index as usize]
    }

    /// An entry by number, with the pattern for a first active lane at `first`: sectors follow its alignment, and so
    /// do the words of accesses smaller than one.
    #[inline(always)]
    pub(crate) fn aligned(&mut self, index: u32, first: u64) -> &Entry {
        let entry = &mut self.entries[index as usize];
        if first % SECTOR != entry.alignment {
            entry.align(first);
        }
        entry
    }

    /// Looks through the other ways, and makes an entry if none has it.
    #[inline(never)]
    fn find(&mut self, pc: u32, bytes: u32, mask: u32, first: u64, addresses: &[u64; 32]) -> Shape {
        let pc = pc as usize;
        if self.ways.len() <= pc {
            self.ways.resize(pc + 1, [EMPTY; WAYS]);
        }
        let ways = &mut self.ways[pc];
        let way = (0..WAYS).find(|&way| {
            ways[way] == EMPTY || self.entries[ways[way] as usize].matches(bytes, mask, first, addresses)
        });
        let way = match way {
            Some(way) if ways[way] != EMPTY => way,
            Some(way) => {
                ways[way] = self.entries.len() as u32;
                self.entries.push(Entry::new(ways[way], bytes, mask, first, addresses));
                way
            }
            None => {
                let oldest = ways[WAYS - 1];
                self.entries[oldest as usize] = Entry::new(oldest, bytes, mask, first, addresses);
                WAYS - 1
            }
        };
        ways[..=way].rotate_right(1);
        self.entries[ways[0] as usize].shape
    }
}

/// A lane's address, of 32 or 64 bits.
pub(crate) trait Address: Copy + PartialEq {
    const ZERO: Self;
    /// 0 if the addresses, relative to the first, are those of the entry. Addresses of 32 bits wrap around: an access
    /// that [`fits`](Shape::fits) its memory does not.
    fn differ(addresses: &[Self; 32], entry: &Entry) -> Self;
}

// No early exit, so that this becomes a handful of vector instructions.
macro_rules! address {
    ($ty:ty, $relative:ident) => {
        impl Address for $ty {
            const ZERO: $ty = 0;

            #[inline(always)]
            fn differ(addresses: &[$ty; 32], entry: &Entry) -> $ty {
                let mut difference = 0;
                for lane in 0..32 {
                    difference |= addresses[lane].wrapping_sub(addresses[0]) ^ entry.$relative[lane];
                }
                difference
            }
        }
    };
}
address!(u32, relative_low);
address!(u64, relative);

impl Entry {
    /// Whether anybody asked for the pattern yet.
    #[inline(always)]
    pub(crate) fn has_pattern(&self) -> bool {
        self.alignment != NOT_ASKED
    }

    /// Where each eight lanes begin, if the first lane is at `first`.
    #[inline(always)]
    pub(crate) fn eights_at(&self, first: u64) -> [u64; 4] {
        let at = |lane: usize| first.wrapping_add(self.relative[lane]);
        [at(0), at(8), at(16), at(24)]
    }

    fn new(index: u32, bytes: u32, mask: u32, first: u64, addresses: &[u64; 32]) -> Entry {
        let select: [u64; 32] = std::array::from_fn(|lane| if mask >> lane & 1 == 1 { u64::MAX } else { 0 });
        let relative: [u64; 32] =
            std::array::from_fn(|lane| addresses[lane].wrapping_sub(first) & select[lane]);
        let step = u64::from(bytes);
        let is_row = |lanes: &[u64]| lanes.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == step);
        let eights: [Eight; 4] = std::array::from_fn(|eight| {
            let lanes = &relative[8 * eight..8 * eight + 8];
            if mask >> (8 * eight) & 0xff != 0xff {
                Eight::Scattered
            } else if is_row(lanes) {
                Eight::Contiguous
            } else if lanes.iter().all(|&lane| lane == lanes[0]) {
                Eight::Same
            } else {
                Eight::Scattered
            }
        });
        let low = relative.iter().fold(0, |low, &r| low.min(r as i64));
        let high = relative.iter().fold(0, |high, &r| high.max(r as i64));
        let runs = runs(bytes, mask, &relative.map(|r| (r as i64).wrapping_sub(low) as usize));
        let shape = Shape {
            low: low as u64,
            span: high.wrapping_sub(low) as u64,
            bits: relative.iter().fold(0, |bits, r| bits | r),
            eights,
            all_eights: if eights == [eights[0]; 4] { eights[0] } else { Eight::Scattered },
            is_dense: mask == u32::MAX && is_row(&relative),
            entry: index,
        };
        Entry {
            bytes,
            mask,
            select,
            relative,
            relative_low: relative.map(|r| r as u32),
            shape,
            runs,
            alignment: NOT_ASKED,
            sectors_at: [0; SECTOR as usize],
            pattern: Pattern::default(),
        }
    }

    /// Whether an access has the same size, lanes and relative addresses.
    #[inline(always)]
    fn matches(&self, bytes: u32, mask: u32, first: u64, addresses: &[u64; 32]) -> bool {
        if self.bytes != bytes || self.mask != mask {
            return false;
        }
        // No early exit, so that this becomes a handful of vector instructions.
        let mut difference = 0;
        if mask == u32::MAX {
            for lane in 0..32 {
                difference |= addresses[lane].wrapping_sub(first) ^ self.relative[lane];
            }
        } else {
            for lane in 0..32 {
                difference |= (addresses[lane].wrapping_sub(first) ^ self.relative[lane]) & self.select[lane];
            }
        }
        difference == 0
    }

    #[inline(never)]
    fn align(&mut self, first: u64) {
        let alignment = first % SECTOR;
        if self.alignment == NOT_ASKED || self.alignment % WORD != alignment % WORD {
            self.pattern = Pattern::new(self.bytes, self.mask, &self.relative.map(|r| first.wrapping_add(r)));
            self.sectors_at = [0; SECTOR as usize];
        }
        let known = &mut self.sectors_at[alignment as usize];
        if *known == 0 {
            let lowest = first - self.pattern.first_offset;
            *known = sectors(&self.pattern.groups, u64::from(self.bytes), lowest) as u8;
        }
        self.pattern.sectors = u32::from(*known);
        self.alignment = alignment;
    }
}

/// The bytes that accesses of `bytes` bytes by the lanes in `mask` touch, as runs (offset, length), ascending.
fn runs(bytes: u32, mask: u32, starts: &[usize; 32]) -> Vec<(usize, usize)> {
    let mut active = [0; 32];
    let mut count = 0;
    for lane in lanes(mask) {
        active[count] = starts[lane as usize];
        count += 1;
    }
    let active = &mut active[..count];
    if !active.is_sorted() {
        active.sort_unstable();
    }
    let mut runs: Vec<(usize, usize)> = Vec::with_capacity(4);
    for &start in active.iter() {
        let end = start.saturating_add(bytes as usize);
        match runs.last_mut() {
            Some((from, length)) if start <= *from + *length => *length = end - *from,
            _ => runs.push((start, end - start)),
        }
    }
    runs
}
