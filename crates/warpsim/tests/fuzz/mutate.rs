//! Modules that NVRTC wrote, with bytes, words and lines changed.

use rand::Rng;
use rand::rngs::SmallRng;

use super::pick;

const MODULES: &[&str] = &[
    include_str!("../kernels/calls.ptx"),
    include_str!("../kernels/control.ptx"),
    include_str!("../kernels/memory.ptx"),
    include_str!("../kernels/speed.ptx"),
    include_str!("../kernels/together.ptx"),
    include_str!("../ncu/kernels.ptx"),
    include_str!("../ptx/tiled.ptx"),
    include_str!("../../../ptx/tests/ptx/asm.ptx"),
    include_str!("../../../ptx/tests/ptx/asm_debug.ptx"),
    include_str!("../../../ptx/tests/ptx/calls.ptx"),
    include_str!("../../../ptx/tests/ptx/control_13_sm100.ptx"),
    include_str!("../../../ptx/tests/ptx/data.ptx"),
    include_str!("../../../ptx/tests/ptx/data_13_sm100_debug.ptx"),
    include_str!("../../../ptx/tests/ptx/linkage_rdc.ptx"),
    include_str!("../../../ptx/tests/ptx/linkage_sm90.ptx"),
    include_str!("../../../ptx/tests/ptx/templates.ptx"),
    include_str!("../../../ptx/tests/ptx/tensor.ptx"),
    include_str!("../../../ptx/tests/ptx/tensor_13_sm90.ptx"),
];

/// Words that mean something, or nearly.
const WORDS: &[&str] = &[
    "0",
    "-1",
    "1",
    "32",
    "4294967295",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "0x",
    "0xFFFFFFFFFFFFFFFF",
    "0f7FC00000",
    "0d7FF0000000000000",
    "0fZ",
    "1e309",
    "%r1",
    "%rd1",
    "%p1",
    "%tid.w",
    ".u8",
    ".b128",
    ".f64",
    ".pred",
    ".v4",
    ".v8",
    ".shared",
    ".param",
    ".local",
    ".align 1073741824",
    ".x4",
    ".cc",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    "<",
    ">",
    ",",
    ";",
    ":",
    "@",
    "@!",
    "|",
    "+",
    "_",
    "\"",
    "/*",
    "//",
    "\n",
    ".reg",
    ".loc 1 0 0",
    ".global .b8 big[1000000000];",
    ".reg .b32 %z<100000>;",
    "bra",
    "call",
    "ret;",
    "bar.sync 0;",
];

/// A real module with a few changes.
pub(crate) fn module(rng: &mut SmallRng) -> String {
    let mut text = pick(rng, MODULES).expect("there are some").as_bytes().to_vec();
    // Half of the cases stay text that still means something.
    let gentle = rng.random_bool(0.5);
    for _ in 0..rng.random_range(1..8) {
        if text.is_empty() {
            break;
        }
        if gentle { change_word(rng, &mut text) } else { change_bytes(rng, &mut text) }
    }
    String::from_utf8_lossy(&text).into_owned()
}

fn change_bytes(rng: &mut SmallRng, text: &mut Vec<u8>) {
    let at = rng.random_range(0..text.len());
    let end = (at + rng.random_range(0..60)).min(text.len());
    match rng.random_range(0..7) {
        0 => text[at] = rng.random(),
        1 => text[at] ^= 1 << rng.random_range(0..8),
        2 => drop(text.drain(at..end)),
        3 => {
            let copy = text[at..end].to_vec();
            let to = rng.random_range(0..text.len());
            drop(text.splice(to..to, copy));
        }
        4 => text.truncate(at.max(text.len() / 2)),
        5 => {
            let word = pick(rng, WORDS).expect("there are some");
            drop(text.splice(at..at, word.bytes()));
        }
        _ => {
            let word = pick(rng, WORDS).expect("there are some");
            drop(text.splice(at..end, word.bytes()));
        }
    }
}

/// Replaces a word by another of the same text, or of [`WORDS`].
fn change_word(rng: &mut SmallRng, text: &mut Vec<u8>) {
    let range = word(rng, text);
    let new = if rng.random_bool(0.6) {
        let other = word(rng, text);
        text[other].to_vec()
    } else {
        pick(rng, WORDS).expect("there are some").bytes().collect()
    };
    drop(text.splice(range, new));
}

fn word(rng: &mut SmallRng, text: &[u8]) -> std::ops::Range<usize> {
    let part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'%' | b'$' | b'.');
    let at = rng.random_range(0..text.len());
    let start = (0..at).rev().find(|&i| !part(text[i])).map_or(0, |i| i + 1);
    let end = (at..text.len()).find(|&i| !part(text[i])).unwrap_or(text.len());
    start.min(end)..end
}
