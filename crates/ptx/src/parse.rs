use crate::{Module, ParseError};

/// Parses a PTX module.
///
/// # Errors
/// [`ParseError`] with the place and what was expected, for text that is not well-formed PTX.
pub fn parse(_source: &str) -> Result<Module, ParseError> { todo!() }
