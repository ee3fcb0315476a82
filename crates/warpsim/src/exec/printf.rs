//! What device code says: `printf` and the message of a failed `assert`.

use super::Machine;
use super::warp::Warp;
use crate::fault::Space;
use crate::memory::window;
use crate::observer::Observer;
use crate::pattern::lanes;
use crate::program::{Call, Place};

/// Bytes of output kept, like the buffer that the CUDA runtime has by default (`cudaLimitPrintfFifoSize`).
const LIMIT: usize = 1 << 20;
/// Longest string read from the kernel's memory.
const LONGEST: usize = 4096;

impl<O: Observer> Machine<'_, '_, O> {
    /// `vprintf(format, arguments)` for each lane, in order.
    pub(crate) fn printf(&mut self, warp: &mut Warp, group: usize, call: &Call, active: u32) {
        for lane in lanes(active) {
            let format = self.argument(warp, group, call, 0, lane);
            let mut next = self.argument(warp, group, call, 1, lane);
            let format = self.string(warp, format, lane);
            let text = self.format(warp, &format, lane, &mut next);
            let room = LIMIT.saturating_sub(self.printed.len());
            self.printed.extend_from_slice(&text[..text.len().min(room)]);
        }
        if let Some(Place::Local { offset, .. }) = call.results.first() {
            let base = warp.frames[warp.groups[group].frame as usize].local_base + offset;
            for lane in lanes(active) {
                let place = self.place(warp, Space::Local, lane as usize, u64::from(base));
                self.write_place(warp, place, &0u32.to_le_bytes());
            }
        }
    }

    /// `__assertfail(expression, file, line, function, size)`.
    pub(crate) fn assert_message(&mut self, warp: &mut Warp, group: usize, call: &Call, lane: u32) -> String {
        let expression = self.argument(warp, group, call, 0, lane);
        String::from_utf8_lossy(&self.string(warp, expression, lane)).into_owned()
    }

    /// The value of a call's argument in one lane.
    pub(crate) fn argument(
        &mut self,
        warp: &Warp,
        group: usize,
        call: &Call,
        index: usize,
        lane: u32,
    ) -> u64 {
        match call.arguments.get(index) {
            Some(Place::Local { offset, bytes }) => {
                let base = warp.frames[warp.groups[group].frame as usize].local_base + offset;
                self.number(
                    warp,
                    window::generic_base(Space::Local) + u64::from(base),
                    (*bytes).min(8) as usize,
                    lane,
                )
            }
            Some(Place::Register(reg)) => match reg.file {
                crate::registers::RegisterFile::Wide => warp.registers.wide(reg.index)[lane as usize],
                crate::registers::RegisterFile::Word => {
                    u64::from(warp.registers.word(reg.index)[lane as usize])
                }
                crate::registers::RegisterFile::Pred => u64::from(warp.registers.pred(reg.index) >> lane & 1),
            },
            None => 0,
        }
    }

    /// A little-endian number at a generic address; 0 where there is no memory.
    fn number(&mut self, warp: &Warp, address: u64, bytes: usize, lane: u32) -> u64 {
        let (space, address) = window::generic(address);
        let length = match space {
            Space::Global => {
                if self.view.locate(address, bytes as u64).is_none() {
                    return 0;
                }
                u64::MAX
            }
            Space::Shared => self.shared.bytes as u64,
            Space::Local => u64::from(warp.local.stride),
            Space::Constant => self.context.constant.len() as u64,
            Space::Param => self.context.params.len() as u64,
        };
        if address.checked_add(bytes as u64).is_none_or(|end| end > length) {
            return 0;
        }
        let (mut raw, mut valid) = ([0; 8], [0; 8]);
        let place = self.place(warp, space, lane as usize, address);
        self.read_place(warp, place, &mut raw[..bytes], &mut valid[..bytes]);
        u64::from_le_bytes(raw)
    }

    fn string(&mut self, warp: &Warp, address: u64, lane: u32) -> Vec<u8> {
        let byte = |machine: &mut Self, i: u64| machine.number(warp, address.wrapping_add(i), 1, lane) as u8;
        let mut text = Vec::new();
        while text.len() < LONGEST {
            match byte(self, text.len() as u64) {
                0 => break,
                b => text.push(b),
            }
        }
        text
    }

