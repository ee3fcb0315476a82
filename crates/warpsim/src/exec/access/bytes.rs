//! Moving lanes' bytes between registers and memory.

// The simulated machine is little-endian; on such a host, values move as they are.
#[cfg(not(target_endian = "little"))]
compile_error!("warpsim runs on little-endian machines");

use crate::pattern::{Eight, Entry, Shape, lanes};
use crate::registers::Lanes;

/// Bytes on the host, and where each lane's begin.
pub(crate) struct Source<'s> {
    data: &'s [u8],
    /// For each byte 0xFF if it was written; `None`: all were.
    valid: Option<&'s [u8]>,
    /// For each lane an address; less `start`, they are offsets into `data` from which the lane's whole access is
    /// inside.
    at: &'s Lanes<u64>,
    start: u64,
    shape: &'s Shape,
}

impl<'s> Source<'s> {
    /// All lanes read `width` bytes at their address less `start`.
    ///
    /// # Safety
    /// For each lane those bytes are inside `data` and, if there is one, inside `valid`; `shape` says truly how each
    /// eight lanes lie.
    #[inline(always)]
    pub(crate) unsafe fn new(
        data: &'s [u8],
        valid: Option<&'s [u8]>,
        at: &'s Lanes<u64>,
        start: u64,
        shape: &'s Shape,
        width: usize,
    ) -> Source<'s> {
        debug_assert!(at.iter().all(|a| a.wrapping_sub(start) as usize + width <= data.len()));
        debug_assert!(valid.is_none_or(|v| v.len() == data.len()));
        Source { data, valid, at, start, shape }
    }

    #[inline(always)]
    fn place(&self, lane: usize) -> u64 {
        self.at[lane].wrapping_sub(self.start)
    }

    /// The lanes' values of up to 4 bytes, `offset` bytes behind where each begins (within its access).
    #[inline(always)]
    pub(crate) fn gather_words(&self, offset: usize, bytes: u8) -> Lanes<u32> {
        let mut out = [0; 32];
        macro_rules! each {
            ($ty:ty) => {
                for lane in 0..32 {
                    // SAFETY: every lane's access is inside `data`.
                    out[lane] =
                        u32::from(unsafe { read::<$ty>(self.data, self.place(lane) + offset as u64) });
                }
            };
        }
        match bytes {
            1 => each!(u8),
            2 => each!(u16),
            _ => each!(u32),
        }
        out
    }

    /// The lanes' values, where an access is 4 bytes.
    #[inline(always)]
    pub(crate) fn gather_into(&self, out: &mut Lanes<u32>) {
        // Most accesses lie alike in all eights: one look for all of them.
        match self.shape.all_eights {
            Eight::Contiguous => (0..4).for_each(|eight| self.gather_eight(Eight::Contiguous, eight, out)),
            Eight::Same => (0..4).for_each(|eight| self.gather_eight(Eight::Same, eight, out)),
            Eight::Scattered => {
                for (eight, &lie) in self.shape.eights.iter().enumerate() {
                    self.gather_eight(lie, eight, out);
                }
            }
        }
    }

    #[inline(always)]
    fn gather_eight(&self, lie: Eight, eight: usize, out: &mut Lanes<u32>) {
        let to = out[8 * eight..8 * eight + 8].as_mut_ptr();
        // SAFETY: every lane's access is inside `data`, and eight contiguous ones fill what lies between. `to` has room
        // for eight words. (Two halves are copied, since for eight words the compiler would make eight copies.)
        unsafe {
            match lie {
                Eight::Contiguous => {
                    let words = read::<[u128; 2]>(self.data, self.place(8 * eight));
                    to.cast::<[u128; 2]>().write_unaligned(words);
                }
                Eight::Same => {
                    let word = read::<u32>(self.data, self.place(8 * eight));
                    let two = u64::from(word) << 32 | u64::from(word);
                    to.cast::<[u64; 4]>().write_unaligned([two; 4]);
                }
                Eight::Scattered => {
                    for lane in 0..8 {
                        to.add(lane).write(read(self.data, self.place(8 * eight + lane)));
                    }
                }
            }
        }
    }

    /// The same for up to 8 bytes.
    #[inline(always)]
    pub(crate) fn gather(&self, offset: usize, bytes: u8) -> Lanes<u64> {
        if bytes < 8 {
            return self.gather_words(offset, bytes).map(u64::from);
        }
        let mut out = [0; 32];
        for lane in 0..32 {
            // SAFETY: every lane's access is inside `data`.
            out[lane] = unsafe { read(self.data, self.place(lane) + offset as u64) };
        }
        out
    }

    /// Whether all `width` bytes of all lanes' accesses were written.
    #[inline(always)]
    pub(crate) fn all_valid(&self, width: usize) -> bool {
        let Some(valid) = self.valid else { return true };
        let mut all = true;
        for (eight, lie) in self.shape.eights.iter().enumerate() {
            // SAFETY: every lane's access is inside `valid`, and contiguous ones fill what lies between.
            all &= unsafe {
                match lie {
                    Eight::Contiguous => are_ones(valid, self.place(8 * eight), 8 * width),
                    Eight::Same => are_ones(valid, self.place(8 * eight), width),
                    Eight::Scattered => {
                        let mut eight_valid = true;
                        for lane in 8 * eight..8 * eight + 8 {
                            eight_valid &= are_ones(valid, self.place(lane), width);
                        }
                        eight_valid
                    }
                }
            };
        }
        all
    }

    /// Lanes with a byte that nothing wrote.
    pub(crate) fn invalid(&self, offset: usize, bytes: u8) -> u32 {
        let Some(valid) = self.valid else { return 0 };
        let is_invalid = |lane: usize| {
            let from = self.place(lane) as usize + offset;
            valid[from..from + usize::from(bytes)].iter().any(|&v| v != 0xff)
        };
        (0..32).fold(0, |bits, lane| bits | u32::from(is_invalid(lane)) << lane)
    }
}

