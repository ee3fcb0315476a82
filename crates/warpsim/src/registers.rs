//! A warp's registers: every register is 32 lanes side by side.

/// All lanes.
pub(crate) const FULL: u32 = u32::MAX;

/// One value per lane.
pub(crate) type Lanes<T> = [T; 32];

/// The three register files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegisterFile {
    /// One bit per lane.
    Pred,
    /// Up to 32 bits per lane.
    Word,
    /// 64 bits per lane.
    Wide,
}

/// What an operand's bits mean: decides its register file and how an immediate is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// A predicate.
    Pred,
    /// An integer or untyped value of this many bits (8, 16, 32 or 64).
    Bits(u8),
    /// Single precision.
    F32,
    /// Double precision.
    F64,
}

impl Kind {
    /// The register file that holds it.
    pub(crate) fn class(self) -> RegisterFile {
        match self {
            Kind::Pred => RegisterFile::Pred,
            Kind::Bits(64) | Kind::F64 => RegisterFile::Wide,
            Kind::Bits(_) | Kind::F32 => RegisterFile::Word,
        }
    }
}

/// Which registers an instruction reads and writes: indices into the file of each operand's class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Operands {
    /// Destinations.
    pub(crate) dst: [u16; 2],
    /// Sources.
    pub(crate) src: [u16; 4],
    /// An immediate that is no register: a `lop3` table, a rounding mode.
    pub(crate) imm: u32,
}

/// The registers of one warp. Frames of called functions follow each other; the bases select the current one.
#[derive(Debug, Default)]
pub(crate) struct Registers {
    pub(crate) pred: Vec<u32>,
    pub(crate) word: Vec<Lanes<u32>>,
    pub(crate) wide: Vec<Lanes<u64>>,
    /// Lanes of each register that hold nothing anyone set, by unified number (see `program::Flow`); means nothing unless
    /// `tainted`.
    pub(crate) poison: Vec<u32>,
    /// The load that brought a poisoned value, as pc + 1; 0 for a register that was never written.
    pub(crate) origin: Vec<u32>,
    /// Whether there may be any poison: while there is none, nothing needs to be tracked.
    pub(crate) tainted: bool,
    pub(crate) base: FrameBase,
}

/// Where a frame begins in each register file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FrameBase {
    pub(crate) pred: usize,
    pub(crate) word: usize,
    pub(crate) wide: usize,
    pub(crate) poison: usize,
}

impl Registers {
    /// From now on poison is tracked; so far all registers hold something.
    #[cold]
    pub(crate) fn taint(&mut self) {
        if !self.tainted {
            // What is there is from before it was last known that there is none.
            self.poison.fill(0);
            self.tainted = true;
        }
    }

    #[inline(always)]
    pub(crate) fn pred(&self, index: u16) -> u32 {
        self.pred[self.base.pred + index as usize]
    }

    #[inline(always)]
    pub(crate) fn word(&self, index: u16) -> &Lanes<u32> {
        &self.word[self.base.word + index as usize]
    }

    #[inline(always)]
    pub(crate) fn word_mut(&mut self, index: u16) -> &mut Lanes<u32> {
        &mut self.word[self.base.word + index as usize]
    }

    #[inline(always)]
    pub(crate) fn wide(&self, index: u16) -> &Lanes<u64> {
        &self.wide[self.base.wide + index as usize]
    }

    #[inline(always)]
    pub(crate) fn set_pred(&mut self, index: u16, bits: u32, mask: u32) {
        let slot = &mut self.pred[self.base.pred + index as usize];
        *slot = (*slot & !mask) | (bits & mask);
    }

    #[inline(always)]
    pub(crate) fn set_word(&mut self, index: u16, value: &Lanes<u32>, mask: u32) {
        let slot = &mut self.word[self.base.word + index as usize];
        if mask == FULL {
            *slot = *value;
        } else {
            // A copy, so that otherwise the value need not be in memory.
            blend(slot, &{ *value }, mask);
        }
    }

    #[inline(always)]
    pub(crate) fn set_wide(&mut self, index: u16, value: &Lanes<u64>, mask: u32) {
        let slot = &mut self.wide[self.base.wide + index as usize];
        if mask == FULL {
            *slot = *value;
        } else {
            blend(slot, &{ *value }, mask);
        }
    }
}

/// Replaces the lanes in `mask`. Not inlined: every instruction has it, and few run in part.
#[inline(never)]
fn blend<T: Copy>(slot: &mut Lanes<T>, value: &Lanes<T>, mask: u32) {
    for lane in 0..32 {
        slot[lane] = if mask >> lane & 1 != 0 { value[lane] } else { slot[lane] };
    }
}

