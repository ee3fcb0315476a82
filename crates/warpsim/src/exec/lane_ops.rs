//! What has to be fast for all lanes at once and does not vectorise by itself.

use crate::registers::Lanes;

/// Picks the fastest way this CPU has.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneOps {
    pub(super) has_avx2: bool,
}

impl LaneOps {
    pub(super) fn new() -> LaneOps {
        #[cfg(target_arch = "x86_64")]
        let has_avx2 = crate::alu::has_avx2();
        #[cfg(not(target_arch = "x86_64"))]
        let has_avx2 = false;
        LaneOps { has_avx2 }
    }

    /// Whether all addresses are multiples of `width`, a power of two, and at most `last` above `start`, where
    /// `last` is below 2^63. May say no where lanes that do not matter hold anything.
    #[inline(always)]
    pub(super) fn all_inside(self, addresses: &Lanes<u64>, start: u64, last: u64, width: u64) -> bool {
        #[cfg(target_arch = "x86_64")]
        if self.has_avx2 {
            // SAFETY: the CPU has AVX2.
            return unsafe { all_inside_avx2(addresses, start, last, width) };
        }
        all_inside(addresses, start, last, width)
    }
}

fn all_inside(addresses: &Lanes<u64>, start: u64, last: u64, width: u64) -> bool {
    addresses.iter().all(|&address| address.wrapping_sub(start) <= last && address & (width - 1) == 0)
}

/// The top bit of `offset | (last - offset)` is set just where `offset` is beyond `last`.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn all_inside_avx2(addresses: &Lanes<u64>, start: u64, last: u64, width: u64) -> bool {
    use std::arch::x86_64::{
        __m256i, _mm256_castsi256_pd, _mm256_loadu_si256, _mm256_movemask_pd, _mm256_or_si256,
        _mm256_set1_epi64x, _mm256_setzero_si256, _mm256_sub_epi64, _mm256_testz_si256,
    };
    let (first, limit) = (_mm256_set1_epi64x(start as i64), _mm256_set1_epi64x(last as i64));
    let mut outside = _mm256_setzero_si256();
    let mut all = _mm256_setzero_si256();
    for four in addresses.chunks_exact(4) {
        // SAFETY: a chunk has 4 addresses, and the load need not be aligned.
        let address = unsafe { _mm256_loadu_si256(four.as_ptr().cast::<__m256i>()) };
        let offset = _mm256_sub_epi64(address, first);
        outside = _mm256_or_si256(outside, _mm256_or_si256(offset, _mm256_sub_epi64(limit, offset)));
        all = _mm256_or_si256(all, address);
    }
    _mm256_movemask_pd(_mm256_castsi256_pd(outside)) == 0
        && _mm256_testz_si256(all, _mm256_set1_epi64x(width as i64 - 1)) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_agree() {
        let ways = [LaneOps { has_avx2: false }, LaneOps::new()];
        let spread = |f: &dyn Fn(u64) -> u64| -> Lanes<u64> { std::array::from_fn(|lane| f(lane as u64)) };
        for way in ways {
            assert!(way.all_inside(&spread(&|l| 1000 + 4 * l), 1000, 124, 4));
            assert!(!way.all_inside(&spread(&|l| 1000 + 4 * l), 1000, 120, 4), "the last lane is beyond");
            assert!(!way.all_inside(&spread(&|l| 1000 + 4 * l), 1004, 124, 4), "the first lane is before");
            assert!(!way.all_inside(&spread(&|l| 1000 + 4 * l + l / 31), 1000, 200, 4), "one is not aligned");
            assert!(!way.all_inside(&spread(&|l| if l == 7 { u64::MAX - 3 } else { 0 }), 0, 100, 4));
            assert!(way.all_inside(&[0; 32], 0, 0, 16));
        }
    }
}
