//! CUDA source as tokens: just enough of C++'s lexical rules that nothing in a comment, a literal or a directive is taken
//! for code.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An identifier or a keyword.
    Word,
    Number,
    /// A string or a character, with prefix and quotes.
    Literal,
    /// A whole preprocessor directive with its continuation lines, from `#` on.
    Directive,
    /// `::`, `->`, or any other character by itself, so that nested template lists close one by one.
    Mark,
}

/// One token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    /// Offset of its first byte.
    pub(super) at: usize,
}

impl Token<'_> {
    /// Offset of the first byte after it.
    pub(super) fn end(&self) -> usize {
        self.at + self.text.len()
    }

    /// Whether it is this word or mark.
    pub(super) fn is(&self, text: &str) -> bool {
        matches!(self.kind, Kind::Word | Kind::Mark) && self.text == text
    }

    /// Whether it is one of these words or marks.
    pub(super) fn is_any(&self, texts: &[&str]) -> bool {
        texts.iter().any(|text| self.is(text))
    }

    pub(super) fn is_word(&self) -> bool {
        self.kind == Kind::Word
    }
}

/// Takes a source apart. Whatever is not closed goes on to the end.
pub(super) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut line_starts = true;
    while let Some(first) = source[at..].chars().next() {
        let rest = &source[at..];
        let blank = blank(rest);
        if blank > 0 {
            line_starts |= rest[..blank].contains('\n') && !is_continuation(&rest[..blank]);
            at += blank;
            continue;
        }
        let (kind, length) = if first == '#' && line_starts {
            (Kind::Directive, directive(rest))
        } else if let Some(length) = literal(rest) {
            (Kind::Literal, length)
        } else if is_word_start(first) {
            (Kind::Word, rest.find(|c: char| !is_word_part(c)).unwrap_or(rest.len()))
        } else if first.is_ascii_digit()
            || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()))
        {
            (Kind::Number, number(rest))
        } else {
            let pair = ["::", "->"].iter().any(|pair| rest.starts_with(pair));
            (Kind::Mark, if pair { 2 } else { first.len_utf8() })
        };
        found.push(Token { kind, text: &source[at..at + length], at });
        line_starts = false;
        at += length;
    }
    found
}

fn is_word_start(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '$'
}

fn is_word_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// Length of the blanks or the comment that `text` begins with.
fn blank(text: &str) -> usize {
    if text.starts_with("//") {
        return logical_line(text);
    }
    if let Some(comment) = text.strip_prefix("/*") {
        return comment.find("*/").map_or(text.len(), |end| end + 4);
    }
    if text.starts_with("\\\n") {
        return 2;
    }
    text.find(|c: char| !c.is_whitespace()).unwrap_or(text.len())
}

/// Whether these blanks join two lines.
fn is_continuation(blank: &str) -> bool {
    blank == "\\\n"
}

/// Length up to the end of the line, which a backslash puts off.
fn logical_line(text: &str) -> usize {
    let ends = text.match_indices('\n').map(|(at, _)| at);
    ends.into_iter().find(|&at| !text[..at].ends_with('\\')).unwrap_or(text.len())
}

/// Length of a directive: its line, put off by backslashes and by comments that go over the end of it.
fn directive(text: &str) -> usize {
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        if c == '\n' {
            return at;
        }
        at += if rest.starts_with("//") {
            return at + logical_line(rest);
        } else if rest.starts_with("/*") {
            blank(rest)
        } else if rest.starts_with("\\\n") {
            2
        } else if c == '"' {
            // An apostrophe may be in the text of an `#error`.
            quoted(rest, '"').max(1)
        } else {
            c.len_utf8()
        };
    }
    text.len()
}

/// Length of the string or character that `text` begins with.
fn literal(text: &str) -> Option<usize> {
    let prefix = ["u8R", "uR", "UR", "LR", "R", "u8", "u", "U", "L", ""]
        .into_iter()
        .find(|prefix| text.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(['"', '\''])))?;
    let rest = &text[prefix.len()..];
    if prefix.ends_with('R') && rest.starts_with('"') {
        let (delimiter, body) = rest[1..].split_once('(')?;
        let close = format!("){delimiter}\"");
        let length = body.find(&close).map_or(body.len(), |end| end + close.len());
        return Some(prefix.len() + 1 + delimiter.len() + 1 + length);
    }
    let quote = if rest.starts_with('"') { '"' } else { '\'' };
    Some(prefix.len() + quoted(rest, quote))
}

/// Length of what stands in `quote`s at the beginning of `text`; the line ends it, too.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => return at,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Length of a number: digits, letters, points, signs of an exponent, and apostrophes between digits.
fn number(text: &str) -> usize {
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let is_sign = matches!(c, '+' | '-')
            && (matches!(before, 'p' | 'P') || (matches!(before, 'e' | 'E') && !is_hexadecimal(text)));
        let is_separator = c == '\'' && text[at + 1..].starts_with(|c: char| c.is_ascii_alphanumeric());
        if !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_') || is_sign || is_separator) {
            return at;
        }
        before = c;
    }
    text.len()
}