    /// C's `printf` with the conversions that CUDA has. Arguments lie one after another, each aligned to its size.
    fn format(&mut self, warp: &Warp, format: &[u8], lane: u32, next: &mut u64) -> Vec<u8> {
        let mut out = Vec::new();
        let mut rest = format;
        while let Some((&byte, tail)) = rest.split_first() {
            rest = tail;
            if byte != b'%' {
                out.push(byte);
                continue;
            }
            let Some((spec, tail)) = Spec::parse(rest, &mut || self.take(warp, next, 4, lane) as i32) else {
                out.push(b'%');
                continue;
            };
            rest = tail;
            let text = match spec.conversion {
                b'%' => "%".to_owned(),
                b'c' => char::from(self.take(warp, next, 4, lane) as u8).to_string(),
                b's' => {
                    let address = self.take(warp, next, 8, lane);
                    let text = self.string(warp, address, lane);
                    let text = String::from_utf8_lossy(&text).into_owned();
                    text.chars().take(spec.precision.unwrap_or(usize::MAX)).collect()
                }
                b'p' => format!("{:#x}", self.take(warp, next, 8, lane)),
                b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
                    spec.float(f64::from_bits(self.take(warp, next, 8, lane)))
                }
                _ => {
                    let bytes = if spec.long { 8 } else { 4 };
                    let value = self.take(warp, next, bytes, lane);
                    spec.integer(value)
                }
            };
            out.extend_from_slice(spec.pad(text).as_bytes());
        }
        out
    }

    fn take(&mut self, warp: &Warp, next: &mut u64, bytes: usize, lane: u32) -> u64 {
        // The address is the kernel's, so it may be anything.
        let aligned = next.wrapping_add(bytes as u64 - 1) & !(bytes as u64 - 1);
        let value = self.number(warp, aligned, bytes, lane);
        *next = aligned.wrapping_add(bytes as u64);
        value
    }
}

/// A conversion specification.
#[derive(Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    long: bool,
    conversion: u8,
}

impl Spec {
    /// Parses what follows a `%`; `star` gives the value of a `*`.
    fn parse<'f>(mut rest: &'f [u8], star: &mut dyn FnMut() -> i32) -> Option<(Spec, &'f [u8])> {
        let mut spec = Spec::default();
        let mut long = 0;
        loop {
            let (&byte, tail) = rest.split_first()?;
            rest = tail;
            match byte {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                b'0' => spec.zero = true,
                b'1'..=b'9' => {
                    spec.width = usize::from(byte - b'0');
                    rest = digits(rest, &mut spec.width);
                }
                b'*' => {
                    let width = star();
                    spec.left |= width < 0;
                    spec.width = width.unsigned_abs() as usize;
                }
                b'.' => {
                    let mut precision = 0;
                    if let Some((b'*', tail)) = rest.split_first() {
                        rest = tail;
                        precision = star().max(0) as usize;
                    } else {
                        rest = digits(rest, &mut precision);
                    }
                    spec.precision = Some(precision.min(512));
                }
                b'l' => long += 1,
                b'h' => {}
                b'j' | b'z' | b't' => long = 2,
                b'd' | b'i' | b'u' | b'o' | b'x' | b'X' | b'c' | b's' | b'p' | b'%' | b'f' | b'F' | b'e'
                | b'E' | b'g' | b'G' | b'a' | b'A' => {
                    spec.conversion = byte;
                    spec.long = long > 0;
                    spec.width = spec.width.min(512);
                    return Some((spec, rest));
                }
                _ => return None,
            }
        }
    }

    fn signed(&self, negative: bool) -> &'static str {
        match () {
            () if negative => "-",
            () if self.plus => "+",
            () if self.space => " ",
            () => "",
        }
    }

    fn integer(&self, value: u64) -> String {
        let signed = matches!(self.conversion, b'd' | b'i');
        let value = if signed && !self.long { i64::from(value as i32) as u64 } else { value };
        let negative = signed && (value as i64) < 0;
        let magnitude = if negative { (value as i64).unsigned_abs() } else { value };
        let (prefix, digits) = match self.conversion {
            b'x' => (if self.alternate && value != 0 { "0x" } else { "" }, format!("{magnitude:x}")),
            b'X' => (if self.alternate && value != 0 { "0X" } else { "" }, format!("{magnitude:X}")),
            b'o' => (if self.alternate { "0" } else { "" }, format!("{magnitude:o}")),
            _ => ("", magnitude.to_string()),
        };
        let least = self.precision.unwrap_or(1);
        let sign = if signed { self.signed(negative) } else { "" };
        format!("{sign}{prefix}{digits:0>least$}")
    }

    fn float(&self, value: f64) -> String {
        let sign = self.signed(value.is_sign_negative() && !value.is_nan());
        let upper = self.conversion.is_ascii_uppercase();
        let precision = self.precision.unwrap_or(6);
        let magnitude = value.abs();
        let text = match self.conversion.to_ascii_lowercase() {
            _ if !value.is_finite() => if value.is_nan() { "nan" } else { "inf" }.to_owned(),
            b'f' => format!("{magnitude:.precision$}"),
            b'e' => exponential(magnitude, precision),
            b'g' => general(magnitude, precision.max(1), self.alternate),
            _ => hexadecimal(magnitude, self.precision),
        };
        let text = if upper { text.to_uppercase() } else { text };
        format!("{sign}{text}")
    }

    fn pad(&self, text: String) -> String {
        let missing = self.width.saturating_sub(text.chars().count());
        if missing == 0 {
            return text;
        }
        let numeric = !matches!(self.conversion, b'c' | b's' | b'%' | b'p');
        let whole =
            !matches!(self.conversion, b'd' | b'i' | b'u' | b'o' | b'x' | b'X') || self.precision.is_none();
        // `inf` and `nan` are padded with spaces; the last digit of a hexadecimal number may be an `f` too.
        let finite =
            !text.to_ascii_lowercase().ends_with("inf") && !text.to_ascii_lowercase().ends_with("nan");
        if self.left {
            format!("{text}{}", " ".repeat(missing))
        } else if self.zero && numeric && whole && finite {
            let digits = text.find(|c: char| c.is_ascii_hexdigit()).unwrap_or(0);
            let digits = if text[digits..].starts_with("0x") || text[digits..].starts_with("0X") {
                digits + 2
            } else {
                digits
            };
            format!("{}{}{}", &text[..digits], "0".repeat(missing), &text[digits..])
        } else {
            format!("{}{text}", " ".repeat(missing))
        }
    }
}

