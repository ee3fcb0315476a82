//! Layouts: how the lanes of an access lie in memory, remembered by instruction.
//!
//! Kernels repeat their accesses over and over, only elsewhere in memory. So what depends on the addresses
//! relative to the first active lane's alone is computed once and remembered per instruction: a repeat costs one
//! vector compare.

use crate::pattern::{Pattern, SECTOR, WORD, lanes, sectors};

/// How many layouts are remembered for one instruction: enough for a branch that alternates between masks.
const WAYS: usize = 4;
/// Marks a way that holds nothing yet.
const EMPTY: u32 = u32::MAX;

/// Remembers the last layouts of each instruction.
#[derive(Clone, Debug, Default)]
pub struct LayoutCache {
    /// By instruction: numbers of layouts, most recently used first.
    ways: Vec<[u32; WAYS]>,
    layouts: Vec<Layout>,
}

/// How the accesses of eight neighbouring lanes lie, if all of these are active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Octet {
    /// One after the other.
    Contiguous,
    /// All at one address.
    Same,
    /// In any other way, or some are not active.
    Scattered,
}

/// How a warp-wide access lies in memory, wherever it begins.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    bytes: u32,
    mask: u32,
    /// All ones for a lane in the mask, else 0.
    select: [u64; 32],
    /// Addresses relative to that of the first active lane; 0 for lanes that are not active.
    pub(crate) relative: [u64; 32],
    /// The lower halves of these.
    relative_low: [u32; 32],
    /// The least of the relative addresses.
    pub(crate) low: u64,
    /// Bytes from the lowest start address to the highest.
    pub(crate) span: u64,
    /// Every bit that is set in a relative address: tells whether all are aligned alike.
    bits: u64,
    /// Lanes 0 to 7, 8 to 15, 16 to 23 and 24 to 31.
    pub(crate) octets: [Octet; 4],
    /// How all of these lie, or `Scattered` if that differs.
    pub(crate) all_octets: Octet,
    /// Whether all 32 lanes lie one after the other.
    pub(crate) is_dense: bool,
    /// The bytes that active lanes touch, as runs (offset from the lowest address, length), ascending.
    pub(crate) runs: Vec<(usize, usize)>,
    /// The first active lane's address modulo the sector size, for which `pattern` holds; [`NOT_ASKED`] while
    /// nobody wanted to know the pattern.
    alignment: u64,
    /// Sectors by alignment; 0 where not yet computed.
    sectors_at: [u8; SECTOR as usize],
    pub(crate) pattern: Pattern,
}

/// Where a full warp's words are: the first lane's address, and the number of their layout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words {
    pub(crate) first: u64,
    pub(crate) layout: u32,
}

/// No alignment.
const NOT_ASKED: u64 = u64::MAX;

impl LayoutCache {
    /// A cache that has seen nothing.
    pub fn new() -> LayoutCache {
        LayoutCache::default()
    }

    /// The pattern of an access of `bytes` per lane in `mask` (not 0) by instruction `pc`: equal to
    /// [`Pattern::new`].
    pub fn get(&mut self, pc: u32, bytes: u32, mask: u32, addresses: &[u64; 32]) -> &Pattern {
        let layout = self.find(pc, bytes, mask, addresses);
        &self.aligned(layout, addresses[(mask.trailing_zeros() & 31) as usize]).pattern
    }

    /// The number of the layout of such an access.
    #[inline(always)]
    pub(crate) fn find(&mut self, pc: u32, bytes: u32, mask: u32, addresses: &[u64; 32]) -> u32 {
        let first = addresses[(mask.trailing_zeros() & 31) as usize];
        if let Some(&[index, ..]) = self.ways.get(pc as usize)
            && index != EMPTY
            && self.layouts[index as usize].matches(bytes, mask, first, addresses)
        {
            return index;
        }
        self.find_again(pc, bytes, mask, first, addresses)
    }

    /// Where a full warp's words are that instruction `pc` accesses at these addresses plus `offset`, if its last access
    /// had the same layout. It looks at no address but the first, so that the others need not be computed.
    #[inline(always)]
    pub(crate) fn words<T: Address>(&self, pc: u32, addresses: &[T; 32], offset: i64) -> Option<Words> {
        let index = self.ways.get(pc as usize)?[0];
        let layout = self.layouts.get(index as usize)?;
        let is_known =
            layout.bytes == 4 && layout.mask == u32::MAX && T::differ(addresses, layout) == T::ZERO;
        is_known.then(|| Words { first: addresses[0].plus(offset), layout: index })
    }

    /// A layout by number; its pattern, if there is one yet, is right but for sectors.
    #[inline(always)]
    pub(crate) fn layout(&self, index: u32) -> &Layout {
        &self.layouts[index as usize]
    }

    /// A layout with the pattern for words of shared memory, where nobody asks for sectors.
    #[inline(always)]
    pub(crate) fn with_wavefronts(&mut self, words: Words) -> &Layout {
        if self.layouts[words.layout as usize].alignment == NOT_ASKED {
            return self.aligned(words.layout, words.first);
        }
        &self.layouts[words.layout as usize]
    }

