//! Names that strangers chose, made fit to be shown and to be file names.

use sha2::{Digest, Sha256};
use trust::text;
use unicode_normalization::UnicodeNormalization;

/// More than any name needs, and little enough for a line.
const MOST_CHARACTERS: usize = 200;

/// A name as it can be shown: composed (NFC), in one line, and what cannot be seen by its number. Blanks at
/// its ends and all after some hundred characters are left out.
pub fn clean(name: &str) -> String {
    let composed: String = name.nfc().take(MOST_CHARACTERS).collect();
    text::one_line(composed.trim())
}

/// A name for a file or folder, without anything that a file system, a shell or a web server could take
/// amiss. Two names that differ have file names that differ.
pub fn file_safe(name: &str) -> String {
    let safe = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    let is_safe = !name.is_empty() && name.len() <= 64 && name.chars().all(safe) && !name.starts_with('-');
    // Windows keeps these names for devices.
    let is_device = matches!(
        name.trim_end_matches(|c: char| c.is_ascii_digit()),
        "con" | "prn" | "aux" | "nul" | "com" | "lpt"
    );
    if is_safe && !is_device {
        return name.to_owned();
    }
    let kept: String = name.chars().map(|c| c.to_ascii_lowercase()).filter(|c| safe(*c)).take(32).collect();
    let hash = Sha256::digest(name.as_bytes());
    // A dot is in no name that is kept as it is.
    format!(
        "{}.{:02x}{:02x}{:02x}{:02x}{:02x}",
        kept.trim_start_matches('-'),
        hash[0],
        hash[1],
        hash[2],
        hash[3],
        hash[4]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_in_one_line_and_as_they_are_written() {
        assert_eq!(clean("Kim, \"K\" O'Neill"), "Kim, \"K\" O'Neill");
        assert_eq!(clean(" a\nb "), "a\\u{a}b");
        assert_eq!(clean("\u{1b}[31mred"), "\\u{1b}[31mred");
        assert_eq!(clean("abc\u{202e}gpj.exe"), "abc\\u{202e}gpj.exe");
        assert_eq!(clean("e\u{301}"), "\u{e9}");
        assert_eq!(clean("\u{1112}\u{1161}\u{11ab}"), "한");
        assert_eq!(clean(&"x".repeat(5_000)).len(), MOST_CHARACTERS);
    }

    #[test]
    fn file_names_are_harmless_and_distinct() {
        assert_eq!(file_safe("kim-2_b"), "kim-2_b");
        for name in ["", "..", "/etc/passwd", "a/b", "con", "com1", "-rf", "이영희", "Kim", "a\0b", "="] {
            let safe = file_safe(name);
            assert!(
                safe.len() > 4 && !safe.contains(['/', '\\', '\0', ' ']) && safe != name,
                "{name:?}: {safe}"
            );
            assert!(!safe.starts_with('-') && safe != "..", "{safe}");
        }
        assert_ne!(file_safe("Kim"), file_safe("kim"));
        assert_ne!(file_safe("이영희"), file_safe("김영희"));
    }
}