/// The addresses of the lanes in `mask` (not 0); the others read what the first of them does, so that all can be
/// treated alike.
pub(crate) fn like_first(addresses: &Lanes<u64>, mask: u32) -> Lanes<u64> {
    let first = addresses[mask.trailing_zeros() as usize % 32];
    std::array::from_fn(|lane| if mask >> lane & 1 != 0 { addresses[lane] } else { first })
}

/// A value at a place that need not be aligned.
///
/// # Safety
/// `at` and the bytes of a `T` behind it are inside `data`; every bit pattern is a `T`.
#[inline(always)]
pub(crate) unsafe fn read<T: Copy>(data: &[u8], at: u64) -> T {
    debug_assert!(at as usize + size_of::<T>() <= data.len());
    // SAFETY: as the caller promises.
    unsafe { data.as_ptr().add(at as usize).cast::<T>().read_unaligned() }
}

/// Whether `length` bytes from `at` on, a power of two, are all 0xFF.
///
/// # Safety
/// They are inside `valid`.
#[inline(always)]
unsafe fn are_ones(valid: &[u8], at: u64, length: usize) -> bool {
    // SAFETY: as the caller promises.
    unsafe {
        match length {
            1 => read::<u8>(valid, at) == u8::MAX,
            2 => read::<u16>(valid, at) == u16::MAX,
            4 => read::<u32>(valid, at) == u32::MAX,
            8 => read::<u64>(valid, at) == u64::MAX,
            16 => read::<u128>(valid, at) == u128::MAX,
            32 => {
                let [low, high] = read::<[u128; 2]>(valid, at);
                low & high == u128::MAX
            }
            _ => {
                let mut all = true;
                for part in (0..length).step_by(64) {
                    let [a, b, c, d] = read::<[u128; 4]>(valid, at + part as u64);
                    all &= a & b & c & d == u128::MAX;
                }
                all
            }
        }
    }
}

/// Whether all bytes are 0xFF.
#[inline(always)]
pub(crate) fn all_ones(valid: &[u8]) -> bool {
    // No early exit, so that this becomes vector instructions.
    valid.iter().fold(0xff, |all, byte| all & byte) == 0xff
}

/// Puts each lane's value at `offset` in the lane's `width` bytes of `data`.
#[inline(always)]
pub(crate) fn lay_out(data: &mut [u8; 1024], values: &Lanes<u32>, width: usize, offset: usize, bytes: u8) {
    if width == 4 && bytes == 4 {
        for lane in 0..32 {
            data[lane * 4..lane * 4 + 4].copy_from_slice(&values[lane].to_le_bytes());
        }
    } else if bytes == 4 {
        for lane in 0..32 {
            let from = lane * width + offset;
            data[from..from + 4].copy_from_slice(&values[lane].to_le_bytes());
        }
    } else {
        let bytes = usize::from(bytes);
        for lane in 0..32 {
            let from = lane * width + offset;
            data[from..from + bytes].copy_from_slice(&values[lane].to_le_bytes()[..bytes]);
        }
    }
}