    /// A layout with the pattern for a first active lane at `first`: sectors follow its alignment, and so do the words
    /// of accesses smaller than one.
    #[inline(always)]
    pub(crate) fn aligned(&mut self, index: u32, first: u64) -> &Layout {
        let layout = &mut self.layouts[index as usize];
        if first % SECTOR != layout.alignment {
            layout.align(first);
        }
        layout
    }

    /// Looks through the other ways, and makes a layout if none has it.
    #[inline(never)]
    fn find_again(&mut self, pc: u32, bytes: u32, mask: u32, first: u64, addresses: &[u64; 32]) -> u32 {
        let pc = pc as usize;
        if self.ways.len() <= pc {
            self.ways.resize(pc + 1, [EMPTY; WAYS]);
        }
        let ways = &mut self.ways[pc];
        let way = (0..WAYS).find(|&way| {
            ways[way] == EMPTY || self.layouts[ways[way] as usize].matches(bytes, mask, first, addresses)
        });
        let way = match way {
            Some(way) if ways[way] != EMPTY => way,
            Some(way) => {
                ways[way] = self.layouts.len() as u32;
                self.layouts.push(Layout::new(bytes, mask, first, addresses));
                way
            }
            None => {
                let oldest = ways[WAYS - 1];
                self.layouts[oldest as usize] = Layout::new(bytes, mask, first, addresses);
                WAYS - 1
            }
        };
        ways[..=way].rotate_right(1);
        ways[0]
    }
}

/// A lane's address, of 32 or 64 bits.
pub(crate) trait Address: Copy + PartialEq {
    const ZERO: Self;
    /// 0 if the addresses, relative to the first, are those of the layout. Addresses of 32 bits wrap around: an access
    /// that is inside its memory does not.
    fn differ(addresses: &[Self; 32], layout: &Layout) -> Self;
    /// This address plus an offset.
    fn plus(self, offset: i64) -> u64;
}

// No early exit, so that this becomes a handful of vector instructions.
macro_rules! address {
    ($ty:ty, $relative:ident) => {
        impl Address for $ty {
            const ZERO: $ty = 0;

            #[inline(always)]
            fn differ(addresses: &[$ty; 32], layout: &Layout) -> $ty {
                let mut difference = 0;
                for lane in 0..32 {
                    difference |= addresses[lane].wrapping_sub(addresses[0]) ^ layout.$relative[lane];
                }
                difference
            }

            #[inline(always)]
            fn plus(self, offset: i64) -> u64 {
                u64::from(self.wrapping_add(offset as $ty))
            }
        }
    };
}
address!(u32, relative_low);
address!(u64, relative);

impl Layout {
    /// Bytes per lane.
    #[inline(always)]
    pub(crate) fn width(&self) -> u64 {
        u64::from(self.bytes)
    }

    /// Whether all lanes' accesses are inside a memory and aligned, if the first one's is at `first`, which is `offset`
    /// bytes after the start of the memory. `last` is the last offset at which an access fits.
    #[inline(always)]
    pub(crate) fn fits(&self, first: u64, offset: u64, last: u64) -> bool {
        let lowest = offset.wrapping_add(self.low);
        self.span <= last && lowest <= last - self.span && self.is_aligned(first)
    }

    /// Whether all lanes' accesses are aligned, if the first one's is at `first`.
    #[inline(always)]
    pub(crate) fn is_aligned(&self, first: u64) -> bool {
        (first | self.bits) & (self.width() - 1) == 0
    }

    fn new(bytes: u32, mask: u32, first: u64, addresses: &[u64; 32]) -> Layout {
        let select: [u64; 32] = std::array::from_fn(|lane| if mask >> lane & 1 == 1 { u64::MAX } else { 0 });
        let relative: [u64; 32] =
            std::array::from_fn(|lane| addresses[lane].wrapping_sub(first) & select[lane]);
        let step = u64::from(bytes);
        let is_row = |lanes: &[u64]| lanes.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == step);
        let octets: [Octet; 4] = std::array::from_fn(|octet| {
            let lanes = &relative[8 * octet..8 * octet + 8];
            if mask >> (8 * octet) & 0xff != 0xff {
                Octet::Scattered
            } else if is_row(lanes) {
                Octet::Contiguous
            } else if lanes.iter().all(|&lane| lane == lanes[0]) {
                Octet::Same
            } else {
                Octet::Scattered
            }
        });
        let low = relative.iter().fold(0, |low, &r| low.min(r as i64));
        let high = relative.iter().fold(0, |high, &r| high.max(r as i64));
        let runs = runs(bytes, mask, &relative.map(|r| (r as i64).wrapping_sub(low) as usize));
        Layout {
            bytes,
            mask,
            select,
            low: low as u64,
            span: high.wrapping_sub(low) as u64,
            bits: relative.iter().fold(0, |bits, r| bits | r),
            octets,
            all_octets: if octets == [octets[0]; 4] { octets[0] } else { Octet::Scattered },
            is_dense: mask == u32::MAX && is_row(&relative),
            relative,
            relative_low: relative.map(|r| r as u32),
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
