//! Moving lanes' bytes between registers and memory.

use crate::pattern::lanes;
use crate::registers::Lanes;

/// Bytes on the host, and where each lane's begin.
pub(super) struct Source<'s> {
    data: &'s [u8],
    /// For each byte 0xFF if it was written; `None`: all were.
    valid: Option<&'s [u8]>,
    /// For each lane an address; less `start`, they are offsets into `data` from which the lane's whole access is
    /// inside.
    at: &'s Lanes<u64>,
    start: u64,
}

impl<'s> Source<'s> {
    /// All lanes read `width` bytes at their address less `start`.
    ///
    /// # Safety
    /// For each lane those bytes are inside `data` and, if there is one, inside `valid`.
    #[inline(always)]
    pub(super) unsafe fn new(
        data: &'s [u8],
        valid: Option<&'s [u8]>,
        at: &'s Lanes<u64>,
        start: u64,
        width: usize,
    ) -> Source<'s> {
        debug_assert!(at.iter().all(|a| a.wrapping_sub(start) as usize + width <= data.len()));
        debug_assert!(valid.is_none_or(|v| v.len() == data.len()));
        Source { data, valid, at, start }
    }

    #[inline(always)]
    fn place(&self, lane: usize) -> u64 {
        self.at[lane].wrapping_sub(self.start)
    }

    /// The lanes' values of up to 4 bytes, `offset` bytes behind where each begins (within its access).
    #[inline(always)]
    pub(super) fn gather_words(&self, offset: usize, bytes: u8) -> Lanes<u32> {
        let mut out = [0; 32];
        macro_rules! each {
            ($ty:ty) => {
                for lane in 0..32 {
                    // SAFETY: every lane's access is inside `data`.
                    out[lane] =
                        u32::from(<$ty>::from_le(unsafe { read(self.data, self.place(lane), offset) }));
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

    /// The lanes' values of 4 bytes each.
    #[inline(always)]
    pub(super) fn gather_into(&self, out: &mut Lanes<u32>) {
        for (lane, out) in out.iter_mut().enumerate() {
            // SAFETY: every lane's access is inside `data`.
            *out = u32::from_le(unsafe { read(self.data, self.place(lane), 0) });
        }
    }

    /// The same for up to 8 bytes.
    #[inline(always)]
    pub(super) fn gather(&self, offset: usize, bytes: u8) -> Lanes<u64> {
        let mut out = [0; 32];
        if bytes < 8 {
            let narrow = self.gather_words(offset, bytes);
            for lane in 0..32 {
                out[lane] = u64::from(narrow[lane]);
            }
            return out;
        }
        for lane in 0..32 {
            // SAFETY: every lane's access is inside `data`.
            out[lane] = u64::from_le(unsafe { read(self.data, self.place(lane), offset) });
        }
        out
    }

    /// Lanes with a byte that nothing wrote.
    #[inline(always)]
    pub(super) fn invalid(&self, offset: usize, bytes: u8) -> u32 {
        let Some(valid) = self.valid else { return 0 };
        let mut all = u64::MAX;
        macro_rules! each {
            ($ty:ty) => {
                for lane in 0..32 {
                    // SAFETY: every lane's access is inside `valid`, which is as long as `data`.
                    all &= u64::from(unsafe { read::<$ty>(valid, self.place(lane), offset) });
                }
            };
        }
        match bytes {
            1 => each!(u8),
            2 => each!(u16),
            4 => each!(u32),
            _ => each!(u64),
        }
        if all == u64::MAX >> (64 - 8 * u32::from(bytes)) {
            return 0;
        }
        let is_invalid = |lane: usize| {
            let from = self.place(lane) as usize + offset;
            valid[from..from + usize::from(bytes)].iter().any(|&v| v != 0xff)
        };
        (0..32).fold(0, |bits, lane| bits | u32::from(is_invalid(lane)) << lane)
    }
}

/// The addresses of the lanes in `mask` (not 0); the others read what the first of them does, so that all can be
/// treated alike.
pub(super) fn like_first(addresses: &Lanes<u64>, mask: u32) -> Lanes<u64> {
    let first = addresses[mask.trailing_zeros() as usize % 32];
    std::array::from_fn(|lane| if mask >> lane & 1 != 0 { addresses[lane] } else { first })
}

/// A number at a place that need not be aligned.
///
/// # Safety
/// `at + offset` and the bytes of a `T` behind it are inside `data`.
#[inline(always)]
unsafe fn read<T: Copy>(data: &[u8], at: u64, offset: usize) -> T {
    // SAFETY: as the caller promises.
    unsafe { data.as_ptr().add(at as usize + offset).cast::<T>().read_unaligned() }
}

/// Puts each lane's value at `offset` in the lane's `width` bytes of `data`.
#[inline(always)]
pub(super) fn lay_out(data: &mut [u8; 1024], values: &Lanes<u32>, width: usize, offset: usize, bytes: u8) {
    if width == 4 && bytes == 4 {
        for lane in 0..32 {
            data[lane * 4..lane * 4 + 4].copy_from_slice(&values[lane].to_le_bytes());
        }
        return;
    }
    let bytes = usize::from(bytes);
    for lane in 0..32 {
        let from = lane * width + offset;
        data[from..from + bytes].copy_from_slice(&values[lane].to_le_bytes()[..bytes]);
    }
}

/// The same for 64-bit registers.
pub(super) fn lay_out_wide(
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
pub(super) fn scatter(
    to: &mut [u8],
    valid: &mut [u8],
    at: &Lanes<u64>,
    mask: u32,
    data: &[u8; 1024],
    width: usize,
) {
    if width == 4 {
        for lane in lanes(mask).map(|l| l as usize) {
            let range = at[lane] as usize..at[lane] as usize + 4;
            to[range.clone()].copy_from_slice(&data[lane * 4..lane * 4 + 4]);
            valid[range].copy_from_slice(&[0xff; 4]);
        }
        return;
    }
    for lane in lanes(mask).map(|l| l as usize) {
        let range = at[lane] as usize..at[lane] as usize + width;
        to[range.clone()].copy_from_slice(&data[lane * width..(lane + 1) * width]);
        valid[range].fill(0xff);
    }
}