/// The same for 64-bit registers.
pub(crate) fn lay_out_wide(
    data: &mut [u8; 1024],
    values: &Lanes<u64>,
    width: usize,
    offset: usize,
    bytes: u8,
) {
    let bytes = usize::from(bytes);
    for lane in 0..32 {
        let from = lane * width + offset;
        data[from..from + bytes].copy_from_slice(&values[lane].to_le_bytes()[..bytes]);
    }
}

/// Writes each lane's `width` bytes to its place, in order of lane, and marks them written.
#[inline(always)]
pub(crate) fn scatter(
    to: &mut [u8],
    valid: &mut [u8],
    at: &Lanes<u64>,
    mask: u32,
    eights: &[Eight; 4],
    data: &[u8; 1024],
    width: usize,
) {
    for (eight, &lie) in eights.iter().enumerate() {
        let first = 8 * eight;
        match (lie, width) {
            (Eight::Contiguous, 4) => put::<32>(to, valid, at[first], &data[4 * first..]),
            (Eight::Contiguous, _) => {
                put_some(to, valid, at[first], &data[width * first..width * (first + 8)])
            }
            // The last lane has the last word.
            (Eight::Same, _) => {
                put_some(to, valid, at[first + 7], &data[width * (first + 7)..width * (first + 8)]);
            }
            (Eight::Scattered, 4) => {
                for lane in lanes(mask & 0xff << first).map(|lane| lane as usize) {
                    put::<4>(to, valid, at[lane], &data[4 * lane..]);
                }
            }
            (Eight::Scattered, _) => {
                for lane in lanes(mask & 0xff << first).map(|lane| lane as usize) {
                    put_some(to, valid, at[lane], &data[width * lane..width * (lane + 1)]);
                }
            }
        }
    }
}

/// Writes a word for each lane of a full warp, in order of lane, the first lane's at `first` and the others' as `entry`
/// says; marks them written in `valid`, unless that is empty.
///
/// # Safety
/// All of them are inside `to` and, unless that is empty, inside `valid`.
#[inline(always)]
pub(crate) unsafe fn put_words(
    to: &mut [u8],
    valid: &mut [u8],
    first: u64,
    entry: &Entry,
    words: &Lanes<u32>,
) {
    let place = |lane: usize| first.wrapping_add(entry.relative[lane]);
    let shape = &entry.shape;
    // SAFETY: as the caller promises. Eight contiguous words fill what lies between.
    unsafe {
        if shape.all_eights == Eight::Contiguous {
            for (eight, words) in words.as_chunks::<8>().0.iter().enumerate() {
                write(to, place(8 * eight), *words);
                if !valid.is_empty() {
                    write(valid, place(8 * eight), [u32::MAX; 8]);
                }
            }
            return;
        }
        for (eight, lie) in shape.eights.iter().enumerate() {
            // Of lanes that store to one place, the last one has the last word.
            let from = if *lie == Eight::Same { 7 } else { 0 };
            for lane in 8 * eight + from..8 * eight + 8 {
                write(to, place(lane), words[lane]);
                if !valid.is_empty() {
                    write(valid, place(lane), u32::MAX);
                }
            }
        }
    }
}

/// Writes a value to a place that need not be aligned.
///
/// # Safety
/// `at` and the bytes of a `T` behind it are inside `to`; it is plain bits.
#[inline(always)]
unsafe fn write<T: Copy>(to: &mut [u8], at: u64, value: T) {
    debug_assert!(at as usize + size_of::<T>() <= to.len());
    // SAFETY: as the caller promises.
    unsafe { to.as_mut_ptr().add(at as usize).cast::<T>().write_unaligned(value) }
}

/// Writes the first `N` bytes of `from`.
#[inline(always)]
pub(crate) fn put<const N: usize>(to: &mut [u8], valid: &mut [u8], at: u64, from: &[u8]) {
    let range = at as usize..at as usize + N;
    to[range.clone()].copy_from_slice(&from[..N]);
    valid[range].copy_from_slice(&[0xff; N]);
}

/// Writes all of `from`.
fn put_some(to: &mut [u8], valid: &mut [u8], at: u64, from: &[u8]) {
    let range = at as usize..at as usize + from.len();
    to[range.clone()].copy_from_slice(from);
    valid[range].fill(0xff);
}
