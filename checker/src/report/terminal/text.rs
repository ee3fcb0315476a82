//! Text as a terminal can show it: in lines that fit, and without characters that would steer it.

use std::io::IsTerminal;

use crossterm::terminal;
pub(super) use trust::text::{lines as printable_lines, one_line as printable};

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// Columns where there is no terminal, and the most where there is one: longer lines are hard to read.
pub(crate) const MOST_COLUMNS: usize = 100;
/// Columns that text takes even if the terminal has fewer.
const LEAST_COLUMNS: usize = 40;

/// Stands for a blank at which no line may end: a character that no text has.
const JOINT: char = '\u{e000}';

/// Columns that text is set in.
pub(super) fn width() -> usize {
    let is_terminal = std::io::stdout().is_terminal();
    let columns = is_terminal.then(terminal::size).and_then(Result::ok).map(|(columns, _)| columns.into());
    // A terminal of no columns is one that does not know.
    let columns = columns.filter(|columns| *columns > 0).unwrap_or(MOST_COLUMNS);
    columns.clamp(LEAST_COLUMNS, MOST_COLUMNS)
}

/// Each line of `text` in as many lines as it needs; those after the first stand behind `indent`.
pub(super) fn paragraph(text: &str, indent: &str) -> String {
    wrap(text, indent, width())
}

/// Text that stands behind a margin of `margin` columns, which its first line has already. Lines that begin with a blank
/// are commands and stay whole.
pub(super) fn hang(text: &str, margin: usize) -> String {
    hang_to(text, margin, width())
}

/// What authors wrote by hand, set anew: lines that begin with a blank are code and stay as they are, what stands between
/// them and empty lines is a paragraph.
pub(super) fn refill(text: &str) -> String {
    refill_to(text, width())
}

/// As [`paragraph`], in `width` columns.
pub(super) fn wrap(text: &str, indent: &str, width: usize) -> String {
    // Paths and commands are copied from here: words stay whole, and so does what stands between backticks.
    // And the index of a thread, `(0, 0, 0)`.
    let is_closed = text.matches('`').count().is_multiple_of(2);
    let mut is_code = false;
    let mut joined = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        is_code ^= c == '`' && is_closed;
        let in_index = joined.ends_with(',') && rest.peek().is_some_and(char::is_ascii_digit);
        joined.push(if c == ' ' && (is_code || in_index) { JOINT } else { c });
    }
    let options = Options::new(width)
        .subsequent_indent(indent)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    textwrap::fill(&joined, options).replace(JOINT, " ")
}

fn hang_to(text: &str, margin: usize, width: usize) -> String {
    let room = width.saturating_sub(margin).max(LEAST_COLUMNS / 2);
    let set = |line: &str| if line.starts_with(' ') { line.to_owned() } else { wrap(line, "", room) };
    let lines = text.lines().map(set).collect::<Vec<_>>().join("\n");
    lines.replace('\n', &format!("\n{:margin$}", ""))
}

fn refill_to(text: &str, width: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut open = false;
    for line in text.trim_end().lines() {
        let is_prose = !line.is_empty() && !line.starts_with(' ');
        match lines.last_mut().filter(|_| open && is_prose) {
            Some(paragraph) => {
                paragraph.push(' ');
                paragraph.push_str(line);
            }
            None => lines.push(line.to_owned()),
        }
        open = is_prose;
    }
    let set = |line: &String| if line.starts_with(' ') { line.clone() } else { wrap(line, "", width) };
    lines.iter().map(set).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_hang() {
        assert_eq!(wrap("one two three four", "    ", 10), "one two\n    three\n    four");
        assert_eq!(wrap("/a/path/longer/than/that x", "", 10), "/a/path/longer/than/that\nx");
        assert_eq!(wrap("a-b-c-d e", "", 5), "a-b-c-d\ne", "a word with hyphens is one word");
        assert_eq!(wrap("first\nsecond line", "", 100), "first\nsecond line");
        assert_eq!(wrap("type `cargo run it` now", "", 12), "type\n`cargo run it`\nnow");
        assert_eq!(wrap("of thread (0, 0, 0)", "", 16), "of thread\n(0, 0, 0)");
        assert_eq!(wrap("a lone ` joins nothing", "", 12), "a lone `\njoins\nnothing");
    }

    #[test]
    fn what_stands_behind_a_margin_stays_there() {
        assert_eq!(
            hang_to("one two three four\n  a command -- whole", 2, 22),
            "one two three four\n    a command -- whole"
        );
        assert_eq!(hang_to("one two three four five six", 4, 24), "one two three four\n    five six");
    }

    #[test]
    fn colours_take_no_columns() {
        assert_eq!(wrap("\x1b[31mred:\x1b[0m word", "", 9), "\x1b[31mred:\x1b[0m word");
    }

    #[test]
    fn prose_is_set_anew_and_code_is_left_alone() {
        let hint =
            "Some words\nthat go on.\n\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n\nAnd\nmore.\n";
        let set =
            "Some words that\ngo on.\n\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n\nAnd more.";
        assert_eq!(refill_to(hint, 16), set);
    }
}
