//! `xtask measure --predict`: predicted times held against measured ones, as a table and as JSON. It needs no GPU.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::measure::{self, FOLDER, Order};

/// The measurements that are compared, if no other file is named: the newest of this name.
const MEASURED: &str = "-nvidia-h200-exercises.json";

/// A kernel that was timed and predicted.
#[derive(Clone, Debug)]
struct Row {
    exercise: String,
    file: String,
    /// Milliseconds.
    measured: f64,
    predicted: f64,
    /// Over the baseline; `None` for the baseline itself.
    speedups: Option<(f64, f64)>,
    /// The verdict of the GPU, and the prediction's: `passed`, `too_slow`, `too_close`.
    verdicts: (String, String),
    cause: String,
}

/// Judges every file of every exercise by prediction, and writes what came of it beside what `against` holds.
///
/// # Errors
/// If there is nothing to compare with, if the checker cannot judge, or if a file of that name is there already.
pub(crate) fn predict(order: &Order<'_>, against: Option<PathBuf>) -> Result<()> {
    let against = against.map_or_else(|| newest(order.root), Ok)?;
    let text = std::fs::read_to_string(&against).with_context(|| against.display().to_string())?;
    let measured: Value = serde_json::from_str(&text)?;
    let mut rows = Vec::new();
    for folder in measure::folders(order)? {
        eprintln!("{folder}");
        let predicted = measure::verify(order, &folder, "sim")?;
        rows.extend(compare(&folder, &measured, &predicted));
    }
    ensure!(!rows.is_empty(), "{} has no kernel that is predicted", against.display());
    let out = order.out.clone().unwrap_or_else(|| order.root.join(FOLDER));
    let stem = out.join(format!("{}-nvidia-h200-predicted", order.date));
    let (table, data) = (stem.with_extension("md"), stem.with_extension("json"));
    for file in [&table, &data] {
        ensure!(
            !file.exists(),
            "{} is there already: a file of measurements is never changed",
            file.display()
        );
    }
    let against = against.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    std::fs::write(&data, serde_json::to_string_pretty(&as_json(order.date, &against, &rows))?)?;
    std::fs::write(&table, report(order.date, &against, &rows))?;
    println!("{}", summary(&rows));
    Ok(())
}

fn newest(root: &Path) -> Result<PathBuf> {
    let entries = std::fs::read_dir(root.join(FOLDER))?.flatten().map(|entry| entry.path());
    let fitting = entries.filter(|path| path.to_string_lossy().ends_with(MEASURED));
    fitting.max().with_context(|| format!("{FOLDER} has no file *{MEASURED}"))
}

/// The kernels of an exercise that are in both.
fn compare(folder: &str, measured: &Value, predicted: &Value) -> Vec<Row> {
    let all = measured["exercises"].as_array().into_iter().flatten();
    let files = all
        .filter(|exercise| exercise["exercise"] == folder)
        .flat_map(|exercise| exercise["files"].as_array());
    let row = |file: &Value| {
        let name = file["file"].as_str()?;
        let timing = file["timing"].as_object()?;
        let forecasts = predicted["files"].as_array()?;
        let forecast = &forecasts.iter().find(|other| other["file"] == name)?["forecast"];
        let times = |of: &Value| Some((of["baseline"].as_f64()?, of["yours"].as_f64()?));
        let (measured_baseline, measured) = times(&timing["milliseconds"])?;
        let (predicted_baseline, predicted) = times(&forecast["milliseconds"])?;
        let causes = forecast["yours"]["causes"].as_array().into_iter().flatten().take(2);
        let cause = causes.map(|part| {
            let share = 100.0 * part["share"].as_f64().unwrap_or_default();
            format!("{} {share:.0} %", part["cause"].as_str().unwrap_or_default())
        });
        Some(Row {
            exercise: folder.to_owned(),
            file: name.to_owned(),
            measured,
            predicted,
            speedups: (name != "baseline")
                .then_some((measured_baseline / measured, predicted_baseline / predicted)),
            verdicts: (
                file["verdict"].as_str().unwrap_or("-").to_owned(),
                forecast["outlook"].as_str().unwrap_or("-").to_owned(),
            ),
            cause: cause.collect::<Vec<_>>().join(", "),
        })
    };
    files.flatten().filter_map(row).collect()
}

/// The value below which a share of the values lies, between neighbours in proportion.
fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let place = share * values.len().saturating_sub(1) as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    match (values.get(below), values.get(above)) {
        (Some(low), Some(high)) => low + (high - low) * (place - place.floor()),
        _ => f64::NAN,
    }
}

/// Spearman's rank correlation.
fn rank_correlation(pairs: &[(f64, f64)]) -> f64 {
    let ranks = |of: fn(&(f64, f64)) -> f64| {
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        order.sort_by(|a, b| of(&pairs[*a]).total_cmp(&of(&pairs[*b])));
        let mut ranks = vec![0.0; pairs.len()];
        order.iter().enumerate().for_each(|(rank, at)| ranks[*at] = rank as f64);
        ranks
    };
    let squares: f64 =
        ranks(|pair| pair.0).iter().zip(ranks(|pair| pair.1)).map(|(a, b)| (a - b).powi(2)).sum();
    let n = pairs.len() as f64;
    1.0 - 6.0 * squares / (n * (n * n - 1.0))
}

/// How good the predictions are, all together.
struct Errors {
    kernels: usize,
    time: (f64, f64),
    speedups: usize,
    speedup: (f64, f64),
    ranks: (f64, f64),
    /// Verdicts: compared, too close to call, and different although not too close.
    verdicts: (usize, usize, Vec<String>),
}

