//! Number literals.

use super::lexer::Kind;

/// How many bytes the number at the start of `bytes` takes, well formed or not.
pub(super) fn length(bytes: &[u8]) -> usize {
    let decimal = !matches!(bytes, [b'0', b'x' | b'X' | b'f' | b'F' | b'd' | b'D' | b'b' | b'B', ..]);
    let mut end = 0;
    while let Some(byte) = bytes.get(end) {
        let exponent_sign =
            decimal && matches!(byte, b'+' | b'-') && end > 0 && matches!(bytes[end - 1], b'e' | b'E');
        let point = decimal && *byte == b'.';
        if !(byte.is_ascii_alphanumeric() || *byte == b'_' || point || exponent_sign) {
            break;
        }
        end += 1;
    }
    end
}

/// The literal's kind and value, or what is wrong with it.
pub(super) fn classify(text: &str) -> Result<Kind, String> {
    match text.as_bytes() {
        [b'0', b'f' | b'F', digits @ ..] => Ok(Kind::Single(bits(text, digits.len(), 8, "single")? as u32)),
        [b'0', b'd' | b'D', digits @ ..] => Ok(Kind::Double(bits(text, digits.len(), 16, "double")?)),
        [b'0', b'x' | b'X', ..] => integer(text, &text[2..], 16),
        [b'0', b'b' | b'B', ..] => integer(text, &text[2..], 2),
        _ if text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) => match text.parse::<f64>() {
            Ok(value) => Ok(Kind::Double(value.to_bits())),
            Err(_) => Err(format!("`{text}` is not a floating-point number")),
        },
        [b'0', _, ..] => integer(text, &text[1..], 8),
        _ => integer(text, text, 10),
    }
}

/// The bits of `0f` and `0d` literals, which have a fixed number of hexadecimal digits.
fn bits(text: &str, found: usize, wanted: usize, precision: &str) -> Result<u64, String> {
    let prefix = &text[..2];
    let wrong = || {
        format!(
            "`{text}` is not a {precision}-precision constant: `{prefix}` takes {wanted} hexadecimal digits"
        )
    };
    if found != wanted {
        return Err(wrong());
    }
    u64::from_str_radix(&text[2..], 16).map_err(|_| wrong())
}

fn integer(text: &str, digits: &str, radix: u32) -> Result<Kind, String> {
    let bare = digits.strip_suffix(['U', 'u']);
    let (digits, has_suffix) = (bare.unwrap_or(digits), bare.is_some());
    // `0U`: its only digit was taken for the prefix of an octal number.
    let digits = if digits.is_empty() && radix == 8 { "0" } else { digits };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Err(format!("`{text}` is not a number"));
    }
    let value = u64::from_str_radix(digits, radix)
        .map_err(|_| format!("`{text}` is too large: integer constants have 64 bits"))?;
    Ok(Kind::Integer { value, unsigned: has_suffix || i64::try_from(value).is_err() })
}
