//! Patterns against what hardware measured, and the cache against fresh patterns.

use proptest::prelude::*;
use warpsim::pattern::{LayoutCache, Pattern};

/// Every number that Nsight Compute reported on an H200.
#[test]
fn patterns_cost_what_an_h200_measured() {
    let table = include_str!("data/h200_access_costs.csv");
    let mut compared = 0;
    for row in table.lines().filter(|row| !row.starts_with('#')).skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        let bytes: u32 = cells[1].parse().unwrap();
        let mask = u32::from_str_radix(cells[2].trim_start_matches("0x"), 16).unwrap();
        let mut addresses = [0; 32];
        for (address, word) in addresses.iter_mut().zip(cells[7].split_whitespace()) {
            *address = 4096 + 4 * word.parse::<u64>().unwrap();
        }
        let pattern = Pattern::new(bytes, mask, &addresses);
        let ours = [pattern.load_wavefronts, pattern.store_wavefronts, pattern.sectors, pattern.sectors];
        for (column, value) in ours.into_iter().enumerate() {
            // An empty cell was not measured.
            if let Ok(measured) = cells[3 + column].parse::<u32>() {
                assert_eq!(value, measured, "column {} of {row}", 3 + column);
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 214, "cells that hold a number");
}

fn one_lane(bytes: u32) -> impl Strategy<Value = u64> {
    prop_oneof![0..8u64, 0..64u64, 0..100_000u64].prop_map(move |index| (1 << 34) + index * u64::from(bytes))
}

fn access() -> impl Strategy<Value = (u32, u32, [u64; 32])> {
    (0..5u32, prop_oneof![Just(u32::MAX), 1..=u32::MAX]).prop_flat_map(|(log, mask)| {
        let bytes = 1 << log;
        (Just(bytes), Just(mask), proptest::array::uniform32(one_lane(bytes)))
    })
}

proptest! {
    /// A loop moves the same shape through memory; other shapes come between.
    #[test]
    fn the_cache_equals_fresh_patterns(
        shapes in proptest::collection::vec(access(), 1..8),
        steps in proptest::collection::vec((0..8usize, 0..200u64, 0..3u32), 1..60),
    ) {
        let mut cache = LayoutCache::new();
        for (shape, shift, pc) in steps {
            let (bytes, mask, mut addresses) = shapes[shape % shapes.len()];
            for address in &mut addresses {
                *address += shift * u64::from(bytes);
            }
            prop_assert_eq!(cache.get(pc, bytes, mask, &addresses), &Pattern::new(bytes, mask, &addresses));
        }
    }

    /// Sectors and lanes counted the plain way.
    #[test]
    fn sectors_and_groups_are_those_of_the_lanes((bytes, mask, addresses) in access()) {
        let pattern = Pattern::new(bytes, mask, &addresses);
        let active: Vec<usize> = (0..32).filter(|lane| mask >> lane & 1 == 1).collect();
        let mut sectors: Vec<u64> = active
            .iter()
            .flat_map(|&lane| addresses[lane] / 32..=(addresses[lane] + u64::from(bytes) - 1) / 32)
            .collect();
        sectors.sort_unstable();
        sectors.dedup();
        prop_assert_eq!(pattern.sectors as usize, sectors.len());

        let lowest = active.iter().map(|&lane| addresses[lane]).min().unwrap();
        prop_assert!(pattern.groups.is_sorted_by(|a, b| a.0 < b.0));
        for lane in active {
            let group = pattern.groups.iter().find(|group| group.0 == addresses[lane] - lowest).unwrap();
            prop_assert!(group.1 >> lane & 1 == 1);
        }
        prop_assert_eq!(pattern.groups.iter().fold(0, |all, group| all | group.1), mask);
    }

    /// Merging phases only ever helps, and no access beats the width of the banks.
    #[test]
    fn wavefronts_are_bounded((bytes, mask, addresses) in access()) {
        let pattern = Pattern::new(bytes, mask, &addresses);
        prop_assert!(pattern.load_wavefronts >= 1);
        prop_assert!(pattern.load_wavefronts <= pattern.store_wavefronts);
        prop_assert!(pattern.store_wavefronts <= 32);
    }
}