fn errors(rows: &[Row]) -> Errors {
    let off = |(measured, predicted): (f64, f64)| (predicted / measured - 1.0).abs();
    let both = |values: &[(f64, f64)]| {
        let errors: Vec<f64> = values.iter().map(|pair| off(*pair)).collect();
        (quantile(errors.clone(), 0.5), quantile(errors, 0.9))
    };
    let times: Vec<(f64, f64)> = rows.iter().map(|row| (row.measured, row.predicted)).collect();
    let speedups: Vec<(f64, f64)> = rows.iter().filter_map(|row| row.speedups).collect();
    // The reference passes by definition, and the baseline is what is to be beaten.
    let judged = rows.iter().filter(|row| row.file != "baseline" && row.file != "solution");
    let judged: Vec<&Row> =
        judged.filter(|row| ["passed", "too_slow"].contains(&row.verdicts.0.as_str())).collect();
    let is_close = |row: &&&Row| row.verdicts.1 == "too_close";
    let differs = |row: &&&Row| row.verdicts.1 != "too_close" && row.verdicts.0 != row.verdicts.1;
    Errors {
        kernels: rows.len(),
        time: both(&times),
        speedups: speedups.len(),
        speedup: both(&speedups),
        ranks: (rank_correlation(&times), rank_correlation(&speedups)),
        verdicts: (
            judged.len(),
            judged.iter().filter(is_close).count(),
            judged.iter().filter(differs).map(|row| format!("{} {}", row.exercise, row.file)).collect(),
        ),
    }
}

fn summary(rows: &[Row]) -> String {
    let errors = errors(rows);
    let percent = |(median, most): (f64, f64)| format!("{:.1} % | {:.1} %", 100.0 * median, 100.0 * most);
    let (judged, close, different) = &errors.verdicts;
    let different = if different.is_empty() {
        "none".to_owned()
    } else {
        format!("{}: {}", different.len(), different.join(", "))
    };
    format!(
        "| | kernels | median error | 90 % within | rank correlation |\n|---|---|---|---|---|\n\
         | time | {} | {} | {:.3} |\n| speed-up over the baseline | {} | {} | {:.3} |\n\n\
         Of {judged} verdicts {close} are too close to call. Of the others, different from the GPU's: {different}.",
        errors.kernels,
        percent(errors.time),
        errors.ranks.0,
        errors.speedups,
        percent(errors.speedup),
        errors.ranks.1,
    )
}

fn as_json(date: &str, against: &str, rows: &[Row]) -> Value {
    let row = |row: &Row| {
        json!({"exercise": row.exercise, "file": row.file, "measured_milliseconds": row.measured,
               "predicted_milliseconds": row.predicted, "measured_speedup": row.speedups.map(|pair| pair.0),
               "predicted_speedup": row.speedups.map(|pair| pair.1), "verdict": row.verdicts.0,
               "outlook": row.verdicts.1, "cause": row.cause})
    };
    json!({"date": date, "against": against, "gpu": "NVIDIA H200", "kernels": rows.iter().map(row).collect::<Vec<_>>()})
}

fn report(date: &str, against: &str, rows: &[Row]) -> String {
    let mut text = format!(
        "# Predicted times, {date}\n\n| | |\n|---|---|\n| date | {date} |\n| predicted for | NVIDIA H200, by \
         `crates/clock/gpus/h200.json` |\n| measured | `{against}` |\n| command | \
         `cargo run --release -p xtask -- measure --predict` |\n\nWhat the model says of the kernels that were timed, at the sizes \
         at which they were. Kernels that the simulator rejects are not predicted.\n\n{}\n\n\
         | exercise | file | measured, ms | predicted, ms | ratio | measured speed-up | predicted | verdict | prediction | time goes to |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
        summary(rows)
    );
    for row in rows {
        let speedups = row.speedups.map_or_else(
            || "- | -".to_owned(),
            |(measured, predicted)| format!("{measured:.2} | {predicted:.2}"),
        );
        let _ = writeln!(
            text,
            "| {} | {} | {:.4} | {:.4} | {:.2} | {speedups} | {} | {} | {} |",
            row.exercise,
            row.file,
            row.measured,
            row.predicted,
            row.predicted / row.measured,
            row.verdicts.0,
            row.verdicts.1,
            row.cause,
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_compared_by_their_file() {
        let measured = json!({"exercises": [{"exercise": "05_x", "files": [
            {"file": "stub.cu", "verdict": "too_slow",
             "timing": {"milliseconds": {"baseline": 2.0, "reference": 1.0, "yours": 2.0}}},
            {"file": "other.cu", "verdict": "passed", "timing": null},
        ]}]});
        let predicted = json!({"files": [{"file": "stub.cu", "forecast": {"outlook": "too_slow",
            "milliseconds": {"baseline": 2.2, "reference": 1.0, "yours": 2.2}, "yours": {"causes": []}}}]});
        let rows = compare("05_x", &measured, &predicted);
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].speedups, Some((1.0, 1.0)));
        let errors = errors(&rows);
        assert!((errors.time.0 - 0.1).abs() < 1e-9);
        assert_eq!((errors.verdicts.0, errors.verdicts.1, errors.verdicts.2.len()), (1, 0, 0));
    }

    #[test]
    fn quantiles_lie_between_neighbours() {
        assert_eq!(quantile(vec![3.0, 1.0, 2.0], 0.5), 2.0);
        assert!((quantile(vec![0.0, 1.0], 0.9) - 0.9).abs() < 1e-9);
        assert!(quantile(Vec::new(), 0.5).is_nan());
    }

    #[test]
    fn ranks_agree_or_are_reversed() {
        assert_eq!(rank_correlation(&[(1.0, 10.0), (2.0, 20.0), (3.0, 90.0)]), 1.0);
        assert_eq!(rank_correlation(&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)]), -1.0);
    }
}
