//! Registers, constants and addresses to put into instructions.

use rand::Rng;
use rand::rngs::SmallRng;

use super::pick;

/// Registers of each kind: `%p`, `%h` (16 bits), `%r` (32 bits) and `%d` (64 bits).
pub(crate) const REGISTERS: u32 = 8;

/// A register that may be written or read.
pub(crate) fn register(rng: &mut SmallRng, kind: char) -> String {
    let stem = match kind {
        'p' => "%p",
        'b' | 'h' => "%h",
        'w' => "%r",
        _ => "%d",
    };
    format!("{stem}{}", rng.random_range(0..REGISTERS))
}

/// A source: mostly a register, at times a constant or a special register.
pub(crate) fn source(rng: &mut SmallRng, kind: char) -> String {
    if kind == 'p' || rng.random_bool(0.8) {
        return register(rng, kind);
    }
    match kind {
        'w' if rng.random_bool(0.3) => (*pick(rng, SPECIAL).expect("there are some")).to_owned(),
        'd' if rng.random_bool(0.1) => "%clock64".to_owned(),
        _ => constant(rng),
    }
}

const SPECIAL: &[&str] = &[
    "%tid.x",
    "%tid.y",
    "%ntid.z",
    "%ctaid.x",
    "%ctaid.z",
    "%nctaid.y",
    "%laneid",
    "%warpid",
    "%nwarpid",
    "%lanemask_lt",
    "%lanemask_ge",
    "%clock",
    "%dynamic_smem_size",
    "%total_smem_size",
    "%smid",
    "WARP_SZ",
];

fn constant(rng: &mut SmallRng) -> String {
    match rng.random_range(0..4) {
        0 => rng.random_range(-2..40).to_string(),
        1 => (1u64 << rng.random_range(0..32)).to_string(),
        2 => rng.random::<i32>().to_string(),
        _ => (*pick(rng, &["-1", "31", "32", "63", "255", "2147483647", "-2147483648"]).expect("some"))
            .to_owned(),
    }
}

/// A memory operand for `space` (`""`: generic), mostly in bounds and aligned to `align`.
pub(crate) fn address(rng: &mut SmallRng, space: &str, align: u32) -> String {
    if rng.random_bool(0.15) {
        return wild_address(rng);
    }
    let small = rng.random_range(0..64) * align;
    match (space, rng.random_range(0..4)) {
        ("shared", 0) => format!("[fixed+{}]", small % 256),
        ("shared", 1) => format!("[dynamic+{}]", small % 512),
        ("shared", _) => format!("[%inshared+{}]", small % 128),
        ("local", 0) => format!("[mine+{}]", small % 64),
        ("local", _) => format!("[%inlocal+{}]", small % 64),
        ("const", _) => format!("[table+{}]", small % 64),
        ("param", _) => format!("[%inparam+{}]", small % 64),
        ("global", 0) => format!("[variable+{}]", small % 128),
        ("" | "global", 1) => format!("[%lane{}+{}]", rng.random_range(0..3), small % 32),
        ("", 2) => format!("[%generic{}+{}]", rng.random_range(0..4), small % 64),
        _ => format!("[%buffer{}+{}]", rng.random_range(0..3), small % 512),
    }
}

fn wild_address(rng: &mut SmallRng) -> String {
    match rng.random_range(0..6) {
        0 => format!("[%d{}]", rng.random_range(0..REGISTERS)),
        1 => format!("[%d{}+{}]", rng.random_range(0..REGISTERS), rng.random::<i32>()),
        2 => format!("[%r{}]", rng.random_range(0..REGISTERS)),
        3 => format!("[{}]", rng.random::<u32>()),
        4 => format!("[%buffer{}+{}]", rng.random_range(0..3), rng.random_range(-70_000..70_000)),
        _ => {
            let name =
                *pick(rng, &["fixed", "dynamic", "mine", "table", "variable", "number"]).expect("some");
            format!("[{name}+{}]", rng.random::<i32>())
        }
    }
}
