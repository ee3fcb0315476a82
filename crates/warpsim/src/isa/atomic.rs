//! What atomic operations do to the value in memory.

use super::double::settle;
use super::float::{canon, flush};
use super::half;
use super::round::{BF16, F16};

/// What an atomic operation makes of the old value and its one or two operands. Values of fewer than 64 bits are in
/// the low bits; what is above is ignored, and 0 in the result.
pub(crate) type AtomicFn = fn(old: u64, b: u64, c: u64) -> u64;

/// The meaning of `atom`, `red` or `redux` with this operation and type.
///
/// `add` of singles keeps subnormal numbers, as it does in shared memory; in global memory they are flushed to zero:
/// that is the operation `add.ftz`.
pub(crate) fn atomic(operation: &str, ty: &str) -> Option<AtomicFn> {
    let function: AtomicFn = match (operation, ty) {
        ("exch", "b16") => |_, b, _| low16(b),
        ("exch", "b32" | "u32" | "s32" | "f32") => |_, b, _| low32(b),
        ("exch", "b64" | "u64" | "s64" | "f64") => |_, b, _| b,
        ("cas", "b16" | "u16" | "s16") => {
            |old, b, c| if low16(old) == low16(b) { low16(c) } else { low16(old) }
        }
        ("cas", "b32" | "u32" | "s32" | "f32") => {
            |old, b, c| if low32(old) == low32(b) { low32(c) } else { low32(old) }
        }
        ("cas", "b64" | "u64" | "s64" | "f64") => |old, b, c| if old == b { c } else { old },
        ("and", "b32" | "u32" | "s32") => |old, b, _| low32(old & b),
        ("and", "b64" | "u64" | "s64") => |old, b, _| old & b,
        ("or", "b32" | "u32" | "s32") => |old, b, _| low32(old | b),
        ("or", "b64" | "u64" | "s64") => |old, b, _| old | b,
        ("xor", "b32" | "u32" | "s32") => |old, b, _| low32(old ^ b),
        ("xor", "b64" | "u64" | "s64") => |old, b, _| old ^ b,
        ("add", "u32" | "s32") => |old, b, _| low32(old.wrapping_add(b)),
        ("add", "u64" | "s64") => |old, b, _| old.wrapping_add(b),
        ("add", "f32") => |old, b, _| from_single(canon(single(old) + single(b))),
        ("add.ftz", "f32") => |old, b, _| from_single(flush(canon(flush(single(old)) + flush(single(b))))),
        ("add", "f64") => |old, b, _| sum_f64(f64::from_bits(old), f64::from_bits(b)),
        ("add", "f16") => |old, b, _| u64::from(half::sum(F16, old as u16, b as u16)),
        ("add", "bf16") => |old, b, _| u64::from(half::sum(BF16, old as u16, b as u16)),
        ("add", "f16x2") => |old, b, _| halves(old, b, |a, b| half::sum(F16, a, b)),
        ("add", "bf16x2") => |old, b, _| halves(old, b, |a, b| half::sum(BF16, a, b)),
        ("inc", "u32") => |old, b, _| if low32(old) >= low32(b) { 0 } else { low32(old) + 1 },
        ("dec", "u32") => |old, b, _| match low32(old) {
            0 => low32(b),
            old if old > low32(b) => low32(b),
            old => old - 1,
        },
        ("min", "u32") => |old, b, _| low32(old).min(low32(b)),
        ("max", "u32") => |old, b, _| low32(old).max(low32(b)),
        ("min", "s32") => |old, b, _| low32((old as i32).min(b as i32) as u64),
        ("max", "s32") => |old, b, _| low32((old as i32).max(b as i32) as u64),
        ("min", "u64") => |old, b, _| old.min(b),
        ("max", "u64") => |old, b, _| old.max(b),
        ("min", "s64") => |old, b, _| (old as i64).min(b as i64) as u64,
        ("max", "s64") => |old, b, _| (old as i64).max(b as i64) as u64,
        _ => return None,
    };
    Some(function)
}

fn low16(x: u64) -> u64 {
    x & 0xffff
}

fn low32(x: u64) -> u64 {
    x & 0xffff_ffff
}

fn single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn from_single(x: f32) -> u64 {
    u64::from(x.to_bits())
}

fn sum_f64(old: f64, b: f64) -> u64 {
    settle(old + b, [old, b]).to_bits()
}

fn halves(old: u64, b: u64, f: impl Fn(u16, u16) -> u16) -> u64 {
    u64::from(half::pair(|i| f(half::part(old as u32, i), half::part(b as u32, i))))
}
