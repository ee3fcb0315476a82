//! Source excerpts as rustc draws them.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use cuda::nvrtc::Diagnostic;

use super::text::{printable_lines, width, wrap};
use crate::compile;
use crate::finding::{Finding, Site};

/// A source that messages point into.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    /// As people know it.
    pub(super) path: &'a str,
    pub(super) text: &'a str,
}

/// A fault with its line marked, both lines where two accesses conflict, and the problem size that it was found at where
/// there are several.
pub(super) fn finding(finding: &Finding, size: Option<&str>, source: Source<'_>) -> String {
    let sites = [finding.site.as_ref(), finding.other.as_ref()];
    let mut marks: Vec<Mark> = Vec::new();
    for (site, is_primary) in sites.into_iter().zip([true, false]) {
        if let Some(mark) = site.and_then(|site| mark(site, is_primary, source.text)) {
            match marks.iter_mut().find(|other| other.span == mark.span) {
                Some(same) if same.label == mark.label => {
                    same.label = format!("{}, by two threads", mark.label)
                }
                Some(same) => same.label = format!("{} and {}", same.label, mark.label),
                None => marks.push(mark),
            }
        }
    }
    let times = if finding.count > 1 { format!(" ({} times)", finding.count) } else { String::new() };
    let level = if finding.is_error { Level::ERROR } else { Level::WARNING };
    let notes: Vec<String> = size.map(|size| format!("at {size}")).into_iter().collect();
    draw(&level, Some(finding.kind), &format!("{}{times}", finding.message), source, marks, &notes)
}

/// A compiler's message at its line.
pub(super) fn diagnostic(diagnostic: &Diagnostic, source: Source<'_>) -> String {
    let level = if compile::is_error(diagnostic) { Level::ERROR } else { Level::WARNING };
    let span = diagnostic.line.and_then(|line| line_span(source.text, line)).map(|line| {
        diagnostic.column.and_then(|column| token_span(source.text, &line, column)).unwrap_or(line)
    });
    let marks = span.map(|span| Mark { span, label: String::new(), is_primary: true });
    draw(&level, None, &diagnostic.message, source, marks.into_iter().collect(), &diagnostic.notes)
}

/// A message at a line, or without one.
pub(super) fn message(text: &str, line: Option<u32>, source: Source<'_>) -> String {
    let span = line.and_then(|line| line_span(source.text, line));
    let marks = span.map(|span| Mark { span, label: String::new(), is_primary: true });
    draw(&Level::ERROR, None, text, source, marks.into_iter().collect(), &[])
}

/// A marked piece of the source, in bytes.
struct Mark {
    span: Range<usize>,
    label: String,
    is_primary: bool,
}

fn mark(site: &Site, is_primary: bool, text: &str) -> Option<Mark> {
    let span = line_span(text, site.line.as_ref()?.number)?;
    Some(Mark { span, label: site.label.to_owned(), is_primary })
}

/// One message: `error[kind]: title`, the marked lines, and the notes.
fn draw(
    level: &Level<'_>,
    kind: Option<&str>,
    title: &str,
    source: Source<'_>,
    marks: Vec<Mark>,
    notes: &[String],
) -> String {
    // What follows `error[kind]: ` hangs behind it.
    let head = "warning: ".len() + kind.map_or(0, |kind| kind.len() + 2);
    let title = set(title, head);
    let notes: Vec<String> = notes.iter().map(|note| set(note, "     = note: ".len())).collect();
    let title = level.clone().primary_title(title);
    let title = match kind {
        Some(kind) => title.id(kind),
        None => title,
    };
    let mut group = Group::with_title(title);
    if !marks.is_empty() {
        let annotations = marks.into_iter().map(|mark| {
            let kind = if mark.is_primary { AnnotationKind::Primary } else { AnnotationKind::Context };
            let annotation = kind.span(mark.span);
            if mark.label.is_empty() { annotation } else { annotation.label(mark.label) }
        });
        group = group.element(Snippet::source(source.text).path(source.path).annotations(annotations));
    }
    for note in &notes {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    Renderer::styled().render(&[group])
}

/// A message in lines that leave room for what stands before them. It may quote the kernel, which may hold anything.
fn set(text: &str, head: usize) -> String {
    let room = width().saturating_sub(head).max(40);
    wrap(&printable_lines(text), "", room)
}

/// The bytes of line `number` without the blanks around its text; `None` if there is no such line.
fn line_span(text: &str, number: u32) -> Option<Range<usize>> {
    let index = usize::try_from(number).ok()?.checked_sub(1)?;
    let line = text.split_inclusive('\n').nth(index)?;
    let start = line.as_ptr() as usize - text.as_ptr() as usize;
    let indent = line.len() - line.trim_start().len();
    let end = line.trim_end().len();
    Some(if indent < end { start + indent..start + end } else { start..start })
}

/// The word at `column` (in characters, from 1) of a line whose text is at `line`, else the character there.
fn token_span(text: &str, line: &Range<usize>, column: u32) -> Option<Range<usize>> {
    let line_start = text[..line.start].rfind('\n').map_or(0, |at| at + 1);
    let whole = &text[line_start..line.end];
    let (start, first) = whole.char_indices().nth(usize::try_from(column).ok()?.checked_sub(1)?)?;
    let word =
        whole[start..].find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(whole.len() - start);
    let start = line_start + start;
    Some(start..start + word.max(first.len_utf8()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "first\n  s[tx] = 가[1];\n\nlast";

    #[test]
    fn lines_are_found_without_their_blanks() {
        let line = |number| line_span(TEXT, number).map(|span| &TEXT[span]);
        assert_eq!(line(1), Some("first"));
        assert_eq!(line(2), Some("s[tx] = 가[1];"));
        assert_eq!(line(3), Some(""));
        assert_eq!(line(4), Some("last"));
        assert_eq!((line(0), line(5), line(u32::MAX)), (None, None, None));
    }

    #[test]
    fn a_column_marks_the_word_there() {
        let line = line_span(TEXT, 2).expect("a line");
        let token = |column| token_span(TEXT, &line, column).map(|span| &TEXT[span]);
        assert_eq!(
            (token(5), token(4), token(11), token(12)),
            (Some("tx"), Some("["), Some("가"), Some("["))
        );
        assert_eq!((token(0), token(99)), (None, None));
    }
}
