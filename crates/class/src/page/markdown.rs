//! A page as Markdown, for issues, merge requests and step summaries.

use std::fmt::Write as _;

use super::Page;
use super::view::View;
use crate::gradebook::number;

pub(super) fn page(page: &Page<'_>) -> String {
    let Page { person, exercise, entry, .. } = page;
    let view = page.judgement.map(|judgement| View::of(judgement, page.source)).unwrap_or_default();
    let mark = &entry.mark;
    let mut text =
        format!("# {}: {}\n\n**{}**, ", plain(exercise), plain(&person.name), plain(&mark.verdict));
    // Writing to a text cannot fail.
    let _ = match mark.score {
        Some(score) => writeln!(text, "{} of {} points", number(score), number(mark.points)),
        None => writeln!(text, "no mark yet"),
    };
    if mark.late_days > 0 {
        let raw = mark.raw.map(number).unwrap_or_default();
        let _ = writeln!(text, "({raw} less {} for {} days late)", number(mark.penalty), mark.late_days);
    }
    if let Some(message) = entry.outcome.as_ref().and_then(|outcome| outcome.message.as_ref()) {
        let _ = write!(text, "\n{}", fenced(message));
    }
    if let Some(problem) = entry.handin.as_ref().and_then(|handin| handin.problem.as_ref()) {
        let _ = writeln!(text, "\nThe file could not be read: {}", plain(problem));
    }
    for finding in &view.findings {
        let _ = writeln!(text, "\n## {}\n\n{}", plain(&finding.kind), plain(&finding.message));
        if !finding.excerpt.is_empty() {
            let line = |(number, text, is_it): &(usize, String, bool)| {
                format!("{} {number:>5} | {text}\n", if *is_it { '>' } else { ' ' })
            };
            let _ = write!(text, "\n{}", fenced(&finding.excerpt.iter().map(line).collect::<String>()));
        }
    }
    if !view.requirements.is_empty() {
        text += "\n## Requirements\n\n| | yours | needed | reference | |\n|---|---|---|---|---|\n";
        for row in &view.requirements {
            let met = if row.is_met { "met" } else { "not met" };
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {met} |",
                plain(&row.name),
                row.yours,
                row.needed,
                row.reference
            );
        }
    }
    if let Some(timing) = &view.timing {
        let _ = writeln!(
            text,
            "\nOn the GPU: {}, {} needed, reference {}",
            timing.speedup, timing.needed, timing.reference
        );
    }
    if !view.cases.is_empty() {
        text += "\n## Sizes\n\n| size | verdict |\n|---|---|\n";
        for (size, verdict) in &view.cases {
            let _ = writeln!(text, "| {} | {} |", plain(size), plain(verdict));
        }
    }
    if let Some(handin) = &entry.handin {
        let _ = writeln!(text, "\nHanded in: {}", plain(&handin.source));
    }
    text
}

/// A text that means nothing to Markdown.
pub(super) fn plain(text: &str) -> String {
    text.chars().fold(String::new(), |mut text, c| {
        if matches!(
            c,
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '#' | '|' | '!' | '~' | '&' | '@'
        ) {
            text.push('\\');
        }
        text.push(if c == '\n' { ' ' } else { c });
        text
    })
}

/// A block of code with a fence that is longer than any in it.
fn fenced(code: &str) -> String {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{}\n{fence}\n", code.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_students_write_stays_text() {
        assert_eq!(plain("a|b *c* <script> @all"), "a\\|b \\*c\\* \\<script\\> \\@all");
        assert_eq!(fenced("a\n```\nb"), "````text\na\n```\nb\n````\n");
    }
}
