//! Floating-point numbers of one byte (Micikevicius et al., "FP8 formats for deep learning", 2022).

/// A format of one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ByteFormat {
    /// Bits of the mantissa that are stored.
    mantissa: i32,
    bias: i32,
    /// The bits of the largest finite value; those above are infinity (if there is one) and NaN.
    largest: u8,
    /// The bits of infinity.
    infinity: Option<u8>,
}

/// 4 bits of exponent, 3 of mantissa: up to 448, no infinity, and one NaN of each sign.
pub(super) const E4M3: ByteFormat = ByteFormat { mantissa: 3, bias: 7, largest: 0x7e, infinity: None };
/// 5 bits of exponent, 2 of mantissa: the upper byte of a half.
pub(super) const E5M2: ByteFormat = ByteFormat { mantissa: 2, bias: 15, largest: 0x7b, infinity: Some(0x7c) };

/// The NaN that conversions make.
const NAN: u8 = 0x7f;

impl ByteFormat {
    /// What the bits stand for.
    pub(super) fn value(self, bits: u8) -> f64 {
        let magnitude = bits & 0x7f;
        let value = if Some(magnitude) == self.infinity {
            f64::INFINITY
        } else if magnitude > self.largest {
            return f64::NAN;
        } else {
            let field = i32::from(magnitude >> self.mantissa);
            let fraction = f64::from(magnitude & ((1 << self.mantissa) - 1));
            let hidden = if field == 0 { 0.0 } else { f64::from(1 << self.mantissa) };
            (hidden + fraction) * self.unit(field)
        };
        if bits & 0x80 != 0 { -value } else { value }
    }

    /// The nearest number, ties to even; what is too large becomes the largest finite one (`.satfinite`).
    pub(super) fn bits(self, x: f64) -> u8 {
        if x.is_nan() {
            return NAN;
        }
        let sign = if x.is_sign_negative() { 0x80 } else { 0 };
        let magnitude = x.abs().min(self.value(self.largest));
        let exponent = (magnitude.to_bits() >> 52) as i32 - 1023;
        let field = (exponent + self.bias).max(0);
        // A significand that rounds up to the next power of two carries into the exponent, as it should.
        let significand = (magnitude / self.unit(field)).round_ties_even() as i32;
        let below = if field == 0 { 0 } else { (field - 1) << self.mantissa };
        sign | (below + significand) as u8
    }

    /// The distance of neighbours that have this exponent.
    fn unit(self, field: i32) -> f64 {
        f64::powi(2.0, field.max(1) - self.bias - self.mantissa)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of all numbers the nearest one, of two equally near ones that with an even mantissa: found by looking at all.
    #[test]
    fn every_value_rounds_to_the_nearest() {
        for format in [E4M3, E5M2] {
            let finite: Vec<u8> = (0..=format.largest).collect();
            for steps in 0..40_000 {
                let x = f64::from(steps) * f64::powi(1.7, steps % 37 - 25);
                let distance = |bits: u8| (format.value(bits) - x).abs();
                let nearest = finite
                    .iter()
                    .copied()
                    .min_by(|&a, &b| distance(a).total_cmp(&distance(b)).then((a & 1).cmp(&(b & 1))))
                    .unwrap();
                assert_eq!(format.bits(x), nearest, "{x:e}");
                assert_eq!(format.bits(-x), 0x80 | nearest, "{x:e}");
            }
            for bits in 0..=format.largest {
                assert_eq!(format.bits(format.value(bits)), bits);
                assert_eq!(format.bits(format.value(bits | 0x80)), bits | 0x80);
            }
        }
    }

    #[test]
    fn the_ends_of_the_formats() {
        assert_eq!((E4M3.value(0x7e), E4M3.value(1)), (448.0, f64::powi(2.0, -9)));
        assert_eq!((E5M2.value(0x7b), E5M2.value(1)), (57_344.0, f64::powi(2.0, -16)));
        assert!(E4M3.value(0x7f).is_nan() && E5M2.value(0x7d).is_nan());
        assert_eq!(E5M2.value(0xfc), f64::NEG_INFINITY);
        assert_eq!((E4M3.bits(1e9), E5M2.bits(f64::NEG_INFINITY), E4M3.bits(f64::NAN)), (0x7e, 0xfb, 0x7f));
        // Every byte of E5M2 is the upper byte of a half.
        for bits in 0..=0xffu8 {
            let half = half::f16::from_bits(u16::from(bits) << 8).to_f64();
            assert!(half == E5M2.value(bits) || (half.is_nan() && E5M2.value(bits).is_nan()), "{bits:#x}");
        }
    }
}
