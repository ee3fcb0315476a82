//! Line directives of a source: `#line 500 "other.cu"` has a compiler believe that it is somewhere else.
//!
//! A fault is shown where it lies in the file that was handed in, so the directives are taken out of effect first.

use std::borrow::Cow;

/// The source with every line directive made a pragma that nobody knows. Lines stay where they are.
pub(crate) fn without_line_directives(source: &str) -> Cow<'_, str> {
    let mut changed = String::new();
    let mut kept = 0;
    let mut scanner = Scanner { rest: source, is_line_start: true };
    while let Some(at) = scanner.next_directive() {
        let place = source.len() - at.len();
        changed.push_str(&source[kept..place]);
        changed.push_str("pragma ");
        kept = place;
    }
    if kept == 0 { Cow::Borrowed(source) } else { Cow::Owned(changed + &source[kept..]) }
}

/// Walks over code as the first phases of a compiler do: lines spliced by a backslash, comments, literals.
struct Scanner<'a> {
    rest: &'a str,
    /// Whether only blanks and comments came before on this line.
    is_line_start: bool,
}

impl<'a> Scanner<'a> {
    /// The text that begins at the name of the next line directive: behind its `#`.
    fn next_directive(&mut self) -> Option<&'a str> {
        loop {
            self.skip_splices();
            let c = self.rest.chars().next()?;
            let is_line_start = std::mem::replace(&mut self.is_line_start, false);
            match c {
                '\n' => {
                    self.is_line_start = true;
                    self.take(1);
                }
                ' ' | '\t' | '\u{b}' | '\u{c}' => {
                    self.is_line_start = is_line_start;
                    self.take(1);
                }
                '/' if self.comment() => self.is_line_start = is_line_start,
                '"' | '\'' => self.literal(c),
                '#' if is_line_start => {
                    self.take(1);
                    if let Some(name) = self.name() {
                        return Some(name);
                    }
                }
                '%' if is_line_start && self.follows('%', ':') => {
                    if let Some(name) = self.name() {
                        return Some(name);
                    }
                }
                c if c.is_alphanumeric() || c == '_' => self.word(),
                c => self.take(c.len_utf8()),
            }
        }
    }

    fn take(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
    }

    /// A backslash at the end of a line joins it with the next; compilers forgive blanks behind it.
    fn skip_splices(&mut self) {
        while let Some(rest) = self.rest.strip_prefix('\\') {
            match rest.trim_start_matches([' ', '\t']).strip_prefix('\n') {
                Some(next) => self.rest = next,
                None => return,
            }
        }
    }

    /// Takes two characters if they are these, perhaps with a splice between.
    fn follows(&mut self, first: char, second: char) -> bool {
        let before = self.rest;
        if self.rest.starts_with(first) {
            self.take(first.len_utf8());
            self.skip_splices();
            if self.rest.starts_with(second) {
                self.take(second.len_utf8());
                return true;
            }
        }
        self.rest = before;
        false
    }

    /// Takes a comment, if one begins here. The line break behind a line comment is not part of it.
    fn comment(&mut self) -> bool {
        if self.follows('/', '/') {
            loop {
                self.skip_splices();
                match self.rest.chars().next() {
                    None | Some('\n') => return true,
                    Some(c) => self.take(c.len_utf8()),
                }
            }
        }
        if self.follows('/', '*') {
            loop {
                self.skip_splices();
                match self.rest.chars().next() {
                    Some(_) if self.follows('*', '/') => return true,
                    Some(c) => self.take(c.len_utf8()),
                    None => return true,
                }
            }
        }
        false
    }

    /// The name of a directive, if it is one about lines.
    fn name(&mut self) -> Option<&'a str> {
        loop {
            self.skip_splices();
            match self.rest.chars().next()? {
                ' ' | '\t' | '\u{b}' | '\u{c}' => self.take(1),
                '/' if self.comment() => {}
                _ => break,
            }
        }
        let start = self.rest;
        let mut name = String::new();
        loop {
            self.skip_splices();
            match self.rest.chars().next() {
                Some(c) if c.is_alphanumeric() || c == '_' => {
                    name.push(c);
                    self.take(c.len_utf8());
                }
                _ => break,
            }
        }
        let is_about_lines = name == "line" || name.starts_with(|c: char| c.is_ascii_digit());
        is_about_lines.then_some(start)
    }

    /// A string or a character, to its end or that of the line.
    fn literal(&mut self, quote: char) {
        self.take(1);
        loop {
            self.skip_splices();
            match self.rest.chars().next() {
                None | Some('\n') => return,
                Some('\\') => {
                    self.take(1);
                    self.skip_splices();
                    if let Some(c) = self.rest.chars().next() {
                        self.take(c.len_utf8());
                    }
                }
                Some(c) => {
                    self.take(c.len_utf8());
                    if c == quote {
                        return;
                    }
                }
            }
        }
    }

    /// A word or a number; if it introduces a raw string, that too. A `'` within a number parts its digits.
    fn word(&mut self) {
        let mut word = String::new();
        loop {
            self.skip_splices();
            match self.rest.chars().next() {
                Some(c) if c.is_alphanumeric() || c == '_' => {
                    word.push(c);
                    self.take(c.len_utf8());
                }
                Some('\'') if word.starts_with(|c: char| c.is_ascii_digit()) => {
                    word.push('\'');
                    self.take(1);
                }
                _ => break,
            }
        }
        if matches!(word.as_str(), "R" | "LR" | "uR" | "UR" | "u8R") && self.rest.starts_with('"') {
            self.raw_string();
        }
    }

    /// `"mark(...)mark"`, in which nothing is spliced.
    fn raw_string(&mut self) {
        let Some((mark, body)) = self.rest[1..].split_once('(') else { return self.take(1) };
        let end = format!("){mark}\"");
        match body.find(&end) {
            Some(at) if mark.len() <= 16 => self.rest = &body[at + end.len()..],
            _ => self.take(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_line_directive_loses_its_effect() {
        for (source, expected) in [
            ("#line 5\nx", "#pragma line 5\nx"),
            ("  #  line 5 \"a.cu\"\n", "  #  pragma line 5 \"a.cu\"\n"),
            ("x;\n# 5 \"a.cu\"\n", "x;\n# pragma 5 \"a.cu\"\n"),
            ("%:line 5\n", "%:pragma line 5\n"),
            ("/* a */ # /* b */ line 5\n", "/* a */ # /* b */ pragma line 5\n"),
            ("#\\\nline 5\n", "#\\\npragma line 5\n"),
            ("#li\\\nne 5\n", "#pragma li\\\nne 5\n"),
            ("// a\n#line 5", "// a\n#pragma line 5"),
            ("/* a\n*/#line 5", "/* a\n*/#pragma line 5"),
            ("/***/#line 5", "/***/#pragma line 5"),
            ("'\"';\n#line 5 // '\"'\n#line 6", "'\"';\n#pragma line 5 // '\"'\n#pragma line 6"),
            ("a / \"\n#line 5\";\n#line 6", "a / \"\n#pragma line 5\";\n#pragma line 6"),
            ("1'000;\n#line 5", "1'000;\n#pragma line 5"),
            ("R\"(\n#line 1\n)\";\n#line 5", "R\"(\n#line 1\n)\";\n#pragma line 5"),
        ] {
            assert_eq!(without_line_directives(source), expected, "{source:?}");
        }
    }

    #[test]
    fn what_only_looks_like_one_stays() {
        for source in [
            "#define line 5\n#lines\n#pragma unroll\n#",
            "// #line 5\n/*\n#line 5\n*/",
            "// \\\n#line 5",
            "\"a\\\n#line 5\"",
            "const char* s = R\"x(\n#line 5\n)\"\n#line 6\n)x\";",
            "x #line 5\n# /",
            "한글 \"끝",
            "\\",
        ] {
            assert!(matches!(without_line_directives(source), Cow::Borrowed(_)), "{source:?}");
        }
    }
}
