//! Integer arithmetic.

use super::Form;
use crate::alu::alu;

pub(super) static FORMS: &[Form] = &[
    Form { name: "add.s32", alu: alu!(|a: u32, b: u32| a.wrapping_add(b)) },
    Form { name: "mad.lo.s32", alu: alu!(|a: u32, b: u32, c: u32| a.wrapping_mul(b).wrapping_add(c)) },
    Form { name: "fma.rn.f32", alu: alu!(|a: f32, b: f32, c: f32| a.mul_add(b, c)) },
    Form { name: "setp.lt.s32", alu: alu!(|a: i32, b: i32| a < b) },
];
