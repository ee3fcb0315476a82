//! Verdicts as the book shows them.

use anyhow::Result;

use crate::checker::Checker;
use crate::experiment::source;

/// What the checker says of exercise 05's stub.
pub(crate) fn sample(checker: &Checker) -> Result<String> {
    let text = checker.judge_for_people("05", &source("exercises", "05")?)?;
    Ok(format!("```text\n$ cargo run -p checker -- 05\n{}\n```\n", text.trim_end()))
}
