//! Text to tokens, one at a time, with the position of each.
//!
//! PTX outside comments and strings is ASCII, so tokens are byte ranges; columns still count characters.

use super::Result;
use super::number;
use crate::{ParseError, Position};

/// One token, a slice of the source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    /// As written; without the dot of [`Kind::Dotted`] and without the quotes of [`Kind::Text`].
    pub(super) text: &'a str,
    pub(super) position: Position,
    /// Whether it follows the previous token without a gap, as in `%tid.x`.
    pub(super) glued: bool,
}

impl Token<'_> {
    /// Whether this is the punctuation mark or operator `symbol`.
    pub(super) fn is(&self, symbol: &str) -> bool {
        self.kind == Kind::Symbol && self.text == symbol
    }
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// An identifier: `ld`, `%r1`, `$L__BB0_1`, `_`.
    Word,
    /// `.name`: a directive, a modifier, a type or a component.
    Dotted,
    /// An integer literal; `unsigned` if it has the suffix `U` or does not fit in `.s64`.
    Integer { value: u64, unsigned: bool },
    /// `0f...`: the bits.
    Single(u32),
    /// `0d...` or a decimal floating-point literal: the bits.
    Double(u64),
    /// A string in double quotes.
    Text,
    /// A punctuation mark or an operator.
    Symbol,
    /// The end of the source.
    End,
}

/// Reads tokens from a source text.
pub(super) struct Lexer<'a> {
    source: &'a str,
    at: usize,
    line: u32,
    line_start: usize,
    /// UTF-8 continuation bytes seen on this line: bytes that are not characters.
    continuation_bytes: usize,
}

impl<'a> Lexer<'a> {
    /// A lexer at the start of `source`. NVRTC ends its text with NUL bytes: they are not part of it.
    pub(super) fn new(source: &'a str) -> Self {
        let source = source.trim_end_matches('\0');
        let at = if source.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { source, at, line: 1, line_start: at, continuation_bytes: 0 }
    }