fn digits<'f>(mut rest: &'f [u8], number: &mut usize) -> &'f [u8] {
    while let Some((&digit @ b'0'..=b'9', tail)) = rest.split_first() {
        *number = number.saturating_mul(10).saturating_add(usize::from(digit - b'0'));
        rest = tail;
    }
    rest
}

/// C's `%e`: at least two digits of exponent.
fn exponential(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', exponent),
    };
    format!("{mantissa}e{sign}{digits:0>2}")
}

/// C's `%g`.
fn general(value: f64, precision: usize, keep_zeros: bool) -> String {
    let scientific = exponential(value, precision - 1);
    let exponent: i32 = scientific.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let trim = |text: &str| {
        if keep_zeros || !text.contains('.') {
            return text.to_owned();
        }
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    if exponent < -4 || exponent >= precision as i32 {
        let (mantissa, tail) = scientific.split_once('e').unwrap_or((&scientific, "+00"));
        return format!("{}e{tail}", trim(mantissa));
    }
    let decimals = (precision as i32 - 1 - exponent).max(0) as usize;
    trim(&format!("{value:.decimals$}"))
}

/// C's `%a`.
fn hexadecimal(value: f64, precision: Option<usize>) -> String {
    let bits = value.to_bits();
    let (exponent, mut fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
    if value == 0.0 {
        return "0x0p+0".to_owned();
    }
    let (mut lead, exponent) = if exponent == 0 { (0, -1022) } else { (1, exponent - 1023) };
    let digits = match precision {
        Some(n) if n < 13 => {
            let drop = 4 * (13 - n as u32);
            let half = 1u64 << (drop - 1);
            let (kept, lost) = (fraction >> drop, fraction & ((1 << drop) - 1));
            let up = lost > half || (lost == half && (kept & 1 == 1 || (n == 0 && lead == 1)));
            fraction = kept + u64::from(up);
            if fraction >> (4 * n) != 0 {
                lead += 1;
                fraction = 0;
            }
            if n == 0 { String::new() } else { format!("{fraction:0n$x}") }
        }
        Some(n) => format!("{fraction:013x}{}", "0".repeat(n - 13)),
        None => format!("{fraction:013x}").trim_end_matches('0').to_owned(),
    };
    let point = if digits.is_empty() { "" } else { "." };
    format!("0x{lead}{point}{digits}p{exponent:+}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(format: &str, value: u64) -> String {
        let (spec, rest) = Spec::parse(&format.as_bytes()[1..], &mut || 0).expect("a conversion");
        assert!(rest.is_empty());
        let text = match spec.conversion {
            b'd' | b'i' | b'u' | b'o' | b'x' | b'X' => spec.integer(value),
            _ => spec.float(f64::from_bits(value)),
        };
        spec.pad(text)
    }

    #[test]
    fn integers_print_as_in_c() {
        assert_eq!(one("%d", u64::from(-5i32 as u32)), "-5");
        assert_eq!(one("%5d|".trim_end_matches('|'), 42), "   42");
        assert_eq!(one("%-5d", 42), "42   ");
        assert_eq!(one("%05d", u64::from(-42i32 as u32)), "-0042");
        assert_eq!(one("%+d", 7), "+7");
        assert_eq!(one("%#x", 255), "0xff");
        assert_eq!(one("%#08x", 255), "0x0000ff");
        assert_eq!(one("%.4u", 7), "0007");
        assert_eq!(one("%lld", -1i64 as u64), "-1");
        assert_eq!(one("%zu", 1 << 40), "1099511627776");
    }

    #[test]
    fn floats_print_as_in_c() {
        let f = |format: &str, value: f64| one(format, value.to_bits());
        assert_eq!(f("%f", 1.5), "1.500000");
        assert_eq!(f("%.2f", -0.005), "-0.01");
        assert_eq!(f("%8.3f", 2.71449), "   2.714");
        assert_eq!(f("%08.2f", -3.5), "-0003.50");
        assert_eq!(f("%e", 12345.678), "1.234568e+04");
        assert_eq!(f("%g", 0.0001), "0.0001");
        assert_eq!(f("%g", 1e-5), "1e-05");
        assert_eq!(f("%g", 1234567.0), "1.23457e+06");
        assert_eq!(f("%G", 1e10), "1E+10");
        assert_eq!(f("%f", f64::NAN), "nan");
        assert_eq!(f("%5F", f64::NEG_INFINITY), " -INF");
        assert_eq!(f("%a", 1.0), "0x1p+0");
        assert_eq!(f("%a", 0.1), "0x1.999999999999ap-4");
    }
}
