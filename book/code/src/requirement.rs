//! What the checker asks of each exercise, beside what stub and reference have.

use anyhow::{Context, Result};
use serde_json::Value;

use crate::checker::Checker;
use crate::experiment::thousands;

/// The table of requirements of exercise `number` in the folder `name`; `None` if only right values are asked for.
pub(crate) fn table(checker: &Checker, number: u32, name: &str) -> Result<Option<String>> {
    let verdict = checker.judge(&format!("{number:02}"), &format!("exercises/{name}/stub.cu"))?;
    let requirements = verdict["requirements"].as_array().context("a verdict has requirements")?;
    if requirements.is_empty() {
        return Ok(None);
    }
    let mut text =
        "| what is counted | the stub | needed | the reference |\n|---|---:|---:|---:|\n".to_owned();
    for requirement in requirements {
        text.push_str(&format!(
            "| {} | {} | {} | {} |\n",
            requirement["name"].as_str().context("a requirement has a name")?,
            value(&requirement["yours"]),
            needed(&requirement["needed"])?,
            value(&requirement["reference"]),
        ));
    }
    text.push_str(&format!(
        "\n<details class=\"made\">\n<summary>How these numbers were made</summary>\n\n```console\n\
         $ cargo run -p checker -- {number:02} --file exercises/{name}/stub.cu --engine sim\n```\n\n</details>\n"
    ));
    Ok(Some(text))
}

/// A value as the checker prints it; a dash where wrong values or faults came first.
fn value(json: &Value) -> String {
    match json.as_f64() {
        None => "-".to_owned(),
        Some(value) if value >= 1000.0 => thousands(value.round() as u64),
        Some(value) if value >= 100.0 => format!("{value:.0}"),
        Some(value) if value >= 10.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.2}"),
    }
}

fn needed(json: &Value) -> Result<String> {
    let bound =
        json.as_object().and_then(|bound| bound.iter().next()).context("a requirement has a bound")?;
    Ok(format!("{} {}", bound.0.replace('_', " "), value(bound.1)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_have_as_many_digits_as_they_carry() {
        assert_eq!(value(&json!(null)), "-");
        assert_eq!(value(&json!(1.0)), "1.00");
        assert_eq!(value(&json!(26.5)), "26.5");
        assert_eq!(value(&json!(341.33)), "341");
        assert_eq!(value(&json!(1365.3)), "1,365");
        assert_eq!(needed(&json!({"at_least": 1.5})).unwrap(), "at least 1.50");
        assert!(needed(&json!(null)).is_err());
    }
}
