//! Where a predicted time goes, as bars of letters.

use anstream::println;
use clock::{Cause, Prediction};
use owo_colors::{AnsiColors, OwoColorize};

use super::excerpt::{self, Source};
use super::text::{paragraph, printable};
use crate::message::forecast;
use crate::report::Explained;
use crate::submission::Submission;
use crate::workspace::Workspace;

/// Columns of the longer of the two bars.
const COLUMNS: f64 = 60.0;
/// Columns of a line's bar, if the line took all the time.
const LINE_COLUMNS: f64 = 40.0;
/// Lines that are shown.
const LINES: usize = 8;
/// Columns of the source's text.
const TEXT: usize = 56;

/// The letter and colour of a cause.
fn mark(cause: Cause) -> (char, AnsiColors) {
    match cause {
        Cause::Issue => ('i', AnsiColors::Green),
        Cause::Unit => ('u', AnsiColors::Cyan),
        Cause::Dependency => ('d', AnsiColors::Yellow),
        Cause::LoadStore => ('s', AnsiColors::Red),
        Cause::Latency => ('l', AnsiColors::Magenta),
        Cause::L2 => ('2', AnsiColors::Blue),
        Cause::Dram => ('m', AnsiColors::BrightBlue),
        Cause::Barrier => ('b', AnsiColors::BrightYellow),
        Cause::Start => ('j', AnsiColors::BrightBlack),
        Cause::Idle => ('.', AnsiColors::BrightBlack),
    }
}

pub(in crate::report) fn explained(explained: &Explained<'_>) {
    let exercise = &explained.entry.exercise;
    println!("{}", format!("{:02} {}: {}", exercise.number, exercise.slug, exercise.title).bold());
    println!("{}\n", paragraph(&format!("  {}", forecast::why_heading(explained)), "  "));
    let both = [Some(explained.yours), explained.reference.as_ref()];
    let longest = both.iter().flatten().map(|prediction| prediction.milliseconds).fold(0.0, f64::max);
    for (who, prediction) in ["yours", "reference"].into_iter().zip(both) {
        let Some(prediction) = prediction else { continue };
        let columns = COLUMNS * prediction.milliseconds / longest;
        println!("  {who:<10}{:>9.4} ms  {}", prediction.milliseconds, bar(&prediction.by_cause(), columns));
    }
    println!();
    legend(explained);
    let source = Workspace::shown(&explained.submission.path);
    println!("{}", format!("  {source}, by line").dimmed());
    lines(explained.yours, &explained.submission.text);
    if let Some(reference) = &explained.reference {
        println!("{}", "  the reference, by line".dimmed());
        lines(reference, exercise.solution);
    }
    let remarks = &explained.yours.remarks;
    for remark in remarks.iter().take(LINES) {
        println!("{}", paragraph(&format!("  - {}", forecast::remark(remark)), "    "));
    }
    if !remarks.is_empty() {
        println!();
    }
}

/// A letter for each column, at least one for what has a share at all.
fn bar(shares: &[(Cause, f64)], columns: f64) -> String {
    let mut text = String::new();
    let (mut done, mut drawn) = (0.0, 0);
    for (cause, share) in shares {
        done += share;
        let until = (done * columns).round() as usize;
        let (letter, color) = mark(*cause);
        let piece: String = std::iter::repeat_n(letter, until.saturating_sub(drawn)).collect();
        text.push_str(&piece.color(color).to_string());
        drawn = drawn.max(until);
    }
    text
}

fn legend(explained: &Explained<'_>) {
    let shown = |cause: &Cause| {
        let has = |prediction: &Prediction| {
            prediction.by_cause().iter().any(|(other, share)| other == cause && *share > 0.01)
        };
        has(explained.yours) || explained.reference.as_ref().is_some_and(has)
    };
    for cause in Cause::ALL.iter().filter(|cause| shown(cause)) {
        let (letter, color) = mark(*cause);
        println!("  {} {}", letter.color(color), forecast::cause(*cause));
    }
    println!();
}

fn lines(prediction: &Prediction, text: &str) {
    let source: Vec<&str> = text.lines().collect();
    for (line, shares) in prediction.by_line().into_iter().take(LINES) {
        let whole: f64 = shares.iter().map(|(_, share)| share).sum();
        let relative: Vec<(Cause, f64)> =
            shares.iter().map(|(cause, share)| (*cause, share / whole)).collect();
        let code = line.and_then(|line| source.get(line as usize - 1)).map_or("", |code| code.trim());
        let code: String = printable(code).chars().take(TEXT).collect();
        let name = line.map_or_else(|| "   -".to_owned(), |line| format!("{line:>4}"));
        println!("  {name} {:>4.0} %  {code}", 100.0 * whole);
        let columns = (whole * LINE_COLUMNS).max(1.0);
        println!("               {}", bar(&relative, columns));
    }
    println!();
}

/// Says why there is nothing to show.
pub(crate) fn not_predicted(submission: &Submission, why: &str) {
    let path = Workspace::shown(&submission.path);
    let source = Source { path: &path, text: &submission.text };
    println!("{}", excerpt::message(&forecast::not_predicted(why), None, source));
}
