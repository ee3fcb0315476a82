//! Dot products in every lane: chains of multiply-adds, whose results along the way nobody sees.
//!
//! A NaN stays one to the end of the chain, so it is enough to give it its one payload there.

use super::Sum;
use crate::exec::access::bytes::read;
use crate::isa::canon;
use crate::registers::{Lanes, Registers};

/// Where the words that all lanes load are, eight lanes' each, less a distance.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) eights: [u64; 4],
    /// Whether each eight lanes load the same word, rather than words that lie one behind the other.
    pub(crate) is_same: bool,
}

/// The sum of `from` and of products of words in `data`; `distances` is what to add to the addresses of either row.
///
/// # Safety
/// All words are inside `data`, and with `HAS_AVX2` the CPU has AVX2 and FMA.
pub(crate) unsafe fn of_rows(
    has_avx2: bool,
    from: &Lanes<u32>,
    data: &[u8],
    [a, b]: [Row; 2],
    distances: &[[i64; 2]],
) -> Lanes<u32> {
    let places = [a.eights, b.eights];
    // SAFETY: as the caller promises.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if has_avx2 {
            return match (a.is_same, b.is_same) {
                (false, false) => avx2::of_rows::<false, false>(from, data, places, distances),
                (false, true) => avx2::of_rows::<false, true>(from, data, places, distances),
                (true, false) => avx2::of_rows::<true, false>(from, data, places, distances),
                (true, true) => avx2::of_rows::<true, true>(from, data, places, distances),
            };
        }
        let _ = has_avx2;
        let mut sums = from.map(f32::from_bits);
        for &distances in distances {
            for (lane, sum) in sums.iter_mut().enumerate() {
                let [a, b] = [(a, distances[0]), (b, distances[1])].map(|(row, distance)| {
                    let behind = if row.is_same { 0 } else { 4 * (lane as i64 % 8) };
                    read::<f32>(data, row.eights[lane / 8].wrapping_add_signed(distance + behind))
                });
                *sum = a.mul_add(b, *sum);
            }
        }
        sums.map(|sum| canon(sum).to_bits())
    }
}

/// Executes a chain on registers.
pub(crate) fn of_registers(has_avx2: bool, registers: &mut Registers, sum: &Sum) {
    #[cfg(target_arch = "x86_64")]
    if has_avx2 {
        // SAFETY: the CPU was asked.
        return unsafe { avx2::of_registers(registers, sum) };
    }
    let _ = has_avx2;
    let mut sums = registers.word(sum.from).map(f32::from_bits);
    for factors in &sum.factors {
        let [a, b] = factors.map(|factor| registers.word(factor));
        for (lane, sum) in sums.iter_mut().enumerate() {
            *sum = f32::from_bits(a[lane]).mul_add(f32::from_bits(b[lane]), *sum);
        }
    }
    *registers.word_mut(sum.to) = sums.map(|sum| canon(sum).to_bits());
}

/// The same with vectors, which the compiler does not keep in registers by itself.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_set1_ps, _mm256_setzero_ps, _mm256_storeu_ps,
    };

    use super::{Lanes, Registers, Sum, canon, read};

    #[target_feature(enable = "avx2,fma")]
    pub(crate) unsafe fn of_rows<const SAME_A: bool, const SAME_B: bool>(
        from: &Lanes<u32>,
        data: &[u8],
        [a, b]: [[u64; 4]; 2],
        distances: &[[i64; 2]],
    ) -> Lanes<u32> {
        let mut sums = load(from);
        for &[to_a, to_b] in distances {
            for eight in 0..4 {
                // SAFETY: as the caller of the function outside promises.
                let (a, b) = unsafe {
                    (eight_of::<SAME_A>(data, a[eight], to_a), eight_of::<SAME_B>(data, b[eight], to_b))
                };
                sums[eight] = _mm256_fmadd_ps(a, b, sums[eight]);
            }
        }
        store(sums)
    }

    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn of_registers(registers: &mut Registers, sum: &Sum) {
        let mut sums = load(registers.word(sum.from));
        for &[a, b] in &sum.factors {
            let (a, b) = (load(registers.word(a)), load(registers.word(b)));
            for eight in 0..4 {
                sums[eight] = _mm256_fmadd_ps(a[eight], b[eight], sums[eight]);
            }
        }
        *registers.word_mut(sum.to) = store(sums);
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn eight_of<const SAME: bool>(data: &[u8], address: u64, distance: i64) -> __m256 {
        let at = address.wrapping_add_signed(distance);
        // SAFETY: as the caller promises.
        unsafe { if SAME { _mm256_set1_ps(read(data, at)) } else { read(data, at) } }
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn load(lanes: &Lanes<u32>) -> [__m256; 4] {
        let mut eights = [_mm256_setzero_ps(); 4];
        for (to, eight) in eights.iter_mut().zip(lanes.as_chunks::<8>().0) {
            // SAFETY: eight words are what it loads.
            *to = unsafe { _mm256_loadu_ps(eight.as_ptr().cast()) };
        }
        eights
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn store(eights: [__m256; 4]) -> Lanes<u32> {
        let mut sums = [0.0f32; 32];
        for (eight, to) in eights.into_iter().zip(sums.as_chunks_mut::<8>().0) {
            // SAFETY: there is room for eight words.
            unsafe { _mm256_storeu_ps(to.as_mut_ptr(), eight) };
        }
        let mut bits = [0; 32];
        for lane in 0..32 {
            bits[lane] = canon(sums[lane]).to_bits();
        }
        bits
    }
}
