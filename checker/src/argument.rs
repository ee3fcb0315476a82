//! What `checker run` is told about a launch: dimensions, argument specs and dumps.

mod buffer;
mod dims;
mod dump;

pub(crate) use buffer::{BufferSpec, Element};
pub(crate) use dims::Dims;
pub(crate) use dump::{Dump, Sink};

use std::str::FromStr;

/// One `--arg`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Spec {
    /// A value, as its little-endian bytes.
    Scalar(Vec<u8>),
    /// A pointer to a buffer.
    Buffer(BufferSpec),
}

/// The forms that are understood, for messages.
const FORMS: &str = "i32:V, u32:V, i64:V, u64:V, f32:V, f64:V or buf:TYPE:COUNT[:INIT]";

impl FromStr for Spec {
    type Err = String;

    fn from_str(text: &str) -> Result<Spec, String> {
        let Some((ty, value)) = text.split_once(':') else {
            return Err(format!("expected {FORMS}"));
        };
        if ty == "buf" {
            return value.parse().map(Spec::Buffer);
        }
        match Element::from_name(ty) {
            Some(element) if element.is_scalar_argument() => element.bytes_of(value).map(Spec::Scalar),
            _ => Err(format!("`{ty}` is not a type of argument; expected {FORMS}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_become_their_bytes() {
        assert_eq!("i32:-2".parse(), Ok(Spec::Scalar((-2_i32).to_le_bytes().to_vec())));
        assert_eq!("u64:0xff".parse(), Ok(Spec::Scalar(255_u64.to_le_bytes().to_vec())));
        assert_eq!("f32:1.5".parse(), Ok(Spec::Scalar(1.5_f32.to_le_bytes().to_vec())));
        assert_eq!("f64:-inf".parse(), Ok(Spec::Scalar(f64::NEG_INFINITY.to_le_bytes().to_vec())));
    }

    #[test]
    fn nonsense_is_named() {
        for (text, phrase) in [
            ("7", "expected i32:V"),
            ("i31:7", "`i31` is not a type"),
            ("u8:7", "`u8` is not a type of argument"),
            ("i32:seven", "`seven` is not"),
            ("i32:2147483648", "does not fit"),
            ("u32:-1", "does not fit"),
            ("f32:", "`` is not"),
            ("buf:f32", "COUNT"),
            ("buf:f33:4", "`f33` is not an element type"),
            ("buf:f32:-4", "`-4` is not a count"),
            ("buf:f32:4:ones", "`ones` is not"),
            ("buf:f32:4:fill", "fill:V"),
            ("buf:i32:4:fill:1.5", "`1.5` is not"),
            ("buf:f32:4:rand:x", "`x` is not a seed"),
            ("buf:f32:4:@", "names no file"),
            ("buf:f64:99999999999999", "16 GiB"),
        ] {
            let error = text.parse::<Spec>().expect_err(text);
            assert!(error.contains(phrase), "{text}: {error}");
        }
    }
}
