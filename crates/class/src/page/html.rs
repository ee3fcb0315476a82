//! A page as HTML. `maud` escapes whatever is put into it.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::Page;
use super::view::{Finding, View};
use crate::gradebook::number;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}\
    table{border-collapse:collapse}td,th{border:1px solid #8888;padding:.2rem .6rem;text-align:left}\
    pre{overflow-x:auto;border:1px solid #8888;padding:.5rem}.here{font-weight:bold;background:#f804}\
    .no{color:#c33}.yes{color:#383}svg{max-width:100%;height:auto}";

/// What the page may load: nothing but its own style.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// A whole document.
pub(super) fn document(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                meta name="color-scheme" content="light dark";
                // Nothing on the page may run or load anything, whoever wrote it.
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { (body) }
        }
    };
    page.into_string()
}

pub(super) fn page(page: &Page<'_>) -> String {
    let Page { person, exercise, entry, .. } = page;
    let view = page.judgement.map(|judgement| View::of(judgement, page.source)).unwrap_or_default();
    let mark = &entry.mark;
    let body = html! {
        h1 { (exercise) ": " (person.name) }
        p {
            strong { (mark.verdict) } ", "
            @match mark.score {
                Some(score) => { (number(score)) " of " (number(mark.points)) " points" },
                None => "no mark yet",
            }
            @if mark.late_days > 0 {
                " (" (mark.raw.map(number).unwrap_or_default()) " less " (number(mark.penalty)) " for "
                (mark.late_days) " days late)"
            }
        }
        @if let Some(message) = entry.outcome.as_ref().and_then(|outcome| outcome.message.as_ref()) {
            pre { (message) }
        }
        @if let Some(problem) = entry.handin.as_ref().and_then(|handin| handin.problem.as_ref()) {
            p { "The file could not be read: " (problem) }
        }
        @for finding in &view.findings { (shown(finding)) }
        @if !view.requirements.is_empty() {
            h2 { "Requirements" }
            table {
                tr { th { "" } th { "yours" } th { "needed" } th { "reference" } th { "" } }
                @for row in &view.requirements {
                    tr {
                        td { (row.name) } td { (row.yours) } td { (row.needed) } td { (row.reference) }
                        @if row.is_met { td class="yes" { "met" } } @else { td class="no" { "not met" } }
                    }
                }
            }
        }
        @if let Some(timing) = &view.timing {
            p {
                "On the GPU: " (timing.speedup) ", " (timing.needed) " needed, reference " (timing.reference)
            }
        }
        @if !view.cases.is_empty() {
            h2 { "Sizes" }
            table { @for (size, verdict) in &view.cases { tr { td { (size) } td { (verdict) } } } }
        }
        @if let Some(picture) = page.picture {
            h2 { "What the costliest requests touch" }
            (PreEscaped(picture))
        }
        @if let Some(handin) = &entry.handin { p { small { "Handed in: " (handin.source) } } }
    };
    document(&format!("{exercise}: {}", person.name), &body)
}

fn shown(finding: &Finding) -> Markup {
    html! {
        h2 { (finding.kind) }
        p { (finding.message) }
        @if !finding.excerpt.is_empty() {
            pre {
                @for (number, text, is_it) in &finding.excerpt {
                    @if *is_it { span class="here" { (format!("{number:>5} | {text}\n")) } }
                    @else { (format!("{number:>5} | {text}\n")) }
                }
            }
        }
    }
}
