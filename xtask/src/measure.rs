//! `xtask measure`: every file of every exercise, timed on this machine's GPU, as a table and as JSON.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use trust::program;

/// Where files of measurements lie.
pub(crate) const FOLDER: &str = "docs/measurements";

/// What to measure, and with what.
pub(crate) struct Order<'a> {
    /// The checkout.
    pub(crate) root: &'a Path,
    /// The checker to ask.
    pub(crate) checker: &'a Path,
    /// Where to write instead of beside the other measurements.
    pub(crate) out: Option<PathBuf>,
    /// Today.
    pub(crate) date: &'a str,
    /// How often to judge each file.
    pub(crate) repeat: u16,
    /// Numbers of the exercises; empty for all.
    pub(crate) only: &'a [String],
}

/// Runs `checker verify NN --engine gpu --beside --json` for each exercise, and writes `DATE-CARD-exercises.md` and
/// `.json` after each of them: what a time limit cuts off is the rest.
///
/// # Errors
/// If there is no GPU, if the checker cannot judge, or if a file of that name is there already.
pub(crate) fn measure(order: &Order<'_>) -> Result<()> {
    let mut exercises: Vec<Value> = Vec::new();
    let mut files: Option<Files> = None;
    for folder in folders(order)? {
        eprintln!("{folder}");
        let verified = verify(order, &folder, "gpu")?;
        let machine = verified["machine"].as_str().context("no machine was named")?.to_owned();
        let files = match &files {
            Some(files) => files,
            None => files.insert(Files::new(order, machine)?),
        };
        exercises.push(json!({"exercise": folder, "files": verified["files"]}));
        files.write(order, &exercises)?;
    }
    let files = files.context("there is no exercise of that number")?;
    println!("{}\n{}", files.table.display(), files.data.display());
    Ok(())
}

