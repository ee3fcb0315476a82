//! Dot products in every lane: chains of multiply-adds, whose results along the way nobody sees.
//!
//! A NaN stays one to the end of the chain, so it is enough to give it its one payload there.

use super::Dot;
use crate::exec::Located;
use crate::exec::access::bytes::read;
use crate::exec::access::layout::Octet;
use crate::isa::canon;
use crate::registers::{Lanes, Registers};

/// Products of what two load groups load.
#[derive(Debug)]
pub(super) struct Products {
    groups: [u32; 2],
    /// For each product the distances of the two loads from the first ones of their groups.
    distances: Vec<[i64; 2]>,
    /// For each group the least and the greatest distance.
    bounds: [[i64; 2]; 2],
}

impl Products {
    pub(super) fn new(groups: [u32; 2], distances: Vec<[i64; 2]>) -> Products {
        let bounds = [0, 1].map(|group| {
            let of_group = || distances.iter().map(|distance| distance[group]);
            [of_group().min().unwrap_or(0), of_group().max().unwrap_or(0)]
        });
        Products { groups, distances, bounds }
    }

    /// Numbers of the groups.
    pub(super) fn groups(&self) -> [u32; 2] {
        self.groups
    }

    /// The sum of `from` and of all products, of what is located there in memory, with octets that are not scattered.
    /// `has_avx2`: the CPU has AVX2 and FMA.
    #[inline(always)]
    pub(super) fn sum(
        &self,
        has_avx2: bool,
        from: &Lanes<u32>,
        [a, b]: &[Located<'_>; 2],
    ) -> Option<Lanes<u32>> {
        let is_word = |group: &Located<'_>| group.is_words() && group.all_octets() != Octet::Scattered;
        if !(is_word(a) && is_word(b) && a.covers(self.bounds[0]) && b.covers(self.bounds[1])) {
            return None;
        }
        let is_same = [a, b].map(|group| group.all_octets() == Octet::Same);
        let [(data_a, a), (data_b, b)] = [a, b].map(Located::octet_starts);
        // SAFETY: both groups are words, located with room for all distances; an octet is one word or eight that follow
        // each other.
        Some(unsafe { sum(has_avx2, from, [data_a, data_b], [a, b], is_same, &self.distances) })
    }
}

/// # Safety
/// The words of all octets of a group, at its `starts` plus each distance, are inside its `data`, and with `has_avx2` the CPU has AVX2 and FMA.
#[inline(always)]
unsafe fn sum(
    has_avx2: bool,
    from: &Lanes<u32>,
    data: [&[u8]; 2],
    starts: [[u64; 4]; 2],
    is_same: [bool; 2],
    distances: &[[i64; 2]],
) -> Lanes<u32> {
    // SAFETY: as the caller promises.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if has_avx2 {
            return match is_same {
                [false, false] => avx2::sum::<false, false>(from, data, starts, distances),
                [false, true] => avx2::sum::<false, true>(from, data, starts, distances),
                [true, false] => avx2::sum::<true, false>(from, data, starts, distances),
                [true, true] => avx2::sum::<true, true>(from, data, starts, distances),
            };
        }
        let _ = has_avx2;
        let mut sums = from.map(f32::from_bits);
        for &distances in distances {
            for (lane, sum) in sums.iter_mut().enumerate() {
                let [a, b] = [0, 1].map(|group| {
                    let after = if is_same[group] { 0 } else { 4 * (lane as i64 % 8) };
                    read::<f32>(
                        data[group],
                        starts[group][lane / 8].wrapping_add_signed(distances[group] + after),
                    )
                });
                *sum = a.mul_add(b, *sum);
            }
        }
        sums.map(|sum| canon(sum).to_bits())
    }
}

/// Executes a chain on registers.
pub(super) fn of_registers(has_avx2: bool, registers: &mut Registers, dot: &Dot) {
    #[cfg(target_arch = "x86_64")]
    if has_avx2 {
        // SAFETY: the CPU was asked.
        return unsafe { avx2::of_registers(registers, dot) };
    }
    let _ = has_avx2;
    let mut sums = registers.word(dot.from).map(f32::from_bits);
    for factors in &dot.factors {
        let [a, b] = factors.map(|factor| registers.word(factor));
        for (lane, sum) in sums.iter_mut().enumerate() {
            *sum = f32::from_bits(a[lane]).mul_add(f32::from_bits(b[lane]), *sum);
        }
    }
    *registers.word_mut(dot.to) = sums.map(|sum| canon(sum).to_bits());
}

/// The same with vectors, which the compiler does not keep in registers by itself.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_set1_ps, _mm256_setzero_ps, _mm256_storeu_ps,
    };

    use super::{Dot, Lanes, Registers, canon, read};

    #[target_feature(enable = "avx2,fma")]
    pub(crate) unsafe fn sum<const SAME_A: bool, const SAME_B: bool>(
        from: &Lanes<u32>,
        [data_a, data_b]: [&[u8]; 2],
        [a, b]: [[u64; 4]; 2],
        distances: &[[i64; 2]],
    ) -> Lanes<u32> {
        let mut sums = load(from);
        for &[to_a, to_b] in distances {
            for octet in 0..4 {
                // SAFETY: as the caller of the function outside promises.
                let (a, b) = unsafe {
                    (octet_of::<SAME_A>(data_a, a[octet], to_a), octet_of::<SAME_B>(data_b, b[octet], to_b))
                };
                sums[octet] = _mm256_fmadd_ps(a, b, sums[octet]);
            }
        }
        store(sums)
    }

    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn of_registers(registers: &mut Registers, dot: &Dot) {
        let mut sums = load(registers.word(dot.from));
        for &[a, b] in &dot.factors {
            let (a, b) = (load(registers.word(a)), load(registers.word(b)));
            for octet in 0..4 {
                sums[octet] = _mm256_fmadd_ps(a[octet], b[octet], sums[octet]);
            }
        }
        *registers.word_mut(dot.to) = store(sums);
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn octet_of<const SAME: bool>(data: &[u8], address: u64, distance: i64) -> __m256 {
        let at = address.wrapping_add_signed(distance);
        // SAFETY: as the caller promises.
        unsafe { if SAME { _mm256_set1_ps(read(data, at)) } else { read(data, at) } }
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn load(lanes: &Lanes<u32>) -> [__m256; 4] {
        let mut octets = [_mm256_setzero_ps(); 4];
        for (to, octet) in octets.iter_mut().zip(lanes.as_chunks::<8>().0) {
            // SAFETY: eight words are what it loads.
            *to = unsafe { _mm256_loadu_ps(octet.as_ptr().cast()) };
        }
        octets
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn store(octets: [__m256; 4]) -> Lanes<u32> {
        let mut sums = [0.0f32; 32];
        for (octet, to) in octets.into_iter().zip(sums.as_chunks_mut::<8>().0) {
            // SAFETY: there is room for eight words.
            unsafe { _mm256_storeu_ps(to.as_mut_ptr(), octet) };
        }
        let mut bits = [0; 32];
        for lane in 0..32 {
            bits[lane] = canon(sums[lane]).to_bits();
        }
        bits
    }
}
