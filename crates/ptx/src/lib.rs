//! PTX text to a typed module, every node with its source position.
//!
//! ```
//! let module = ptx::parse(".version 8.0\n.target sm_80\n.address_size 64\n")?;
//! assert_eq!(module.version, (8, 0));
//! # Ok::<(), ptx::ParseError>(())
//! ```

mod ast;
mod display;
mod error;
mod parse;
mod query;

pub use ast::*;
pub use error::ParseError;
pub use parse::parse;