fn is_hexadecimal(text: &str) -> bool {
    text.starts_with("0x") || text.starts_with("0X")
}

/// The index after the bracket that closes the one at `open`; `None` if nothing does.
pub(super) fn after_close(tokens: &[Token<'_>], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        if token.is_any(&["(", "[", "{"]) {
            depth += 1;
        } else if token.is_any(&[")", "]", "}"]) {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return Some(index + 1);
            }
        }
    }
    None
}

/// The index after the `>` that closes the template list whose `<` is at `open`; `None` if it is none.
pub(super) fn after_angle(tokens: &[Token<'_>], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut index = open;
    while let Some(token) = tokens.get(index) {
        if token.is("<") {
            depth += 1;
        } else if token.is(">") {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return Some(index + 1);
            }
        } else if token.is_any(&["(", "[", "{"]) {
            index = after_close(tokens, index)?;
            continue;
        } else if token.is_any(&[")", "]", "}", ";"]) {
            return None;
        }
        index += 1;
    }
    None
}

/// The pieces between commas at the outermost level.
pub(super) fn split_commas<'t, 'a>(tokens: &'t [Token<'a>]) -> Vec<&'t [Token<'a>]> {
    let mut pieces = Vec::new();
    let (mut start, mut index) = (0, 0);
    while index < tokens.len() {
        if tokens[index].is(",") {
            pieces.push(&tokens[start..index]);
            start = index + 1;
        }
        let nested = if tokens[index].is_any(&["(", "[", "{"]) { after_close(tokens, index) } else { None };
        // A `<` that nothing closes is a comparison.
        let nested = nested.or_else(|| tokens[index].is("<").then(|| after_angle(tokens, index)).flatten());
        index = nested.unwrap_or(index + 1);
    }
    if start < tokens.len() || !pieces.is_empty() {
        pieces.push(&tokens[start..]);
    }
    pieces
}

/// The line, from 1, of a byte.
pub(super) fn line_of(source: &str, at: usize) -> u32 {
    let newlines = source.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count();
    u32::try_from(newlines + 1).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<&str> {
        tokens(source).iter().map(|token| token.text).collect()
    }

    #[test]
    fn comments_literals_and_directives_hide_code() {
        let source = "a /* { */ \"}\\\"{\" '{' // } \\\n still a comment }\n#define X { \\\n  { /* over\n the end { */ b\n\
                      c R\"x(} )\" })x\" u8\"é\" L'\\'' d";
        assert_eq!(
            texts(source),
            [
                "a",
                "\"}\\\"{\"",
                "'{'",
                "#define X { \\\n  { /* over\n the end { */ b",
                "c",
                "R\"x(} )\" })x\"",
                "u8\"é\"",
                "L'\\''",
                "d"
            ]
        );
    }

    #[test]
    fn numbers_are_whole_and_angles_single() {
        assert_eq!(
            texts("1'000 0x1eU+1 1e-5f .5 1.f x.y"),
            ["1'000", "0x1eU", "+", "1", "1e-5f", ".5", "1.f", "x", ".", "y"]
        );
        assert_eq!(
            texts("A<B<C<int>>>x->y::z"),
            ["A", "<", "B", "<", "C", "<", "int", ">", ">", ">", "x", "->", "y", "::", "z"]
        );
    }

    #[test]
    fn a_hash_is_a_directive_only_at_the_start_of_a_line() {
        let kinds: Vec<Kind> = tokens("  # if 1\na # b \\\n# c\n").iter().map(|token| token.kind).collect();
        assert_eq!(kinds, [Kind::Directive, Kind::Word, Kind::Mark, Kind::Word, Kind::Mark, Kind::Word]);
    }

    #[test]
    fn odd_text_ends_and_does_not_panic() {
        for source in ["\"", "'", "/*", "R\"(", "R\"", "#", "# \\", "\\", "1'", "é…", "\u{0}", "0x", "//\\"]
        {
            let _ = tokens(source);
        }
        assert_eq!(texts("'don't\nnext"), ["'don'", "t", "next"]);
    }

    #[test]
    fn commas_within_brackets_and_templates_do_not_split() {
        let all = tokens("f(a, b), g<x, y>(1), i < j, {k, l}");
        let pieces: Vec<String> = split_commas(&all)
            .into_iter()
            .map(|piece| piece.iter().map(|token| token.text).collect())
            .collect();
        assert_eq!(pieces, ["f(a,b)", "g<x,y>(1)", "i<j", "{k,l}"]);
    }
}
