//! What one warp-wide access looks like: sectors, wavefronts, and which lanes touch the same word.
//!
//! Kernels repeat their access patterns over and over, so a pattern is computed from addresses relative to the
//! first active lane and remembered per instruction: a repeat costs one vector compare.
//!
//! The rules reproduce what Nsight Compute measured on an H200 (`tests/data/h200_access_costs.csv`).

/// Bytes in a sector, the unit in which caches and DRAM are read and written.
const SECTOR: u64 = 32;
/// Bytes in a word, the width of a bank of shared memory.
const WORD: u64 = 4;
/// Banks of shared memory.
const BANKS: u64 = 32;

/// Facts about a warp-wide access that depend only on relative addresses, the lane mask, the size and, for
/// sectors, on the alignment of the first address within 32 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Distinct 32-byte sectors.
    pub sectors: u32,
    /// Passes through the 32 banks of shared memory, for a load.
    pub load_wavefronts: u32,
    /// The same for a store.
    pub store_wavefronts: u32,
    /// Distinct start addresses, each as (offset in bytes from the lowest active address, lanes), by ascending offset.
    pub groups: Vec<(u64, u32)>,
    /// Distance in bytes from the lowest active address to the end of the highest access.
    pub span: u64,
    /// Offset in bytes from the lowest active address to the first active lane's.
    pub first_offset: u64,
    /// Whether accesses of different groups overlap (start addresses closer than the access size).
    pub overlapping: bool,
}

impl Pattern {
    /// Computes the pattern of an access of `bytes` (1, 2, 4, 8 or 16) per lane in `mask`.
    pub fn new(bytes: u32, mask: u32, addresses: &[u64; 32]) -> Pattern {
        let mut active = [(0, 0); 32];
        let mut count = 0;
        for (lane, address) in lanes(mask).map(|lane| (lane, addresses[lane as usize])) {
            active[count] = (address, 1 << lane);
            count += 1;
        }
        let active = &mut active[..count];
        active.sort_unstable();

        let lowest = active.first().map_or(0, |first| first.0);
        let mut groups: Vec<(u64, u32)> = Vec::with_capacity(count);
        for &mut (address, lane) in active {
            match groups.last_mut() {
                Some(last) if last.0 == address - lowest => last.1 |= lane,
                _ => groups.push((address - lowest, lane)),
            }
        }
        let bytes = u64::from(bytes);
        Pattern {
            sectors: sectors(&groups, bytes, lowest),
            load_wavefronts: wavefronts(bytes, mask, addresses, shares_with_neighbour(mask, addresses)),
            store_wavefronts: wavefronts(bytes, mask, addresses, false),
            span: groups.last().map_or(0, |last| last.0 + bytes),
            first_offset: lanes(mask).next().map_or(0, |lane| addresses[lane as usize] - lowest),
            overlapping: groups.windows(2).any(|pair| pair[1].0 - pair[0].0 < bytes),
            groups,
        }
    }
}

/// The lanes in `mask`, ascending.
pub(crate) fn lanes(mut mask: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (lane < 32).then_some(lane)
    })
}

/// Distinct sectors of accesses that start at `lowest` plus the ascending offsets of `groups`.
fn sectors(groups: &[(u64, u32)], bytes: u64, lowest: u64) -> u32 {
    let mut count = 0;
    let mut next = 0;
    for &(offset, _) in groups {
        let first = (lowest % SECTOR + offset) / SECTOR;
        let last = (lowest % SECTOR + offset + bytes - 1) / SECTOR;
        count += (last + 1).saturating_sub(first.max(next));
        next = last + 1;
    }
    count as u32
}

/// Whether all active lanes share their address with lane n^1, or all with lane n^2. Loads of more than 4 bytes
/// then serve two phases in one (measured).
fn shares_with_neighbour(mask: u32, addresses: &[u64; 32]) -> bool {
    [1, 2].into_iter().any(|distance| {
        lanes(mask).all(|lane| {
            let neighbour = lane ^ distance;
            mask >> neighbour & 1 == 1 && addresses[lane as usize] == addresses[neighbour as usize]
        })
    })
}

