//! What one warp-wide access looks like: sectors, wavefronts, and which lanes touch the same word.
//!
//! The rules reproduce what Nsight Compute measured on an H200 (`tests/data/h200_access_costs.csv`).

pub use crate::exec::LayoutCache;

/// Bytes in a sector, the unit in which caches and DRAM are read and written.
pub(crate) const SECTOR: u64 = 32;
/// Bytes in a word, the width of a bank of shared memory.
pub(crate) const WORD: u64 = 4;
/// Banks of shared memory.
const BANKS: u64 = 32;

/// Facts about a warp-wide access that depend only on relative addresses, the lane mask, the size and, for
/// sectors, on the alignment of the first address within 32 bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    /// Distinct 32-byte sectors.
    pub sectors: u32,
    /// Passes through the 32 banks of shared memory, for a load.
    pub load_wavefronts: u32,
    /// The same for a store.
    pub store_wavefronts: u32,
    /// Distinct start addresses, each as (offset in bytes from the lowest active address, lanes), by ascending offset.
    pub groups: Vec<(u64, u32)>,
    /// The `groups` that lie side by side, as (index of the first, how many).
    pub runs: Vec<(usize, usize)>,
    /// Whether any address is that of several lanes.
    pub coinciding: bool,
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
            runs: groups
                .chunk_by(|a, b| b.0 - a.0 == bytes)
                .scan(0, |first, run| {
                    *first += run.len();
                    Some((*first - run.len(), run.len()))
                })
                .collect(),
            coinciding: groups.iter().any(|group| !group.1.is_power_of_two()),
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
pub(crate) fn sectors(groups: &[(u64, u32)], bytes: u64, lowest: u64) -> u32 {
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
