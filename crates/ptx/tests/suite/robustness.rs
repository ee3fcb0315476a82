//! Nothing that can be typed makes the parser panic, recurse without end or take memory out of proportion.

use proptest::prelude::*;

use crate::nvrtc::texts;
use crate::{kernel_text, module_text};

/// Pieces of PTX, to be put together at random.
const PIECES: &[&str] = &[
    ".version 8.0",
    ".target sm_80",
    ".entry",
    ".func",
    ".reg",
    ".param",
    ".global",
    ".shared",
    ".align",
    ".v4",
    ".b32",
    ".f64",
    ".pred",
    ".loc",
    ".file",
    ".section",
    ".pragma",
    ".branchtargets",
    ".callprototype",
    ".x",
    "k",
    "%r",
    "%tid",
    "_",
    "mov",
    "call",
    "generic",
    "WARP_SZ",
    "inlined_at",
    "0",
    "1",
    "4000000000",
    "0x1F",
    "0f3F800000",
    "0d3FF0000000000000",
    "1.5",
    "1e9",
    "0f",
    "\"text\"",
    "\"",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ",",
    ";",
    ":",
    "=",
    "+",
    "-",
    "*",
    "/",
    "%",
    "&",
    "|",
    "^",
    "~",
    "!",
    "?",
    "@",
    "<<",
    ">>",
    "&&",
    "||",
    "==",
    "/*",
    "*/",
    "//",
    "\n",
    "#",
    "\0",
    "\u{e9}",
    "\u{ac00}",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let text = String::from_utf8_lossy(&bytes);
        let _ = ptx::parse(&text);
        let _ = ptx::parse(&kernel_text(&text));
    }

    #[test]
    fn random_pieces(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60),
        gap in prop::sample::select(&["", " "][..]),
    ) {
        let text = pieces.join(gap);
        let _ = ptx::parse(&text);
        let _ = ptx::parse(&module_text(&text));
        let _ = ptx::parse(&kernel_text(&text));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// A part of a real module is removed, doubled, moved, or replaced by pieces.
    #[test]
    fn mutated_modules(
        sample in any::<prop::sample::Index>(),
        edits in prop::collection::vec(
            (any::<prop::sample::Index>(), 0usize..40, prop::option::of(prop::sample::select(PIECES))),
            1..6,
        ),
    ) {
        let samples: Vec<String> = texts().map(|(_, text)| text).collect();
        let mut text = sample.get(&samples).as_bytes().to_vec();
        for (place, length, piece) in edits {
            let start = place.index(text.len());
            let end = (start + length).min(text.len());
            match piece {
                Some(piece) => drop(text.splice(start..end, piece.bytes())),
                None if length % 2 == 0 => drop(text.drain(start..end)),
                None => text.extend_from_within(start..end),
            }
            if text.is_empty() {
                break;
            }
        }
        if let Err(error) = ptx::parse(&String::from_utf8_lossy(&text)) {
            prop_assert!(error.position.line >= 1 && error.position.column >= 1);
            prop_assert!(!error.message.is_empty());
        }
    }
}

/// A module cut anywhere inside a body is an error; cut anywhere else it is an error or a shorter module.
#[test]
fn truncated_anywhere() {
    for (sample, text) in texts() {
        let text = text.trim_end_matches('\0');
        let body = text.find("\n{").unwrap() + 2;
        let end = body + text[body..].find("\n}").unwrap();
        let step = 1 + text.len() / 3000;
        for cut in (0..text.len()).step_by(step).filter(|&cut| text.is_char_boundary(cut)) {
            let result = ptx::parse(&text[..cut]);
            if (body..end).contains(&cut) {
                assert!(result.is_err(), "{sample} cut at byte {cut}");
            }
        }
    }
}

#[test]
fn nesting_has_a_limit() {
    const DEEP: usize = 1_000_000;
    for open in ["(", "-", "!", "~", "+", "(.s64)", "1+(", "1?", "{", "{1,"] {
        let error = ptx::parse(&kernel_text(&format!("mov.u32 a, {}", open.repeat(DEEP)))).unwrap_err();
        assert!(error.message.contains("nested more than"), "{open}: {error}");
    }
    for (head, open) in [("call f, ", "("), ("", "{ "), ("tex [a,", "[b,")] {
        let error = ptx::parse(&kernel_text(&format!("{head}{}", open.repeat(DEEP)))).unwrap_err();
        assert!(error.message.contains("nested more than"), "{open}: {error}");
    }
    let dims = "[1]".repeat(DEEP);
    let error =
        ptx::parse(&module_text(&format!(".global .b8 x{dims} = {};", "{".repeat(DEEP)))).unwrap_err();
    assert!(error.message.contains("nested more than"), "{error}");
}

#[test]
fn reasonable_nesting_is_accepted() {
    let expression = format!("mov.u32 a, {}1{};", "(".repeat(50), ")".repeat(50));
    assert!(ptx::parse(&kernel_text(&expression)).is_ok());
    assert!(ptx::parse(&kernel_text(&format!("{}{}", "{ ".repeat(100), "} ".repeat(100)))).is_ok());
}

#[test]
fn too_long_a_text_is_refused() {
    let error = ptx::parse(&" ".repeat((64 << 20) + 1)).unwrap_err();
    assert!(error.message.contains("bytes; at most"), "{error}");
}

/// Work is linear: text on one line, or one token, costs no more than the same text on many.
#[test]
fn one_long_line() {
    let text = kernel_text(&"add.s32 %r1, %r2, 3; ".repeat(100_000));
    let module = ptx::parse(&text).unwrap();
    assert_eq!(module.functions[0].instructions().count(), 100_000);
    assert!(ptx::parse(&kernel_text(&"x".repeat(1 << 20))).is_err());
    assert!(ptx::parse(&kernel_text(&"#".repeat(1 << 20))).is_ok());
}
