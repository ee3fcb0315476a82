//! Reproducible inputs.

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014): eight lines that
/// give the same numbers for ever, which no library's "small, fast" generator promises.
#[derive(Clone, Debug)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// A generator for one stream of `seed`; streams of one seed are independent.
    pub const fn new(seed: u64, stream: u64) -> SplitMix64 {
        SplitMix64 { state: mix(seed).wrapping_add(mix(!stream)) }
    }

    /// The next 64 bits.
    pub const fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.state)
    }

    /// A float with magnitude in [1/16, 1) and either sign. Never zero or tiny, so that an element left out of a sum
    /// always shows, and with all 24 bits of significand in use, so that half precision shows too.
    pub const fn next_f32(&mut self) -> f32 {
        let bits = self.next_u64();
        let unit = (bits >> 40) as f32 / (1u64 << 24) as f32;
        let magnitude = 0.0625 + 0.9375 * unit;
        if bits & 1 == 0 { magnitude } else { -magnitude }
    }

    /// `len` floats as of [`next_f32`](Self::next_f32).
    pub fn floats(mut self, len: usize) -> Vec<f32> {
        (0..len).map(|_| self.next_f32()).collect()
    }
}

const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_the_published_sequence() {
        // The first outputs of the reference implementation (prng.di.unimi.it/splitmix64.c) for state 1234567.
        let mut random = SplitMix64 { state: 1_234_567 };
        let first: Vec<u64> = (0..3).map(|_| random.next_u64()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn floats_are_in_range_and_of_both_signs() {
        let floats = SplitMix64::new(7, 0).floats(10_000);
        assert!(floats.iter().all(|x| (0.0625..=1.0).contains(&x.abs())));
        let positive = floats.iter().filter(|x| **x > 0.0).count();
        assert!((4_500..5_500).contains(&positive), "{positive}");
    }

    #[test]
    fn streams_and_seeds_differ() {
        let draw = |seed, stream| SplitMix64::new(seed, stream).next_u64();
        assert_ne!(draw(1, 0), draw(1, 1));
        assert_ne!(draw(1, 0), draw(2, 0));
        assert_ne!(draw(0, 0), 0);
    }
}