/// Passes through the banks: the lanes are served in `bytes / 4` phases (halves of the warp for 8 bytes, quarters
/// for 16), or in half as many if `merged`; a phase costs the largest number of distinct words in one bank.
fn wavefronts(bytes: u64, mask: u32, addresses: &[u64; 32], merged: bool) -> u32 {
    let phases = (bytes / WORD).clamp(1, 32) as u32;
    let lanes_per_phase = if merged && phases > 1 { 2 * 32 / phases } else { 32 / phases };
    let in_phase = if lanes_per_phase == 32 { u32::MAX } else { (1 << lanes_per_phase) - 1 };
    let mut words = Vec::with_capacity(64);
    (0..32 / lanes_per_phase)
        .map(|phase| {
            words.clear();
            for lane in lanes(mask & in_phase << (phase * lanes_per_phase)) {
                let address = addresses[lane as usize];
                words.extend(address / WORD..=(address + bytes - 1) / WORD);
            }
            words.sort_unstable();
            words.dedup();
            let mut in_bank = [0; BANKS as usize];
            for word in &words {
                in_bank[(word % BANKS) as usize] += 1;
            }
            in_bank.into_iter().max().unwrap_or(0)
        })
        .sum()
}

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

#[derive(Clone, Debug)]
struct Entry {
    bytes: u32,
    mask: u32,
    /// All ones for a lane in the mask, else 0.
    select: [u64; 32],
    /// Addresses relative to that of the first active lane.
    relative: [u64; 32],
    /// The first active lane's address modulo the sector size, for which `pattern` holds.
    alignment: u64,
    /// Sectors by alignment; 0 where not yet computed.
    sectors_at: [u8; SECTOR as usize],
    pattern: Pattern,
}

impl PatternCache {
    /// A cache that has seen nothing.
    pub fn new() -> PatternCache {
        PatternCache::default()
    }

    /// The pattern of an access of `bytes` per lane in `mask` (not 0) by instruction `pc`: equal to
    /// [`Pattern::new`].
    #[inline]
    pub fn get(&mut self, pc: u32, bytes: u32, mask: u32, addresses: &[u64; 32]) -> &Pattern {
        let first = addresses[(mask.trailing_zeros() & 31) as usize];
        if let Some(&[index, ..]) = self.ways.get(pc as usize)
            && index != EMPTY
            && self.entries[index as usize].matches(bytes, mask, first, addresses)
        {
            return self.entries[index as usize].aligned_to(first, addresses);
        }
        self.find(pc, bytes, mask, first, addresses)
    }

    /// Looks through the other ways, and computes the pattern if none has it.
    #[inline(never)]
    fn find(&mut self, pc: u32, bytes: u32, mask: u32, first: u64, addresses: &[u64; 32]) -> &Pattern {
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
                self.entries.push(Entry::new(bytes, mask, first, addresses));
                way
            }
            None => {
                self.entries[ways[WAYS - 1] as usize] = Entry::new(bytes, mask, first, addresses);
                WAYS - 1
            }
        };
        ways[..=way].rotate_right(1);
        self.entries[ways[0] as usize].aligned_to(first, addresses)
    }
}

impl Entry {
    fn new(bytes: u32, mask: u32, first: u64, addresses: &[u64; 32]) -> Entry {
        let pattern = Pattern::new(bytes, mask, addresses);
        let select: [u64; 32] = std::array::from_fn(|lane| if mask >> lane & 1 == 1 { u64::MAX } else { 0 });
        let relative = std::array::from_fn(|lane| addresses[lane].wrapping_sub(first) & select[lane]);
        let alignment = first % SECTOR;
        let mut sectors_at = [0; SECTOR as usize];
        sectors_at[alignment as usize] = pattern.sectors as u8;
        Entry { bytes, mask, select, relative, alignment, sectors_at, pattern }
    }

    /// Whether an access has the same size, lanes and relative addresses.
    #[inline(always)]
    fn matches(&self, bytes: u32, mask: u32, first: u64, addresses: &[u64; 32]) -> bool {
        if self.bytes != bytes || self.mask != mask {
            return false;
        }
        // No early exit, so that this becomes a handful of vector instructions.
        let differences =
            addresses.iter().zip(&self.relative).map(|(a, relative)| a.wrapping_sub(first) ^ relative);
        let difference = if mask == u32::MAX {
            differences.fold(0, |all, one| all | one)
        } else {
            differences.zip(&self.select).fold(0, |all, (one, select)| all | one & select)
        };
        difference == 0
    }

    /// The pattern at the alignment of `first`: sectors follow it, and so do the words of accesses smaller than one.
    #[inline(always)]
    fn aligned_to(&mut self, first: u64, addresses: &[u64; 32]) -> &Pattern {
        if first % SECTOR != self.alignment {
            self.realign(first, addresses);
        }
        &self.pattern
    }

    fn realign(&mut self, first: u64, addresses: &[u64; 32]) {
        let alignment = first % SECTOR;
        if alignment % WORD != self.alignment % WORD {
            *self = Entry::new(self.bytes, self.mask, first, addresses);
            return;
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
