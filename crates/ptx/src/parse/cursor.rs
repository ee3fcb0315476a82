//! One token of look-ahead, and the small questions that every rule of the grammar asks.

use super::lexer::{Kind, Lexer, Token};
use super::{MAX_NESTING, Result};
use crate::{ParseError, Position};

/// The parser: the methods of the grammar are spread over this folder, one file for each part of the language.
pub(super) struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token<'a>,
    /// Rules that call themselves and have not returned yet.
    nesting: usize,
    /// Zeros added by short rows of initialisers, in the whole module.
    pub(super) padding: u64,
}

impl<'a> Parser<'a> {
    pub(super) fn new(source: &'a str) -> Result<Self> {
        let mut lexer = Lexer::new(source);
        let token = lexer.next()?;
        Ok(Self { lexer, token, nesting: 0, padding: 0 })
    }

    /// The token that comes next, not consumed.
    pub(super) fn peek(&self) -> &Token<'a> {
        &self.token
    }

    /// Where the next token begins.
    pub(super) fn position(&self) -> Position {
        self.token.position
    }

    /// Consumes the next token.
    pub(super) fn bump(&mut self) -> Result<Token<'a>> {
        let next = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.token, next))
    }

    /// Whether `symbol` comes next.
    pub(super) fn at(&self, symbol: &str) -> bool {
        self.token.is(symbol)
    }

    /// Consumes `symbol` if it comes next.
    pub(super) fn eat(&mut self, symbol: &str) -> Result<bool> {
        let found = self.at(symbol);
        if found {
            self.bump()?;
        }
        Ok(found)
    }

    /// Consumes `symbol`, or says that it was expected `place`, such as "after the parameters".
    pub(super) fn expect(&mut self, symbol: &str, place: &str) -> Result<()> {
        if self.eat(symbol)? { Ok(()) } else { Err(self.expected(&format!("`{symbol}` {place}"))) }
    }

    /// Consumes an identifier.
    pub(super) fn word(&mut self, what: &str) -> Result<&'a str> {
        if self.token.kind != Kind::Word {
            return Err(self.expected(what));
        }
        Ok(self.bump()?.text)
    }

    /// Consumes `.name`.
    pub(super) fn dotted(&mut self, what: &str) -> Result<&'a str> {
        if self.token.kind != Kind::Dotted {
            return Err(self.expected(what));
        }
        Ok(self.bump()?.text)
    }

    /// Consumes an integer literal of at most 32 bits.
    pub(super) fn u32(&mut self, what: &str) -> Result<u32> {
        let Kind::Integer { value, .. } = self.token.kind else {
            return Err(self.expected(what));
        };
        let value = u32::try_from(value)
            .map_err(|_| self.error(format!("{} is too large for {what}", self.token.text)))?;
        self.bump()?;
        Ok(value)
    }

    /// Consumes a string, and gives it without the escapes `\"` and `\\`.
    pub(super) fn string(&mut self, what: &str) -> Result<String> {
        if self.token.kind != Kind::Text {
            return Err(self.expected(what));
        }
        Ok(self.bump()?.text.replace("\\\"", "\"").replace("\\\\", "\\"))
    }

    /// Runs a rule that may contain itself, up to a depth that keeps the stack small.
    pub(super) fn nested<T>(&mut self, rule: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.nesting == MAX_NESTING {
            return Err(self.error(format!("nested more than {MAX_NESTING} deep")));
        }
        self.nesting += 1;
        let result = rule(self);
        self.nesting -= 1;
        result
    }

    /// An error at the next token.
    pub(super) fn error(&self, message: impl Into<String>) -> ParseError {
        ParseError::new(self.token.position, message)
    }

    /// "expected WHAT, found ...".
    pub(super) fn expected(&self, what: &str) -> ParseError {
        let found = match self.token.kind {
            Kind::End => "the end of the text".to_owned(),
            Kind::Dotted => format!("`.{}`", shortened(self.token.text)),
            Kind::Text => format!("the string \"{}\"", shortened(self.token.text)),
            _ => format!("`{}`", shortened(self.token.text)),
        };
        self.error(format!("expected {what}, found {found}"))
    }
}

/// The beginning of `text`, short enough to stand in a message.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