    /// The next token; [`Kind::End`] at the end, again and again.
    pub(super) fn next(&mut self) -> Result<Token<'a>> {
        let before = self.at;
        self.skip_blanks()?;
        let glued = self.at == before;
        let position = self.position();
        let start = self.at;
        let Some(first) = self.byte(0) else {
            return Ok(Token { kind: Kind::End, text: "", position, glued });
        };
        let (kind, text) = match first {
            b'%' if !self.byte(1).is_some_and(is_word_byte) => self.symbol(1),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | b'%' => {
                self.at += 1;
                self.skip_while(is_word_byte);
                (Kind::Word, &self.source[start..self.at])
            }
            b'.' if self.begins_dotted() => self.dotted(),
            b'0'..=b'9' | b'.' => self.number(position)?,
            b'"' => self.string(position)?,
            b'<' | b'>' | b'=' | b'!' | b'&' | b'|' => self.symbol(self.operator_length(first)),
            b';' | b',' | b':' | b'@' | b'{' | b'}' | b'(' | b')' | b'[' | b']' => self.symbol(1),
            b'+' | b'-' | b'*' | b'/' | b'^' | b'~' | b'?' => self.symbol(1),
            _ => {
                let found = self.source[start..].chars().next().unwrap_or_default();
                return Err(ParseError::new(position, format!("unexpected character {found:?}")));
            }
        };
        Ok(Token { kind, text, position, glued })
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.source.as_bytes().get(self.at + ahead).copied()
    }

    fn position(&self) -> Position {
        let column = self.at - self.line_start - self.continuation_bytes + 1;
        Position { line: self.line, column: column as u32 }
    }

    fn skip_while(&mut self, wanted: fn(u8) -> bool) {
        while self.byte(0).is_some_and(wanted) {
            self.at += 1;
        }
    }

    /// Steps over one byte of a comment, a string or white space, which may end a line.
    fn step(&mut self, byte: u8) {
        self.at += 1;
        if byte == b'\n' {
            self.line += 1;
            self.line_start = self.at;
            self.continuation_bytes = 0;
        } else if byte & 0xC0 == 0x80 {
            self.continuation_bytes += 1;
        }
    }

    /// Skips white space, comments, and lines that begin with `#` (left by a preprocessor).
    fn skip_blanks(&mut self) -> Result<()> {
        while let Some(byte) = self.byte(0) {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b'\x0b' | b'\x0c' => self.step(byte),
                b'/' if self.byte(1) == Some(b'/') => self.skip_line(),
                b'/' if self.byte(1) == Some(b'*') => self.skip_block_comment()?,
                b'#' if self.source[self.line_start..self.at].trim().is_empty() => self.skip_line(),
                _ => break,
            }
        }
        Ok(())
    }

    fn skip_line(&mut self) {
        while let Some(byte) = self.byte(0).filter(|&byte| byte != b'\n') {
            self.step(byte);
        }
    }

    fn skip_block_comment(&mut self) -> Result<()> {
        let position = self.position();
        self.at += 2;
        while let Some(byte) = self.byte(0) {
            if byte == b'*' && self.byte(1) == Some(b'/') {
                self.at += 2;
                return Ok(());
            }
            self.step(byte);
        }
        Err(ParseError::new(position, "this comment is never closed: expected `*/`"))
    }

    /// 2 for `<<`, `>>`, `&&`, `||` and the comparisons that end in `=`; else 1.
    fn operator_length(&self, first: u8) -> usize {
        match (first, self.byte(1)) {
            (b'<' | b'>' | b'&' | b'|', Some(second)) if second == first => 2,
            (b'<' | b'>' | b'=' | b'!', Some(b'=')) => 2,
            _ => 1,
        }
    }

    fn symbol(&mut self, length: usize) -> (Kind, &'a str) {
        let text = &self.source[self.at..self.at + length];
        self.at += length;
        (Kind::Symbol, text)
    }

    /// `.name`, or the `.1d` of `tex.1d`; but `.5` on its own is a number.
    fn begins_dotted(&self) -> bool {
        match self.byte(1) {
            Some(b'0'..=b'9') => self.at > 0 && is_word_byte(self.source.as_bytes()[self.at - 1]),
            Some(byte) => is_word_byte(byte),
            None => false,
        }
    }

    fn dotted(&mut self) -> (Kind, &'a str) {
        self.at += 1;
        let start = self.at;
        self.skip_while(is_word_byte);
        while self.byte(0) == Some(b':')
            && self.byte(1) == Some(b':')
            && self.byte(2).is_some_and(is_word_byte)
        {
            self.at += 2;
            self.skip_while(is_word_byte);
        }
        (Kind::Dotted, &self.source[start..self.at])
    }

    fn number(&mut self, position: Position) -> Result<(Kind, &'a str)> {
        let start = self.at;
        self.at += number::length(&self.source.as_bytes()[start..]);
        let text = &self.source[start..self.at];
        let kind = number::classify(text).map_err(|message| ParseError::new(position, message))?;
        Ok((kind, text))
    }

    fn string(&mut self, position: Position) -> Result<(Kind, &'a str)> {
        self.at += 1;
        let start = self.at;
        while let Some(byte) = self.byte(0).filter(|&byte| byte != b'\n') {
            match byte {
                b'"' => {
                    let text = &self.source[start..self.at];
                    self.at += 1;
                    return Ok((Kind::Text, text));
                }
                b'\\' if matches!(self.byte(1), Some(b'"' | b'\\')) => self.at += 2,
                _ => self.step(byte),
            }
        }
        Err(ParseError::new(position, "this string is never closed: expected `\"` on the same line"))
    }
}

/// The bytes that may stand inside an identifier.
const WORD_BYTES: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).is_ascii_alphanumeric() || matches!(byte as u8, b'_' | b'$');
        byte += 1;
    }
    table
};

fn is_word_byte(byte: u8) -> bool {
    WORD_BYTES[usize::from(byte)]
}
