//! Instructions on two or four small integers in a word, as the SIMD intrinsics of CUDA use them.
//!
//! Without selectors and masks: every element takes part, in its place.

use super::Form;
use super::form::Mode;
use crate::alu::alu;

pub(super) static TABLES: &[&[Form]] = &[UNSIGNED2, UNSIGNED4, SIGNED2, SIGNED4];

/// All operations on `$count` elements; `.sat` clamps results to their range, `.add` adds them all up, and the third
/// operand.
macro_rules! simd {
    ($count:literal, $ty:literal, $signed:literal) => {
        simd! { $count, $ty, $signed:
            "vadd" add "vsub" subtract "vabsdiff" difference "vavrg" average "vmin" min "vmax" max
        }
    };
    ($count:literal, $ty:literal, $signed:literal: $($name:literal $operation:ident)*) => { &[$(
        Form::new(
            concat!($name, $count, ".", $ty, ".", $ty, ".", $ty, "{.sat|}"),
            alu!(mode => |m, a: u32, b: u32, _c: u32| elements($count, $signed, a, b, $operation).pack(m)),
        ),
        Form::new(
            concat!($name, $count, ".", $ty, ".", $ty, ".", $ty, ".add"),
            alu!(mode => |_m, a: u32, b: u32, c: u32| elements($count, $signed, a, b, $operation).sum(c)),
        ),
    )*] };
}
static UNSIGNED2: &[Form] = simd!(2, "u32", false);
static UNSIGNED4: &[Form] = simd!(4, "u32", false);
static SIGNED2: &[Form] = simd!(2, "s32", true);
static SIGNED4: &[Form] = simd!(4, "s32", true);

/// The results of all elements, before they are cut to their width.
struct Elements {
    values: [i32; 4],
    count: u32,
    signed: bool,
}

impl Elements {
    fn pack(self, mode: Mode) -> u32 {
        let width = 32 / self.count;
        let (least, greatest) =
            if self.signed { (-(1 << (width - 1)), (1 << (width - 1)) - 1) } else { (0, (1 << width) - 1) };
        (0..self.count).fold(0, |word, i| {
            let value = self.values[i as usize];
            let value = if mode.sat() { value.clamp(least, greatest) } else { value };
            word | (value as u32 & ((1 << width) - 1)) << (i * width)
        })
    }

    fn sum(self, c: u32) -> u32 {
        self.values.into_iter().fold(c, |sum, value| sum.wrapping_add(value as u32))
    }
}

fn elements(count: u32, signed: bool, a: u32, b: u32, operation: fn(i32, i32) -> i32) -> Elements {
    let width = 32 / count;
    let element = |word: u32, i: u32| {
        let field = word << (32 - width * (i + 1));
        if signed { field as i32 >> (32 - width) } else { (field >> (32 - width)) as i32 }
    };
    let mut values = [0; 4];
    for i in 0..count {
        values[i as usize] = operation(element(a, i), element(b, i));
    }
    Elements { values, count, signed }
}

fn add(a: i32, b: i32) -> i32 {
    a + b
}

fn subtract(a: i32, b: i32) -> i32 {
    a - b
}

fn difference(a: i32, b: i32) -> i32 {
    (a - b).abs()
}

/// Half the sum; halves are rounded away from zero.
fn average(a: i32, b: i32) -> i32 {
    let sum = a + b;
    (sum + i32::from(sum >= 0)) >> 1
}

fn min(a: i32, b: i32) -> i32 {
    a.min(b)
}

fn max(a: i32, b: i32) -> i32 {
    a.max(b)
}
