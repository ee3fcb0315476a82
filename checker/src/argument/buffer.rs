//! `buf:TYPE:COUNT[:INIT]`: a buffer and what is in it at the start.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use exercise::SplitMix64;
use half::f16;

/// The largest buffer: every allocation has a window of the simulated address space of this size to itself.
const MOST_BYTES: u64 = 16 << 30;

/// The type of a buffer's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    U8,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
}

impl Element {
    const ALL: [(&'static str, Element); 8] = [
        ("u8", Element::U8),
        ("i32", Element::I32),
        ("u32", Element::U32),
        ("i64", Element::I64),
        ("u64", Element::U64),
        ("f16", Element::F16),
        ("f32", Element::F32),
        ("f64", Element::F64),
    ];

    pub(crate) fn from_name(name: &str) -> Option<Element> {
        Element::ALL.iter().find(|(known, _)| *known == name).map(|(_, element)| *element)
    }

    pub(crate) fn name(self) -> &'static str {
        Element::ALL.iter().find(|(_, element)| *element == self).map_or("?", |(name, _)| name)
    }

    /// Bytes per element.
    pub(crate) fn size(self) -> usize {
        match self {
            Element::U8 => 1,
            Element::F16 => 2,
            Element::I32 | Element::U32 | Element::F32 => 4,
            Element::I64 | Element::U64 | Element::F64 => 8,
        }
    }

    /// Whether a kernel argument of this type can be given by value.
    pub(crate) fn is_scalar_argument(self) -> bool {
        !matches!(self, Element::U8 | Element::F16)
    }

    /// Reads a number of this type: integers in decimal or `0x`, floats as Rust reads them (`1e-3`, `inf`, `nan`).
    pub(crate) fn bytes_of(self, text: &str) -> Result<Vec<u8>, String> {
        let not_a = |what: &str| format!("`{text}` is not {what}");
        match self {
            Element::F16 => {
                text.parse().map(|v| f16::from_f64(v).to_le_bytes().to_vec()).map_err(|_| not_a("a number"))
            }
            Element::F32 => {
                text.parse().map(|v: f32| v.to_le_bytes().to_vec()).map_err(|_| not_a("a number"))
            }
            Element::F64 => {
                text.parse().map(|v: f64| v.to_le_bytes().to_vec()).map_err(|_| not_a("a number"))
            }
            _ => {
                let value = integer(text).ok_or_else(|| not_a("a whole number"))?;
                let (least, most) = self.range();
                if value < least || value > most {
                    return Err(format!("{text} does not fit {} ({least} to {most})", self.name()));
                }
                Ok(value.to_le_bytes()[..self.size()].to_vec())
            }
        }
    }

    fn range(self) -> (i128, i128) {
        match self {
            Element::U8 => (0, u8::MAX.into()),
            Element::I32 => (i32::MIN.into(), i32::MAX.into()),
            Element::U32 => (0, u32::MAX.into()),
            Element::I64 => (i64::MIN.into(), i64::MAX.into()),
            _ => (0, u64::MAX.into()),
        }
    }

    /// The `index`-th value of `iota`; narrow types wrap or round.
    fn iota(self, index: u64, out: &mut Vec<u8>) {
        match self {
            Element::F16 => out.extend(f16::from_f64(index as f64).to_le_bytes()),
            Element::F32 => out.extend((index as f32).to_le_bytes()),
            Element::F64 => out.extend((index as f64).to_le_bytes()),
            _ => out.extend(&index.to_le_bytes()[..self.size()]),
        }
    }

    /// A random value from 64 random bits: floats uniform in [-1, 1), integers any value of the type.
    fn random(self, bits: u64, out: &mut Vec<u8>) {
        // 24 bits are exact in every float type's range and leave no rounding up to 1.
        let unit = (bits >> 40) as f64 / f64::from(1 << 23) - 1.0;
        match self {
            Element::F16 => out.extend(f16::from_f64(unit).to_le_bytes()),
            Element::F32 => out.extend((unit as f32).to_le_bytes()),
            Element::F64 => out.extend(((bits >> 11) as f64 / (1_u64 << 52) as f64 - 1.0).to_le_bytes()),
            _ => out.extend(&bits.to_le_bytes()[..self.size()]),
        }
    }
}

fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let magnitude = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?.into(),
        None if digits.starts_with(|c: char| c.is_ascii_digit()) => digits.parse::<i128>().ok()?,
        None => return None,
    };
    Some(if negative { -magnitude } else { magnitude })
}

/// What a buffer holds at the start.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Init {
    /// Nothing was ever written: reading it is a fault.
    Uninit,
    Zero,
    /// 0, 1, 2, ...
    Iota,
    Rand(u64),
    /// The same element everywhere, as its bytes.
    Fill(Vec<u8>),
    /// Raw little-endian contents of a file.
    File(PathBuf),
}

/// A buffer argument.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BufferSpec {
    pub(crate) element: Element,
    pub(crate) count: usize,
    pub(crate) init: Init,
}

impl FromStr for BufferSpec {
    type Err = String;

