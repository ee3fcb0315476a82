//! Moving lanes' bytes between registers and memory.

// The simulated machine is little-endian; on such a host, values move as they are.
#[cfg(not(target_endian = "little"))]
compile_error!("warpsim runs on little-endian machines");

use super::layout::{Layout, Octet};
use crate::pattern::lanes;
use crate::registers::Lanes;

/// Lanes' bytes on the host, for reading. It is only made of lanes whose bytes are seen to be inside, so that reading
/// needs no check: what is unsafe about an access is here and nowhere else, but for the vectors of dot products.
pub(crate) struct Located<'m> {
    data: &'m [u8],
    /// For each byte 0xFF if it was written; `None`: all were.
    valid: Option<&'m [u8]>,
    /// For each lane an offset; plus `first`, where in `data` its bytes begin.
    at: &'m Lanes<u64>,
    first: u64,
    /// Bytes per lane.
    width: usize,
    octets: [Octet; 4],
    all_octets: Octet,
    /// The least and the greatest distance that all lanes may be moved by.
    #[cfg_attr(not(feature = "fuse"), allow(dead_code))]
    room: [i64; 2],
}

impl<'m> Located<'m> {
    /// Lanes that lie as `layout` says, the first active one's bytes at `first` in `data`; those that are not active read
    /// what the first one does. They may be moved by `room`. `None` if not all bytes are inside.
    #[inline(always)]
    pub(crate) fn new(
        layout: &'m Layout,
        first: u64,
        room: [i64; 2],
        data: &'m [u8],
        valid: Option<&'m [u8]>,
    ) -> Option<Located<'m>> {
        let (length, between) = (data.len() as u64, room[1].wrapping_sub(room[0]) as u64);
        let lowest = first.wrapping_add(layout.low).wrapping_add_signed(room[0]);
        let extent = layout.span.checked_add(layout.width())?.checked_add(between)?;
        let is_inside = extent <= length && lowest <= length - extent;
        let has_valid = valid.is_none_or(|valid| valid.len() == data.len());
        let Layout { relative: at, octets, all_octets, .. } = layout;
        (is_inside && has_valid).then_some(Located {
            data,
            valid,
            at,
            first,
            width: layout.width() as usize,
            octets: *octets,
            all_octets: *all_octets,
            room,
        })
    }

    /// Lanes whose `width` bytes begin at these offsets in `data`. `None` if not all are inside.
    pub(crate) fn scattered(
        at: &'m Lanes<u64>,
        width: usize,
        data: &'m [u8],
        valid: &'m [u8],
    ) -> Option<Located<'m>> {
        let last = (data.len().min(valid.len())).checked_sub(width)? as u64;
        at.iter().all(|&at| at <= last).then_some(Located {
            data,
            valid: Some(valid),
            at,
            first: 0,
            width,
            octets: [Octet::Scattered; 4],
            all_octets: Octet::Scattered,
            room: [0, 0],
        })
    }

    #[inline(always)]
    fn place(&self, lane: usize) -> u64 {
        self.at[lane].wrapping_add(self.first)
    }

    /// The lanes' values of up to 4 bytes, `offset` bytes after where each begins (within its access).
    #[inline(always)]
    pub(crate) fn gather_words(&self, offset: usize, bytes: u8) -> Lanes<u32> {
        assert!(offset + usize::from(bytes).min(4) <= self.width);
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
        assert!(self.width == 4);
        // Most accesses lie alike in all octets: one look for all of them.
        match self.all_octets {
            Octet::Contiguous => (0..4).for_each(|octet| self.gather_octet(Octet::Contiguous, octet, out)),
            Octet::Same => (0..4).for_each(|octet| self.gather_octet(Octet::Same, octet, out)),
            Octet::Scattered => {
                for (octet, &lie) in self.octets.iter().enumerate() {
                    self.gather_octet(lie, octet, out);
                }
            }
        }
    }

    #[inline(always)]
    fn gather_octet(&self, lie: Octet, octet: usize, out: &mut Lanes<u32>) {
        let to = out[8 * octet..8 * octet + 8].as_mut_ptr();
        // SAFETY: every lane's access is inside `data`, and eight contiguous ones fill what lies between. `to` has room
        // for eight words. (Two halves are copied, since for eight words the compiler would make eight copies.)
        unsafe {
            match lie {
                Octet::Contiguous => {
                    let words = read::<[u128; 2]>(self.data, self.place(8 * octet));
                    to.cast::<[u128; 2]>().write_unaligned(words);
                }
                Octet::Same => {
                    let word = read::<u32>(self.data, self.place(8 * octet));
                    let two = u64::from(word) << 32 | u64::from(word);
                    to.cast::<[u64; 4]>().write_unaligned([two; 4]);
                }
                Octet::Scattered => {
                    for lane in 0..8 {
                        to.add(lane).write(read(self.data, self.place(8 * octet + lane)));
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
        assert!(offset + 8 <= self.width);
        let mut out = [0; 32];
        for lane in 0..32 {
            // SAFETY: every lane's access is inside `data`.
            out[lane] = unsafe { read(self.data, self.place(lane) + offset as u64) };
        }
        out
    }

    /// Whether all bytes of all lanes' accesses were written.
    #[inline(always)]
    pub(crate) fn all_valid(&self) -> bool {
        let width = self.width;
        let Some(valid) = self.valid else { return true };
        let mut all = true;
        for (octet, lie) in self.octets.iter().enumerate() {
            // SAFETY: every lane's access is inside `valid`, and contiguous ones fill what lies between.
            all &= unsafe {
                match lie {
                    Octet::Contiguous => are_ones(valid, self.place(8 * octet), 8 * width),
                    Octet::Same => are_ones(valid, self.place(8 * octet), width),
                    Octet::Scattered => {
                        let mut eight_valid = true;
                        for lane in 8 * octet..8 * octet + 8 {
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

/// What load groups and dot products need.
#[cfg(feature = "fuse")]
impl<'m> Located<'m> {
    /// The same lanes, so many bytes further on.
    ///
    /// # Panics
    /// If there is no room.
    #[inline(always)]
    pub(crate) fn moved(&self, distance: i64) -> Located<'m> {
        assert!(self.covers([distance, distance]));
        Located { first: self.first.wrapping_add_signed(distance), room: [0, 0], ..*self }
    }

    /// Whether all lanes may be moved by each of these distances.
    #[inline(always)]
    pub(crate) fn covers(&self, [least, greatest]: [i64; 2]) -> bool {
        self.room[0] <= least && greatest <= self.room[1]
    }

    /// Whether each lane has a word.
    #[inline(always)]
    pub(crate) fn is_words(&self) -> bool {
        self.width == 4
    }

    /// The memory, and where the bytes of lanes 0, 8, 16 and 24 begin in it.
    #[inline(always)]
    pub(crate) fn octet_starts(&self) -> (&'m [u8], [u64; 4]) {
        (self.data, [0, 8, 16, 24].map(|lane| self.place(lane)))
    }

    /// How all octets lie, or `Scattered` if that differs.
    #[inline(always)]
    pub(crate) fn all_octets(&self) -> Octet {
        self.all_octets
    }

    /// Whether everything from the lowest to the highest byte was written, wherever the lanes are moved.
    #[inline(always)]
    pub(crate) fn all_valid_between(&self, layout: &Layout) -> bool {
        let Some(valid) = self.valid else { return true };
        let from = self.first.wrapping_add(layout.low).wrapping_add_signed(self.room[0]) as usize;
        let extent = layout.span + layout.width() + self.room[1].wrapping_sub(self.room[0]) as u64;
        // No early exit, so that this becomes vector instructions.
        valid[from..from + extent as usize].iter().fold(0xff, |all, byte| all & byte) == 0xff
    }
}

/// A value at a place that need not be aligned.
///
/// # Safety
/// `at` and the bytes of a `T` after it are inside `data`; every bit pattern is a `T`.
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
    octets: &[Octet; 4],
    data: &[u8; 1024],
    width: usize,
) {
    for (octet, &lie) in octets.iter().enumerate() {
        let first = 8 * octet;
        match (lie, width) {
            (Octet::Contiguous, 4) => put::<32>(to, valid, at[first], &data[4 * first..]),
            (Octet::Contiguous, _) => {
                put_some(to, valid, at[first], &data[width * first..width * (first + 8)])
            }
            // The last lane has the last word.
            (Octet::Same, _) => {
                put_some(to, valid, at[first + 7], &data[width * (first + 7)..width * (first + 8)]);
            }
            (Octet::Scattered, 4) => {
                for lane in lanes(mask & 0xff << first).map(|lane| lane as usize) {
                    put::<4>(to, valid, at[lane], &data[4 * lane..]);
                }
            }
            (Octet::Scattered, _) => {
                for lane in lanes(mask & 0xff << first).map(|lane| lane as usize) {
                    put_some(to, valid, at[lane], &data[width * lane..width * (lane + 1)]);
                }
            }
        }
    }
}

/// A full warp's words in memory, for writing; as [`Located`].
pub(crate) struct LocatedMut<'m> {
    data: &'m mut [u8],
    /// Empty: nobody asks what was written.
    valid: &'m mut [u8],
    layout: &'m Layout,
    first: u64,
}

impl<'m> LocatedMut<'m> {
    /// Words that lie as `layout` says, the first lane's at `first` in `data`. `None` if not all are inside.
    #[inline(always)]
    pub(crate) fn new(
        layout: &'m Layout,
        first: u64,
        data: &'m mut [u8],
        valid: &'m mut [u8],
    ) -> Option<LocatedMut<'m>> {
        let is_inside = Located::new(layout, first, [0, 0], data, None).is_some() && layout.width() == 4;
        let has_valid = valid.is_empty() || valid.len() == data.len();
        (is_inside && has_valid).then_some(LocatedMut { data, valid, layout, first })
    }

    /// Writes a word for each lane, in order of lane, and marks them written.
    #[inline(always)]
    pub(crate) fn put(self, words: &Lanes<u32>) {
        let LocatedMut { data, valid, layout, first } = self;
        let place = |lane: usize| first.wrapping_add(layout.relative[lane]);
        // SAFETY: every word is inside `data` and, unless it is empty, inside `valid`; contiguous ones fill what lies
        // between them.
        unsafe {
            if layout.all_octets == Octet::Contiguous {
                for (octet, words) in words.as_chunks::<8>().0.iter().enumerate() {
                    write(data, place(8 * octet), *words);
                    if !valid.is_empty() {
                        write(valid, place(8 * octet), [u32::MAX; 8]);
                    }
                }
                return;
            }
            for (octet, lie) in layout.octets.iter().enumerate() {
                // Of lanes that store to one place, the last one has the last word.
                let from = if *lie == Octet::Same { 7 } else { 0 };
                for lane in 8 * octet + from..8 * octet + 8 {
                    write(data, place(lane), words[lane]);
                    if !valid.is_empty() {
                        write(valid, place(lane), u32::MAX);
                    }
                }
            }
        }
    }
}

/// Writes a value to a place that need not be aligned.
///
/// # Safety
/// `at` and the bytes of a `T` after it are inside `to`; it is plain bits.
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