/// The exercises' folders, in order.
pub(crate) fn folders(order: &Order<'_>) -> Result<Vec<String>> {
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(order.root.join("exercises"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let is_wanted = order.only.is_empty() || order.only.iter().any(|only| *only == number(&name));
        if is_wanted && order.root.join("exercises").join(&name).join("stub.cu").is_file() {
            folders.push(name);
        }
    }
    folders.sort();
    Ok(folders)
}

fn number(folder: &str) -> &str {
    folder.split('_').next().unwrap_or(folder)
}

/// What `checker verify` says of an exercise.
pub(crate) fn verify(order: &Order<'_>, folder: &str, engine: &str) -> Result<Value> {
    let output = Command::new(order.checker)
        .current_dir(order.root)
        .args(["verify", number(folder), "--engine", engine, "--beside", "--json", "--repeat"])
        .arg(order.repeat.to_string())
        .stderr(std::process::Stdio::inherit())
        .output()
        .with_context(|| format!("{} does not start", order.checker.display()))?;
    serde_json::from_slice(&output.stdout).with_context(|| format!("{folder} was not judged"))
}

/// The two files of a measurement.
struct Files {
    machine: String,
    table: PathBuf,
    data: PathBuf,
}

impl Files {
    fn new(order: &Order<'_>, machine: String) -> Result<Files> {
        let card = machine.split(" (").next().unwrap_or(&machine).replace(' ', "-").to_lowercase();
        let out = order.out.clone().unwrap_or_else(|| order.root.join(FOLDER));
        let stem = out.join(format!("{}-{card}-exercises", order.date));
        let files = Files { machine, table: stem.with_extension("md"), data: stem.with_extension("json") };
        for file in [&files.table, &files.data] {
            ensure!(
                !file.exists(),
                "{} is there already: a file of measurements is never changed",
                file.display()
            );
        }
        Ok(files)
    }

    fn write(&self, order: &Order<'_>, exercises: &[Value]) -> Result<()> {
        let all = json!({"date": order.date, "machine": self.machine, "exercises": exercises});
        std::fs::write(&self.data, serde_json::to_string_pretty(&all)?)?;
        std::fs::write(&self.table, report(order, &self.machine, exercises))?;
        Ok(())
    }
}

fn report(order: &Order<'_>, machine: &str, exercises: &[Value]) -> String {
    let date = order.date;
    let mut text =
        format!("# All exercises, {date}\n\n| | |\n|---|---|\n| date | {date} |\n| card | {machine} |\n");
    for (key, value) in nvidia_smi() {
        let _ = writeln!(text, "| {key} | {value} |");
    }
    let commit = program::command("git")
        .and_then(|mut git| git.current_dir(order.root).args(["rev-parse", "--short", "HEAD"]).output());
    if let Ok(commit) = commit.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned())
        && !commit.is_empty()
    {
        let _ = writeln!(text, "| commit | {commit} |");
    }
    let only: String = order.only.iter().map(|number| format!("{number} ")).collect();
    let repeat = order.repeat;
    let _ =
        writeln!(text, "| command | `cargo run --release -p xtask -- measure {only}--repeat {repeat}` |\n");
    text.push_str(
        "Medians over rounds in which baseline, reference, kernel and a library run in random order, each on fresh inputs and a\n\
         flushed cache (the book's chapter *How we time*). p is 0 at the baseline and 1 at the reference. Rates count the\n\
         bytes and operations that the task needs at least: every input read once and every output written once; 2 M N K\n\
         for a matrix product. The library is cuBLAS in single precision without tensor cores, for 13 cuBLAS in TF32\n\
         (`CUBLAS_TF32_TENSOR_OP_MATH`), or the driver's own copy.\n\n\
         ## Baseline, stub and reference\n\n\
         | exercise | size | baseline, ms | stub, ms | reference, ms | reference | library, ms | library | needed | of the stub | of the reference | p of the reference | stub | reference |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    exercises.iter().for_each(|exercise| text.push_str(&summary(exercise)));
    text.push_str(
        "\nA stub without a time gives wrong results, and is not timed. 00 is judged on correctness alone. 03 has to stay within 1.10\n\
         times the time of its baseline; its p says nothing.\n\n\
         ## Every file\n\n\
         | exercise | file | expected | got | same verdict | ms | rate | speed-up | p, least to greatest |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for exercise in exercises {
        for file in exercise["files"].as_array().into_iter().flatten() {
            text.push_str(&row(exercise, file));
        }
    }
    text
}

fn file<'a>(exercise: &'a Value, name: &str) -> &'a Value {
    let files = exercise["files"].as_array().map(Vec::as_slice).unwrap_or_default();
    files.iter().find(|file| file["file"] == name).unwrap_or(&Value::Null)
}

fn number_of(value: &Value, digits: usize) -> String {
    value.as_f64().map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
}

/// TFLOP/s where operations are what counts, else GB/s.
fn rate(rates: &Value) -> String {
    let (bytes, flops) = (rates["bytes_per_second"].as_f64(), rates["flops_per_second"].as_f64());
    match (bytes, flops) {
        // 10 FLOP per byte is near the ridge of every GPU of the last years.
        (bytes, Some(flops)) if bytes.is_none_or(|bytes| flops > 10.0 * bytes) => {
            format!("{:.1} TFLOP/s", flops / 1e12)
        }
        (Some(bytes), _) => format!("{:.0} GB/s", bytes / 1e9),
        _ => "-".to_owned(),
    }
}

fn spread(positions: &Value) -> String {
    let positions: Vec<f64> = positions.as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    let (least, greatest) =
        (positions.iter().copied().min_by(f64::total_cmp), positions.iter().copied().max_by(f64::total_cmp));
    match (least, greatest) {
        (Some(least), Some(greatest)) if positions.len() > 1 => format!("{least:.3} to {greatest:.3}"),
        (Some(only), _) => format!("{only:.3}"),
        _ => "-".to_owned(),
    }
}

