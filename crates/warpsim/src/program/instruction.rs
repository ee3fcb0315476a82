//! What is known of an instruction before it runs.

use std::sync::Arc;

use super::Register;

/// An instruction as the text has it. Where the text has one line, the program may have several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its line in the PTX.
    pub ptx_line: u32,
    /// Opcode and modifiers, as in `fma.rn.f32`.
    pub opcode: Arc<str>,
    /// The predicate that says which lanes execute it, and whether it is negated.
    pub guard: Option<(Register, bool)>,
    /// The registers that it reads, those that hold constants included; without the guard.
    pub reads: Vec<Register>,
    /// The registers that it writes.
    pub writes: Vec<Register>,
    /// Single-precision operations per lane: add and mul 1, fma 2.
    pub fp32_flops: u32,
    /// Whether it computes in double precision.
    pub is_fp64: bool,
    /// Whether it is `fma.rn.f32`, which may be part of a dot product.
    pub(crate) is_multiply_add: bool,
    /// The variable of shared memory that it accesses, if that is known.
    pub(crate) object: Option<u32>,
}