    /// Reads `TYPE:COUNT[:INIT]`.
    fn from_str(text: &str) -> Result<BufferSpec, String> {
        let mut parts = text.splitn(3, ':');
        let ty = parts.next().unwrap_or_default();
        let element = Element::from_name(ty).ok_or_else(|| {
            format!("`{ty}` is not an element type; expected u8, i32, u32, i64, u64, f16, f32 or f64")
        })?;
        let count = parts.next().ok_or("a buffer needs a COUNT: buf:TYPE:COUNT[:INIT]")?;
        let count: u64 = count.parse().map_err(|_| format!("`{count}` is not a count of elements"))?;
        if count.checked_mul(element.size() as u64).is_none_or(|bytes| bytes > MOST_BYTES) {
            return Err(format!(
                "{count} elements of {} are more than the 16 GiB a buffer may have",
                element.name()
            ));
        }
        let init = parse_init(parts.next(), element)?;
        Ok(BufferSpec { element, count: count as usize, init })
    }
}

fn parse_init(text: Option<&str>, element: Element) -> Result<Init, String> {
    let Some(text) = text else { return Ok(Init::Uninit) };
    if let Some(path) = text.strip_prefix('@') {
        return if path.is_empty() {
            Err("`@` names no file".to_owned())
        } else {
            Ok(Init::File(PathBuf::from(path)))
        };
    }
    match text.split_once(':') {
        None => match text {
            "uninit" => Ok(Init::Uninit),
            "zero" => Ok(Init::Zero),
            "iota" => Ok(Init::Iota),
            "rand" => Ok(Init::Rand(0)),
            "fill" => Err("`fill` needs a value: fill:V".to_owned()),
            _ => Err(unknown_init(text)),
        },
        Some(("rand", seed)) => {
            seed.parse().map(Init::Rand).map_err(|_| format!("`{seed}` is not a seed: a whole number from 0"))
        }
        Some(("fill", value)) => element.bytes_of(value).map(Init::Fill),
        Some(_) => Err(unknown_init(text)),
    }
}

fn unknown_init(text: &str) -> String {
    format!(
        "`{text}` is not a way to fill a buffer; expected uninit, zero, iota, rand[:SEED], fill:V or @PATH"
    )
}

impl BufferSpec {
    /// Size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.count * self.element.size()
    }

    /// The contents at the start; `None` for a buffer that nothing has written.
    ///
    /// # Errors
    /// A file that can't be read or has another size, or too little memory.
    pub(crate) fn contents(&self) -> Result<Option<Vec<u8>>, String> {
        let size = self.bytes();
        let mut out = Vec::new();
        match &self.init {
            Init::Uninit => return Ok(None),
            Init::Zero => return Ok(Some(vec![0; size])),
            Init::File(path) => return self.read(path).map(Some),
            _ => {
                out.try_reserve_exact(size).map_err(|_| format!("there is no memory for its {size} bytes"))?
            }
        }
        match &self.init {
            Init::Iota => (0..self.count as u64).for_each(|index| self.element.iota(index, &mut out)),
            Init::Rand(seed) => {
                let mut random = SplitMix64::new(*seed, 0);
                (0..self.count).for_each(|_| self.element.random(random.next_u64(), &mut out));
            }
            Init::Fill(value) => (0..self.count).for_each(|_| out.extend(value)),
            Init::Uninit | Init::Zero | Init::File(_) => {}
        }
        Ok(Some(out))
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, String> {
        let shown = path.display();
        let unreadable = |error| format!("{shown} cannot be read: {error}");
        let metadata = std::fs::metadata(path).map_err(unreadable)?;
        if !metadata.is_file() {
            return Err(format!("{shown} is not a file"));
        }
        let wanted = self.bytes();
        if metadata.len() != wanted as u64 {
            let (has, count, ty) = (metadata.len(), self.count, self.element.name());
            return Err(format!("{shown} has {has} bytes, but {count} elements of {ty} are {wanted} bytes"));
        }
        std::fs::read(path).map_err(unreadable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(text: &str) -> Vec<u8> {
        text.parse::<BufferSpec>().expect(text).contents().expect(text).expect("has contents")
    }

    #[test]
    fn inits_give_the_bytes_they_promise() {
        assert_eq!(contents("i32:3:iota"), [0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]);
        assert_eq!(contents("f16:2:fill:1"), [0x00, 0x3c, 0x00, 0x3c]);
        assert_eq!(contents("u8:258:iota")[255..], [255, 0, 1]);
        assert_eq!(contents("f64:1:zero"), [0; 8]);
        assert_eq!("f32:5".parse::<BufferSpec>().expect("parses").contents(), Ok(None));
    }

    #[test]
    fn random_floats_are_seeded_and_within_one() {
        let values = |text| {
            contents(text).chunks(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect::<Vec<_>>()
        };
        let first = values("f32:1000:rand:7");
        assert_eq!(first, values("f32:1000:rand:7"));
        assert_ne!(first, values("f32:1000:rand:8"));
        assert!(first.iter().all(|v| (-1.0..1.0).contains(v)));
        assert!(first.iter().any(|v| *v < -0.9) && first.iter().any(|v| *v > 0.9));
    }

    #[test]
    fn a_file_of_another_size_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a:b.bin");
        std::fs::write(&path, [0; 12]).expect("written");
        let spec =
            |count: usize| format!("f32:{count}:@{}", path.display()).parse::<BufferSpec>().expect("parses");
        assert_eq!(spec(3).contents(), Ok(Some(vec![0; 12])));
        let error = spec(4).contents().expect_err("too small");
        assert!(error.contains("has 12 bytes, but 4 elements of f32 are 16 bytes"), "{error}");
    }
}
