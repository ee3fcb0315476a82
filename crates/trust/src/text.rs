//! Text of strangers, made fit to be shown: names of files and people, what a kernel prints, what a compiler
//! quotes.
//!
//! Control characters steer a terminal, marks of direction turn words around, and others have no shape at
//! all, so that two names look like one. Each is shown by its number, as Rust writes it: `\u{202e}`.

use std::ffi::OsStr;
use std::fmt::Write as _;

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// Whether a character cannot be seen, or changes how others are seen.
pub fn is_hidden(c: char) -> bool {
    use GeneralCategory::{Control, Format, LineSeparator, ParagraphSeparator, PrivateUse, Unassigned};
    let by_category = matches!(
        c.general_category(),
        Control | Format | LineSeparator | ParagraphSeparator | PrivateUse | Unassigned
    );
    // Letters and marks that Unicode lists as ignorable: joiners, fillers, selectors of variants, and the
    // empty Braille.
    let is_blank = matches!(c, '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{e0100}'..='\u{e01ef}');
    by_category || is_blank
}

/// A text as it can be shown in one line.
pub fn one_line(text: &str) -> String {
    escape(text, is_hidden)
}

/// A text of several lines as it can be shown: its lines and tabs stay.
pub fn lines(text: &str) -> String {
    escape(text, |c| is_hidden(c) && !matches!(c, '\n' | '\t'))
}

/// A text for a terminal, with the colours of its writer: `ESC [ numbers m` stays, and so do lines and tabs.
pub fn styled(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        shown.push_str(&lines(before));
        let style = after.strip_prefix('[').and_then(|codes| {
            let end = codes.find(|c: char| !c.is_ascii_digit() && c != ';')?;
            codes[end..].starts_with('m').then_some(end + 2)
        });
        // The colour itself, or the number of a character that begins something else.
        shown.push_str(if style.is_some() { "\u{1b}" } else { "\\u{1b}" });
        let end = style.unwrap_or(0);
        shown.push_str(&after[..end]);
        rest = &after[end..];
    }
    shown + &lines(rest)
}

/// A name of the file system as a text that can be shown. Two names that differ have labels that differ,
/// those that are no text included: they name people.
pub fn label(name: &OsStr) -> String {
    let mut label = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        label.push_str(&escape(chunk.valid(), |c| c == '\\' || is_hidden(c)));
        for byte in chunk.invalid() {
            let _ = write!(label, "\\x{byte:02x}");
        }
    }
    label
}

/// A text that no spreadsheet computes, before it is quoted; see [`cell`].
pub fn inert(text: &str) -> String {
    const SIGNS: &str = "=+-@＝＋－＠﹦﹢﹣﹫−";
    let text = one_line(text);
    let is_formula = text.trim_start().starts_with(|c| SIGNS.contains(c));
    if is_formula { format!("'{text}") } else { text }
}

/// A text as a cell of a CSV file. A spreadsheet would take some for formulas and run them, also after blanks
/// and in other widths: such a text gets an apostrophe in front.
pub fn cell(text: &str) -> String {
    let text = inert(text);
    // Some spreadsheets part cells at semicolons.
    let needs_quotes = text.contains([',', ';', '"']) || text.trim().len() < text.len();
    if needs_quotes { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// JSON that means the same and can be shown: what is hidden in its strings is written as `\u202e`.
pub fn json(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for c in json.chars() {
        // Outside of strings there are lines and blanks alone; inside, the writer escaped those already.
        if c == '\n' || !is_hidden(c) {
            shown.push(c);
        } else {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                let _ = write!(shown, "\\u{unit:04x}");
            });
        }
    }
    shown
}

fn escape(text: &str, is_escaped: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if !is_escaped(c) => shown.push(c),
            '\\' => shown.push_str("\\\\"),
            c => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_all_scripts_are_shown() {
        for text in ["이영희 Kim", "Zoë Ñ", "नमस्ते", "ไทย", "שלום", "مرحبا", "e\u{301}", "𝛑 ≤ ½ — “x” 🙂"]
        {
            assert_eq!((one_line(text), text.chars().find(|c| is_hidden(*c))), (text.to_owned(), None));
        }
        assert_eq!(lines("a\n\tb"), "a\n\tb");
    }

    #[test]
    fn what_steers_turns_or_hides_is_shown_by_number() {
        for c in [
            '\u{1b}',
            '\u{7}',
            '\r',
            '\u{85}',
            '\u{9b}',
            '\u{ad}',
            '\u{200b}',
            '\u{200d}',
            '\u{202e}',
            '\u{2066}',
            '\u{2028}',
            '\u{feff}',
            '\u{fe0f}',
            '\u{e0041}',
            '\u{3164}',
            '\u{2800}',
            '\u{e000}',
        ] {
            let text = format!("a{c}b");
            let shown = format!("a\\u{{{:x}}}b", u32::from(c));
            assert_eq!(
                (one_line(&text), lines(&text), label(OsStr::new(&text))),
                (shown.clone(), shown.clone(), shown)
            );
        }
        assert_eq!(one_line("a\nb\tc"), "a\\u{a}b\\u{9}c");
    }

    #[test]
    fn colours_stay_and_nothing_else_that_steers() {
        let red = "\u{1b}[1;31mred\u{1b}[0m\n\tx";
        assert_eq!(styled(red), red);
        assert_eq!(
            styled("a\u{1b}[2J\u{1b}]0;t\u{7}\u{9b}1m\u{1b}"),
            "a\\u{1b}[2J\\u{1b}]0;t\\u{7}\\u{9b}1m\\u{1b}"
        );
    }

    #[test]
    fn labels_of_different_names_differ() {
        let mut names = vec!["kim".as_bytes(), b"kim\xe2\x80\x8b", b"kim\\u{200b}", b"kim\\\\u{200b}"];
        if cfg!(unix) {
            names.extend([&b"kim\xff"[..], b"kim\xfe", b"kim\\xff", b"kim\xe2\x80"]);
        }
        // SAFETY: on Unix all bytes are a name; elsewhere these are UTF-8.
        let label = |name: &&[u8]| label(unsafe { OsStr::from_encoded_bytes_unchecked(name) });
        let labels: std::collections::BTreeSet<String> = names.iter().map(label).collect();
        assert_eq!(labels.len(), names.len(), "{labels:?}");
        assert!(labels.contains("kim") && labels.contains("kim\\u{200b}"));
    }

    #[test]
    fn no_cell_is_run_or_leaves_its_column() {
        assert_eq!(cell("kim"), "kim");
        assert_eq!(cell("Kim, \"K\""), "\"Kim, \"\"K\"\"\"");
        for text in ["=1", "+1", "-1", "@x", "＝1", "−1"] {
            assert_eq!(cell(text), format!("'{text}"));
        }
        assert_eq!(cell(" =1"), "' =1");
        assert_eq!(cell("\u{a0}=1"), "'\u{a0}=1");
        assert_eq!(cell("\t=1\r\n"), "\\u{9}=1\\u{d}\\u{a}");
        assert_eq!(cell("a;=1"), "\"a;=1\"");
        assert_eq!((cell("0.500"), cell(" a")), ("0.500".into(), "\" a\"".into()));
    }

    #[test]
    fn json_means_the_same_and_steers_nothing() {
        assert_eq!(
            json("{\n  \"a\": \"\u{202e}\u{9b}\u{e0041}한\"\n}"),
            "{\n  \"a\": \"\\u202e\\u009b\\udb40\\udc41한\"\n}"
        );
    }
}
