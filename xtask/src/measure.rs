//! `xtask measure`: every exercise's stub and reference solution, timed on this machine's GPU, as a table and as JSON.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

/// Where files of measurements lie.
const FOLDER: &str = "docs/measurements";

/// Runs `checker NN --engine gpu --json` on the stub and the solution of each exercise, and writes
/// `DATE-CARD-exercises.md` and `.json` to `out`, or else beside the other measurements. Existing files stay.
///
/// # Errors
/// If there is no GPU, if the checker cannot judge, or if a file of that name is there already.
pub(crate) fn measure(root: &Path, checker: &Path, out: Option<PathBuf>, date: &str) -> Result<()> {
    let mut rows = Vec::new();
    for folder in exercises(root)? {
        let stub = root.join("exercises").join(&folder).join("stub.cu");
        let solution = root.join("solutions").join(&folder).join("kernel.cu");
        eprintln!("{folder}");
        let [stub, solution] =
            [judge(root, checker, &folder, &stub)?, judge(root, checker, &folder, &solution)?];
        rows.push(json!({"exercise": folder, "stub": stub, "solution": solution}));
    }
    let machine =
        rows.iter().find_map(|row| row["solution"]["machine"].as_str()).context("no machine was named")?;
    let card = machine.split(" (").next().unwrap_or(machine).replace(' ', "-").to_lowercase();
    let out = out.unwrap_or_else(|| root.join(FOLDER));
    let stem = out.join(format!("{date}-{card}-exercises"));
    let (table, data) = (stem.with_extension("md"), stem.with_extension("json"));
    for file in [&table, &data] {
        ensure!(
            !file.exists(),
            "{} is there already: a file of measurements is never changed",
            file.display()
        );
    }
    std::fs::write(&table, report(date, machine, root, &rows))?;
    std::fs::write(
        &data,
        serde_json::to_string_pretty(&json!({"date": date, "machine": machine, "rows": rows}))?,
    )?;
    println!("{}\n{}", table.display(), data.display());
    Ok(())
}

/// The exercises' folders, in order.
fn exercises(root: &Path) -> Result<Vec<String>> {
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(root.join("exercises"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if root.join("exercises").join(&name).join("stub.cu").is_file() {
            folders.push(name);
        }
    }
    folders.sort();
    Ok(folders)
}

fn judge(root: &Path, checker: &Path, folder: &str, file: &Path) -> Result<Value> {
    let number = folder.split('_').next().unwrap_or(folder);
    let output = Command::new(checker)
        .current_dir(root)
        .args([number, "--engine", "gpu", "--json", "--file"])
        .arg(file)
        .output()
        .with_context(|| format!("{} does not start", checker.display()))?;
    if output.status.code() == Some(3) {
        bail!("{folder}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout)
        .with_context(|| format!("{folder}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

fn report(date: &str, machine: &str, root: &Path, rows: &[Value]) -> String {
    let mut text =
        format!("# All exercises, {date}\n\n| | |\n|---|---|\n| date | {date} |\n| card | {machine} |\n");
    for (key, value) in nvidia_smi() {
        let _ = writeln!(text, "| {key} | {value} |");
    }
    let commit = Command::new("git").current_dir(root).args(["rev-parse", "--short", "HEAD"]).output();
    if let Ok(commit) = commit.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned())
        && !commit.is_empty()
    {
        let _ = writeln!(text, "| commit | {commit} |");
    }
    let _ = writeln!(text, "| command | `cargo run --release -p xtask -- measure` |\n");
    text.push_str(
        "Times in milliseconds, medians over rounds in which baseline, reference and stub run in random order, each on fresh\n\
         inputs and a flushed cache (the book's chapter *How we time*). p is 0 at the baseline and 1 at the reference.\n\n\
         | exercise | baseline | stub | reference | speed-up needed | of the stub | of the reference | p of the reference | stub | reference |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let (stub, solution) = (&row["stub"], &row["solution"]);
        let (from, own) = (&solution["timing"], &stub["timing"]);
        let number = |value: &Value, digits: usize| {
            value.as_f64().map_or_else(|| "-".to_owned(), |v| format!("{v:.digits$}"))
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            row["exercise"].as_str().unwrap_or("?"),
            number(&from["milliseconds"]["baseline"], 4),
            number(&own["milliseconds"]["yours"], 4),
            number(&from["milliseconds"]["yours"], 4),
            number(&from["needed"], 2),
            number(&own["speedup"], 2),
            number(&from["speedup"], 2),
            number(&from["position"], 2),
            stub["verdict"].as_str().unwrap_or("?"),
            solution["verdict"].as_str().unwrap_or("?"),
        );
    }
    text.push_str("\nA stub without a time gives wrong results, and is not timed.\n");
    text
}

/// Driver and clocks, if the driver's own tool is there to tell.
fn nvidia_smi() -> Vec<(String, String)> {
    const ASKED: [(&str, &str); 5] = [
        ("driver", "driver_version"),
        ("memory", "memory.total"),
        ("power limit", "power.limit"),
        ("SM clock after the run", "clocks.sm"),
        ("memory clock after the run", "clocks.mem"),
    ];
    let query = format!("--query-gpu={}", ASKED.map(|(_, field)| field).join(","));
    let output = Command::new("nvidia-smi").args([&query, "--format=csv,noheader", "--id=0"]).output();
    let line = output.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned()).unwrap_or_default();
    ASKED
        .iter()
        .zip(line.split(", "))
        .map(|((key, _), value)| ((*key).to_owned(), value.to_owned()))
        .collect()
}
