//! A hand-written lexer and recursive-descent parser.
//!
//! Nothing here gives instructions a meaning, so instructions that are not known yet still parse. Work and
//! memory are linear in the length of the text; everything that could recurse or multiply has a limit below.

mod cursor;
mod expression;
mod function;
mod initializer;
mod instruction;
mod lexer;
mod module;
mod number;
mod operand;
mod variable;

use crate::{Module, ParseError};

type Result<T> = std::result::Result<T, ParseError>;

/// The longest text, in bytes.
const MAX_SOURCE_BYTES: usize = 64 << 20;
/// How deep expressions, vectors, initialisers and `{ }` blocks may nest.
const MAX_NESTING: usize = 128;
/// The registers that one function may declare, ranges included.
const MAX_REGISTERS: u64 = 1 << 20;
/// The zeros that short rows of initialisers may add to a module.
const MAX_INITIALIZER_PADDING: u64 = 1 << 20;

/// Parses a PTX module.
///
/// # Errors
/// [`ParseError`] with the place and what was expected, for text that is not well-formed PTX.
pub fn parse(source: &str) -> Result<Module> {
    let mut parser = cursor::Parser::new(source)?;
    if source.len() > MAX_SOURCE_BYTES {
        return Err(parser
            .error(format!("the text has {} bytes; at most {MAX_SOURCE_BYTES} are accepted", source.len())));
    }
    parser.module()
}
