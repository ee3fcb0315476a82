//! Moving lanes' bytes between registers and memory.

use crate::pattern::lanes;
use crate::registers::Lanes;

/// Bytes on the host, and where each lane's begin. Lanes that take no part point anywhere inside.
pub(super) struct Source<'s> {
    pub(super) data: &'s [u8],
    /// For each byte 0xFF if it was written; `None`: all were.
    pub(super) valid: Option<&'s [u8]>,
    pub(super) at: [usize; 32],
}

impl Source<'_> {
    /// The lanes' values of up to 4 bytes, `offset` bytes behind where each begins.
    #[inline(always)]
    pub(super) fn gather_words(&self, offset: usize, bytes: u8) -> Lanes<u32> {
        words(self.data, &self.at, offset, bytes)
    }

    /// The same for up to 8 bytes.
    pub(super) fn gather(&self, offset: usize, bytes: u8) -> Lanes<u64> {
        if bytes < 8 {
            return self.gather_words(offset, bytes).map(u64::from);
        }
        std::array::from_fn(|lane| {
            let from = self.at[lane] + offset;
            self.data.get(from..from + 8).map_or(0, |b| u64::from_le_bytes(b.try_into().expect("8 bytes")))
        })
    }

    /// Lanes with a byte that nothing wrote.
    #[inline(always)]
    pub(super) fn invalid(&self, offset: usize, bytes: u8) -> u32 {
        let Some(valid) = self.valid else { return 0 };
        if bytes == 8 {
            return words_invalid(&words(valid, &self.at, offset, 4), u32::MAX)
                | words_invalid(&words(valid, &self.at, offset + 4, 4), u32::MAX);
        }
        words_invalid(&words(valid, &self.at, offset, bytes), u32::MAX >> (32 - 8 * u32::from(bytes)))
    }
}

#[inline(always)]
fn words_invalid(valid: &Lanes<u32>, full: u32) -> u32 {
    if valid.iter().fold(u32::MAX, |all, v| all & v) & full == full {
        return 0;
    }
    valid.iter().enumerate().fold(0, |bits, (lane, &v)| bits | u32::from(v != full) << lane)
}

#[inline(always)]
fn words(data: &[u8], at: &[usize; 32], offset: usize, bytes: u8) -> Lanes<u32> {
    let mut out = [0; 32];
    // A lane that takes no part may point too close to the end.
    macro_rules! each {
        ($n:literal, $ty:ty) => {
            for lane in 0..32 {
                let from = at[lane] + offset;
                if let Some(b) = data.get(from..from + $n) {
                    out[lane] = u32::from(<$ty>::from_le_bytes(b.try_into().expect("as many bytes")));
                }
            }
        };
    }
    match bytes {
        1 => each!(1, u8),
        2 => each!(2, u16),
        _ => each!(4, u32),
    }
    out
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
    at: &[usize; 32],
    mask: u32,
    data: &[u8; 1024],
    width: usize,
) {
    if width == 4 {
        for lane in lanes(mask).map(|l| l as usize) {
            let range = at[lane]..at[lane] + 4;
            to[range.clone()].copy_from_slice(&data[lane * 4..lane * 4 + 4]);
            valid[range].copy_from_slice(&[0xff; 4]);
        }
        return;
    }
    for lane in lanes(mask).map(|l| l as usize) {
        let range = at[lane]..at[lane] + width;
        to[range.clone()].copy_from_slice(&data[lane * width..(lane + 1) * width]);
        valid[range].fill(0xff);
    }
}
