//! Verdicts as the book shows them.

use anyhow::{Context, Result, bail};

use crate::checker::Checker;

/// Columns of the terminal that the book shows.
const COLUMNS: usize = 100;

/// What the checker says of exercise 05's stub.
pub(crate) fn sample(checker: &Checker) -> Result<String> {
    judged(checker, include_str!("../../../exercises/05_transpose_coalescing/stub.cu"))
}

/// What it says of a kernel with a race: 05 without its barrier.
pub(crate) fn race(checker: &Checker) -> Result<String> {
    judged(checker, include_str!("../../../exercises/05_transpose_coalescing/mistakes/no_barrier.cu"))
}

/// What `look` shows of the output's tile for the stub of exercise 05: who writes its first rows.
pub(crate) fn close_up(checker: &Checker) -> Result<String> {
    const ROWS: usize = 8;
    let text = checker.look("05", "exercises/05_transpose_coalescing/stub.cu")?;
    let (_, close_up) = text.split_once("Which warp does what").context("`look` shows no warps")?;
    let is_cell_row = |line: &str| line.contains(" |");
    let (rows, heading): (Vec<&str>, Vec<&str>) =
        close_up.trim_matches('\n').lines().partition(|line| is_cell_row(line));
    if rows.len() <= ROWS {
        bail!("`look` shows {} rows, which need not be cut", rows.len());
    }
    let lines: Vec<&str> = heading.into_iter().chain(rows.into_iter().take(ROWS)).collect();
    Ok(format!("```text\n$ cargo run -p checker -- look 05\n...\n{}\n   ...\n```\n", lines.join("\n")))
}

fn judged(checker: &Checker, kernel: &str) -> Result<String> {
    let text = checker.judge_for_people("05", "05_transpose_coalescing", kernel)?;
    let lines: Vec<String> = text.trim_end().lines().map(wrapped).collect();
    Ok(format!("```text\n$ cargo run -p checker -- 05 --engine sim\n{}\n```\n", lines.join("\n")))
}

/// Prose broken as a terminal would, but between words; source excerpts stay whole.
fn wrapped(line: &str) -> String {
    if line.contains(" | ") {
        return line.to_owned();
    }
    let mut text = String::new();
    let mut column = 0;
    for (i, word) in line.split(' ').enumerate() {
        let width = word.chars().count();
        if i > 0 && column + 1 + width > COLUMNS {
            text.push('\n');
            column = 0;
        } else if i > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += width;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_wrapped_and_excerpts_are_not() {
        let prose = "word ".repeat(50);
        assert!(wrapped(prose.trim_end()).lines().all(|line| line.chars().count() <= COLUMNS));
        assert_eq!(wrapped("  two  spaces"), "  two  spaces");
        let excerpt = format!("14 | {}", "x ".repeat(100));
        assert_eq!(wrapped(&excerpt), excerpt);
    }
}
