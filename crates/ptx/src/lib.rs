//! PTX text to a typed module, every node with its source position.
//!
//! [`parse`] reads what NVRTC, nvcc and clang write, and PTX written by hand. It knows the grammar, not the
//! instructions: those have an opcode, modifiers and operands, and whoever executes them gives them a meaning.
//!
//! ```
//! let module = ptx::parse(
//!     ".version 8.0
//!      .target sm_80
//!      .address_size 64
//!      .visible .entry twice(.param .u64 data) {
//!          .reg .b64 %rd<2>;
//!          .reg .f32 %f<2>;
//!          ld.param.u64 %rd0, [data];
//!          ld.global.f32 %f0, [%rd0+4];
//!          add.f32 %f1, %f0, %f0;
//!          st.global.f32 [%rd0+4], %f1;
//!          ret;
//!      }",
//! )?;
//! let kernel = module.function("twice").expect("it is in the text");
//! let loads: Vec<String> = kernel
//!     .instructions()
//!     .filter(|instruction| instruction.opcode == "ld" && instruction.has("global"))
//!     .map(|load| format!("line {}: {load}", load.position.line))
//!     .collect();
//! assert_eq!(loads, ["line 8: ld.global.f32 %f0, [%rd0+4];"]);
//! # Ok::<(), ptx::ParseError>(())
//! ```
//!
//! Whatever the text, parsing ends with a module or with a [`ParseError`]: it does not panic, and its time, memory
//! and recursion are bounded.

mod ast;
mod display;
mod error;
mod parse;
mod query;

pub use ast::*;
pub use error::ParseError;
pub use parse::parse;
