use crate::ast::Position;

/// PTX that is not well formed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("PTX line {}, column {}: {message}", position.line, position.column)]
pub struct ParseError {
    /// Where.
    pub position: Position,
    /// What is wrong and what was expected.
    pub message: String,
}

impl ParseError {
    pub(crate) fn new(position: Position, message: impl Into<String>) -> Self {
        Self { position, message: message.into() }
    }
}