/// A scalar type that a lane of a register can hold.
pub(crate) trait Lane: Copy + Default {
    /// What it is.
    const KIND: Kind;
    /// Room for a value in every lane.
    type Buffer;
    /// All lanes of source register `index`.
    fn read(registers: &Registers, index: u16) -> Lanes<Self>;
    /// An empty buffer.
    fn buffer() -> Self::Buffer;
    /// Puts the value of a lane into the buffer, which holds none yet.
    fn put(buffer: &mut Self::Buffer, lane: usize, value: Self);
    /// Writes the lanes in `mask`. `AVX2`: the caller is built for CPUs that have it.
    fn write<const AVX2: bool>(registers: &mut Registers, index: u16, buffer: &Self::Buffer, mask: u32);
}

impl Lane for bool {
    const KIND: Kind = Kind::Pred;

    #[inline(always)]
    fn read(registers: &Registers, index: u16) -> Lanes<bool> {
        let bits = registers.pred(index);
        let mut value = [false; 32];
        for (lane, value) in value.iter_mut().enumerate() {
            *value = bits >> lane & 1 != 0;
        }
        value
    }

    // All ones or zero: comparing, selecting and collecting stay within vectors of 32-bit lanes.
    type Buffer = Lanes<u32>;

    #[inline(always)]
    fn buffer() -> Lanes<u32> {
        [0; 32]
    }

    #[inline(always)]
    fn put(buffer: &mut Lanes<u32>, lane: usize, value: bool) {
        buffer[lane] = if value { u32::MAX } else { 0 };
    }

    #[inline(always)]
    fn write<const AVX2: bool>(registers: &mut Registers, index: u16, buffer: &Lanes<u32>, mask: u32) {
        #[cfg(target_arch = "x86_64")]
        if AVX2 {
            // SAFETY: as the caller says.
            return registers.set_pred(index, unsafe { signs(buffer) }, mask);
        }
        let bits = buffer.iter().enumerate().fold(0, |bits, (lane, value)| bits | value & 1 << lane);
        registers.set_pred(index, bits, mask);
    }
}

/// The highest bit of every lane. (The compiler does not find these instructions by itself.)
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn signs(lanes: &Lanes<u32>) -> u32 {
    use std::arch::x86_64::{__m256, _mm256_loadu_ps, _mm256_movemask_ps};
    let eights = lanes.as_chunks::<8>().0.iter().enumerate();
    eights.fold(0, |bits, (number, eight)| {
        // SAFETY: eight words are what it loads.
        let eight: __m256 = unsafe { _mm256_loadu_ps(eight.as_ptr().cast()) };
        bits | (_mm256_movemask_ps(eight) as u32) << (8 * number)
    })
}

// Plain loops over 32 lanes: iterators are only as fast where all of them are inlined, which depends on how the crate
// is cut into units.
macro_rules! lane {
    ($ty:ty, $kind:expr, $get:ident, $set:ident, |$bits:ident| $from:expr, |$value:ident| $to:expr) => {
        impl Lane for $ty {
            const KIND: Kind = $kind;

            #[inline(always)]
            fn read(registers: &Registers, index: u16) -> Lanes<$ty> {
                let source = registers.$get(index);
                let mut value = [<$ty>::default(); 32];
                for lane in 0..32 {
                    let $bits = source[lane];
                    value[lane] = $from;
                }
                value
            }

            type Buffer = Lanes<$ty>;

            #[inline(always)]
            fn buffer() -> Lanes<$ty> {
                [<$ty>::default(); 32]
            }

            #[inline(always)]
            fn put(buffer: &mut Lanes<$ty>, lane: usize, value: $ty) {
                buffer[lane] = value;
            }

            #[inline(always)]
            fn write<const AVX2: bool>(registers: &mut Registers, index: u16, value: &Lanes<$ty>, mask: u32) {
                let mut bits = [0; 32];
                for lane in 0..32 {
                    let $value = value[lane];
                    bits[lane] = $to;
                }
                registers.$set(index, &bits, mask);
            }
        }
    };
}
// Narrow values are kept zero-extended.
lane!(u8, Kind::Bits(8), word, set_word, |b| b as u8, |v| u32::from(v));
lane!(i8, Kind::Bits(8), word, set_word, |b| b as i8, |v| u32::from(v as u8));
lane!(u16, Kind::Bits(16), word, set_word, |b| b as u16, |v| u32::from(v));
lane!(i16, Kind::Bits(16), word, set_word, |b| b as i16, |v| u32::from(v as u16));
lane!(u32, Kind::Bits(32), word, set_word, |b| b, |v| v);
lane!(i32, Kind::Bits(32), word, set_word, |b| b as i32, |v| v as u32);
lane!(f32, Kind::F32, word, set_word, |b| f32::from_bits(b), |v| v.to_bits());
lane!(u64, Kind::Bits(64), wide, set_wide, |b| b, |v| v);
lane!(i64, Kind::Bits(64), wide, set_wide, |b| b as i64, |v| v as u64);
lane!(f64, Kind::F64, wide, set_wide, |b| f64::from_bits(b), |v| v.to_bits());