fn summary(exercise: &Value) -> String {
    let (stub, solution) = (file(exercise, "stub.cu"), file(exercise, "solution"));
    let (own, timing) = (&stub["timing"], &solution["timing"]);
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let cells = [
        text(&exercise["exercise"]),
        text(&solution["size"]),
        number_of(&timing["milliseconds"]["baseline"], 4),
        number_of(&own["milliseconds"]["yours"], 4),
        number_of(&timing["milliseconds"]["yours"], 4),
        rate(&timing["rates"]["yours"]),
        number_of(&timing["beside"]["milliseconds"], 4),
        rate(&timing["beside"]),
        number_of(&timing["needed"], 2),
        number_of(&own["speedup"], 2),
        number_of(&timing["speedup"], 2),
        spread(&solution["positions"]),
        stability(stub),
        stability(solution),
    ];
    format!("| {} |\n", cells.join(" | "))
}

/// The verdict, and how often it was the same.
fn stability(file: &Value) -> String {
    let verdict = file["verdict"].as_str().unwrap_or("-");
    match (file["same_verdict"].as_u64(), file["repeats"].as_u64()) {
        (Some(same), Some(repeats)) if repeats > 1 => format!("{verdict}, {same} of {repeats}"),
        _ => verdict.to_owned(),
    }
}

fn row(exercise: &Value, file: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or("-").replace('|', "\\|").replace('\n', " ");
    let timing = &file["timing"];
    let cells = [
        text(&exercise["exercise"]),
        text(&file["file"]),
        text(&file["expected"]),
        text(&file["got"]),
        format!("{} of {}", file["same_verdict"], file["repeats"]),
        number_of(&timing["milliseconds"]["yours"], 4),
        rate(&timing["rates"]["yours"]),
        number_of(&timing["speedup"], 2),
        spread(&file["positions"]),
    ];
    format!("| {} |\n", cells.join(" | "))
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
    let output = program::command("nvidia-smi")
        .and_then(|mut tool| tool.args([&query, "--format=csv,noheader", "--id=0"]).output());
    let line = output.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned()).unwrap_or_default();
    ASKED
        .iter()
        .zip(line.split(", "))
        .map(|((key, _), value)| ((*key).to_owned(), value.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_what_there_is_and_dashes_for_the_rest() {
        let timing = json!({
            "milliseconds": {"baseline": 1.05, "reference": 0.326, "yours": 0.326}, "needed": 2.55, "speedup": 3.22,
            "rates": {"yours": {"bytes_per_second": 1.647e12, "flops_per_second": null}},
            "beside": {"name": "device copy", "milliseconds": 0.13, "bytes_per_second": 4.1e12, "flops_per_second": null},
        });
        let exercise = json!({"exercise": "05_transpose", "files": [
            {"file": "stub.cu", "verdict": "wrong_values", "same_verdict": 20, "repeats": 20, "size": "rows 8"},
            {"file": "solution", "verdict": "passed", "same_verdict": 19, "repeats": 20, "size": "rows 8",
             "timing": timing, "positions": [1.01, 0.99, 1.0]},
        ]});
        assert_eq!(
            summary(&exercise),
            "| 05_transpose | rows 8 | 1.0500 | - | 0.3260 | 1647 GB/s | 0.1300 | 4100 GB/s | 2.55 | - | 3.22 | \
             0.990 to 1.010 | wrong_values, 20 of 20 | passed, 19 of 20 |\n"
        );
    }

    #[test]
    fn a_rate_is_told_by_what_limits() {
        let rates = |bytes, flops| rate(&json!({"bytes_per_second": bytes, "flops_per_second": flops}));
        assert_eq!(rates(Some(75e9), Some(51.4e12)), "51.4 TFLOP/s");
        assert_eq!(rates(Some(4.0e12), Some(1.0e12)), "4000 GB/s");
        assert_eq!(rates(None, Some(51.4e12)), "51.4 TFLOP/s");
        assert_eq!(rates(None, None), "-");
    }

    #[test]
    fn the_given_exercises_are_measured_only() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let of = |only: &[&str]| {
            let only: Vec<String> = only.iter().map(|number| (*number).to_owned()).collect();
            let (root, checker) = (root.as_path(), Path::new("checker"));
            folders(&Order { root, checker, out: None, date: "", repeat: 1, only: &only }).expect("a folder")
        };
        assert_eq!(of(&["05"]), ["05_transpose_coalescing"]);
        assert!(of(&[]).len() >= 14 && of(&["99"]).is_empty());
    }
}
