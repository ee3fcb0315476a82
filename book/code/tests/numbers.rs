//! Every number of a GPU in the book was measured, or is cited: times and rates in chapters and in the kernels' comments against
//! `docs/measurements/`, bounds against what the checker asks for, occupancy against what is computed.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// Units of time and rate, with what one of them is in ms, FLOP/s or B/s.
const UNITS: [(&str, Kind, f64); 6] = [
    ("ms", Kind::Time, 1.0),
    ("GFLOP/s", Kind::Rate, 1e9),
    ("TFLOP/s", Kind::Rate, 1e12),
    ("GB/s", Kind::Rate, 1e9),
    ("TB/s", Kind::Rate, 1e12),
    ("times as fast", Kind::Ratio, 1.0),
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Time,
    Rate,
    Ratio,
}

/// Quantities that were not measured here: where they are written, as written, and where they are from.
const CITED: [(&str, &str, &str); 16] = [
    ("concepts/machine.md", "4.8 TB/s", "data sheet of the H200"),
    ("concepts/latency.md", "4.8 TB/s", "data sheet of the H200"),
    ("concepts/roofline.md", "4.8 TB/s", "data sheet of the H200"),
    ("concepts/roofline.md", "67 TFLOP/s", "data sheet of the H200"),
    ("concepts/roofline.md", "1.555 TB/s", "data sheet of the A100"),
    ("concepts/roofline.md", "19.5 TFLOP/s", "data sheet of the A100"),
    ("concepts/roofline.md", "0.39 TFLOP/s", "0.25 FLOP/B times 1.555 TB/s"),
    ("concepts/roofline.md", "1.2 TFLOP/s", "0.25 FLOP/B times 4.8 TB/s"),
    ("behind/history.md", "10.7 GFLOP/s", LECTURE),
    ("behind/history.md", "183.9 GFLOP/s", LECTURE),
    ("behind/history.md", "18.8 GB/s", HARRIS),
    ("behind/history.md", "51.3 GB/s", HARRIS),
    ("behind/history.md", "99.5 GB/s", HARRIS),
    ("behind/history.md", "55.3 GB/s", HARRIS),
    ("behind/history.md", "97.6 GB/s", HARRIS),
    ("behind/history.md", "144.3 GB/s", HARRIS),
];
const LECTURE: &str = "lecture slides on a GT200";
const HARRIS: &str = "M. Harris, An Efficient Matrix Transpose in CUDA C/C++, 2013";

/// A quantity in a text.
#[derive(Clone, Debug, PartialEq)]
struct Quantity {
    /// As written: `17.65 ms`.
    text: String,
    value: f64,
    /// Half of the last digit, in the same unit.
    tolerance: f64,
    kind: Kind,
}

#[test]
fn times_and_rates_were_measured_or_are_cited() {
    let measured = measured();
    let mut wrong = Vec::new();
    let mut seen = 0;
    let mut cited = vec![false; CITED.len()];
    for path in sources() {
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        for quantity in quantities(&read(&path)) {
            seen += 1;
            let citation =
                CITED.iter().position(|(file, text, _)| name.ends_with(file) && *text == quantity.text);
            if let Some(citation) = citation {
                cited[citation] = true;
            } else if !measured.iter().any(|(kind, value)| {
                *kind == quantity.kind && (value - quantity.value).abs() <= quantity.tolerance * 1.001
            }) {
                wrong.push(format!("{name}: {}", quantity.text));
            }
        }
    }
    assert!(seen > 40, "only {seen} quantities: were they recognised?");
    assert!(wrong.is_empty(), "neither in docs/measurements nor cited:\n{}", wrong.join("\n"));
    let unused: Vec<_> =
        CITED.iter().zip(cited).filter(|(_, used)| !used).map(|(citation, _)| citation).collect();
    assert!(unused.is_empty(), "cited but not written: {unused:?}");
}

#[test]
fn chapters_show_what_is_asked_for_and_what_was_measured() {
    for name in exercises() {
        let chapter = read(&root().join(format!("book/src/exercises/{name}.md")));
        for folder in ["needed", "measured"] {
            if root().join(format!("book/src/generated/{folder}/{name}.md")).exists() {
                let include = format!("{{{{#include ../generated/{folder}/{name}.md}}}}");
                assert!(chapter.contains(&include), "the chapter of {name} lacks {include}");
            }
        }
    }
}

/// The reference's speed-up that an exercise claims is the one in its chapter's table.
#[test]
fn the_references_speed_is_the_measured_one() {
    for course::Entry { exercise, folder } in course::all() {
        let Some(claimed) = exercise.speed.and_then(|speed| speed.h200_reference) else { continue };
        let table = read(&root().join(format!("book/src/generated/measured/{folder}.md")));
        let row = table.lines().find(|row| row.contains("reference") && row.starts_with('|'));
        let measured: f64 = row.unwrap().split('|').nth(4).unwrap().trim().parse().unwrap();
        assert!((claimed / measured - 1.0).abs() < 0.01, "{folder}: claimed {claimed}, measured {measured}");
    }
}

/// `at least 44` and `at most 1.1` are bounds of the exercise, as the generated table has them. Limits of the hardware are
/// told in other words, such as "up to" and "no more than".
#[test]
fn bounds_in_chapters_are_those_of_the_exercise() {
    let mut wrong = Vec::new();
    for name in exercises() {
        let table = root().join(format!("book/src/generated/needed/{name}.md"));
        let table = if table.exists() { read(&table) } else { String::new() };
        let bounds = bounds(&table);
        for (words, value) in bounds_in_prose(&read(&root().join(format!("book/src/exercises/{name}.md")))) {
            if !bounds.contains(&(words.clone(), value)) {
                wrong.push(format!("{name}: {words} {value}"));
            }
        }
    }
    assert!(wrong.is_empty(), "not asked for:\n{}", wrong.join("\n"));
}

/// Comments of kernels say `CAPABILITY: B blocks, W of 64 warps, P %`, which is what the generated table has for that kernel.
#[test]
fn occupancy_in_comments_is_what_is_computed() {
    let table = read(&root().join("book/src/generated/occupancy.md"));
    let mut seen = 0;
    for path in kernels() {
        let text = read(&path);
        for line in text.lines().filter(|line| line.contains(" of 64 warps")) {
            seen += 1;
            let place = format!("{}: {line}", path.display());
            let said = line.trim_start_matches(['/', ' ']);
            let (capability, fill) =
                said.split_once(": ").unwrap_or_else(|| panic!("{place}: no capability"));
            assert!(["8.0", "9.0"].contains(&capability), "{place}: for which capability?");
            let fill = fill.trim_end_matches(['.', ' ']);
            let file = path.strip_prefix(root()).unwrap().to_str().unwrap();
            let rows: Vec<&str> =
                table.lines().filter(|row| row.contains(&format!("<!-- {file} -->"))).collect();
            let [row] = rows[..] else { panic!("{place}: the chapter's table has no such kernel") };
            let column = if capability == "8.0" { 5 } else { 6 };
            assert_eq!(row.split('|').nth(column).map(str::trim), Some(fill), "{place}");
        }
    }
    assert!(seen >= 3, "only {seen} comments: were they recognised?");
}

/// What the stub of 09 says that an SM has.
#[test]
fn the_budgets_in_the_stub_are_those_of_capability_8_0() {
    let stub = read(&root().join("exercises/09_occupancy/stub.cu"));
    let sm = exercise::Sm::SM_80;
    for budget in [
        format!("{},{:03} threads ({} warps)", sm.warps * 32 / 1000, sm.warps * 32 % 1000, sm.warps),
        format!("{} blocks", sm.blocks),
        format!("{},{:03} registers", exercise::Sm::REGISTERS / 1000, exercise::Sm::REGISTERS % 1000),
        format!("{} KB of shared memory", sm.shared_bytes >> 10),
    ] {
        assert!(stub.contains(&budget), "the stub does not say `{budget}`");
    }
}

#[test]
fn quantities_are_recognised() {
    let text = "It takes 17.65 ms, 5.6 times as fast, at 1,641 GB/s.\n\n| x | ms |\n|---|---:|\n| a | 0.446 |\n\n`9 ms` and 3 msec";
    let found: Vec<String> = quantities(text).into_iter().map(|quantity| quantity.text).collect();
    assert_eq!(found, ["17.65 ms", "1,641 GB/s", "5.6 times as fast", "0.446 ms"]);
    let rate = &quantities("at 1,641 GB/s")[0];
    assert_eq!((rate.value, rate.tolerance, rate.kind), (1641e9, 0.5e9, Kind::Rate));
    assert_eq!(
        bounds_in_prose("at least 28 lanes, at most 1.1, at least one"),
        [("at least".to_owned(), 28.0), ("at most".to_owned(), 1.1)]
    );
}

/// Times in ms, rates in FLOP/s and B/s, and speed-ups, from all sessions.
fn measured() -> Vec<(Kind, f64)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root().join("docs/measurements")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            collect(&serde_json::from_str(&read(&path)).unwrap(), &mut found);
        }
    }
    found
}

fn collect(json: &Value, found: &mut Vec<(Kind, f64)>) {
    if let (Some(rate), Some(unit)) = (json["rate"].as_f64(), json["unit"].as_str()) {
        found.push((Kind::Rate, rate * if unit == "TFLOP/s" { 1e12 } else { 1e9 }));
    }
    for (key, value) in json.as_object().into_iter().flatten() {
        match (key.as_str(), value.as_f64()) {
            ("milliseconds" | "least", Some(time)) => found.push((Kind::Time, time)),
            ("milliseconds", None) => {
                let times = value.as_object().into_iter().flatten().filter_map(|(_, time)| time.as_f64());
                found.extend(times.map(|time| (Kind::Time, time)));
            }
            ("speedup" | "needed" | "reference", Some(factor)) => found.push((Kind::Ratio, factor)),
            (key, Some(rate)) if key.ends_with("_per_second") => found.push((Kind::Rate, rate)),
            // Bytes a second of a kernel that computes, and the other way round, are nobody's measure.
            ("rates", _) => {
                let (bytes, flops) =
                    (value["bytes"].as_f64().unwrap_or(0.0), value["flops"].as_f64().unwrap_or(0.0));
                let unit = if flops > 20.0 * bytes { "flops_per_second" } else { "bytes_per_second" };
                let kernels = ["baseline", "reference", "yours"];
                found.extend(
                    kernels.iter().filter_map(|kernel| Some((Kind::Rate, value[*kernel][unit].as_f64()?))),
                );
                collect(&value["ceilings"], found);
            }
            _ => collect(value, found),
        }
    }
    for value in json.as_array().into_iter().flatten() {
        collect(value, found);
    }
}

/// Numbers with one of the units, in prose and in tables whose heading names it. Code is left out.
fn quantities(text: &str) -> Vec<Quantity> {
    let mut found = Vec::new();
    let mut columns: Vec<Option<usize>> = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        if line.starts_with('|') {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            if columns.is_empty() {
                columns = cells.iter().map(|cell| UNITS.iter().position(|(unit, ..)| unit == cell)).collect();
            }
            for (cell, unit) in cells.iter().zip(&columns) {
                if let Some(unit) = unit {
                    found.extend(quantity(cell, *unit));
                }
            }
        } else {
            columns.clear();
        }
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join(" ");
        for (unit, (name, ..)) in UNITS.iter().enumerate() {
            for (at, _) in prose.match_indices(&format!(" {name}")) {
                let after = prose[at + 1 + name.len()..].chars().next();
                if after.is_none_or(|c| !c.is_alphanumeric()) {
                    found.extend(quantity(
                        prose[..at].rsplit([' ', '(', '~']).next().unwrap_or_default(),
                        unit,
                    ));
                }
            }
        }
    }
    found
}

fn quantity(number: &str, unit: usize) -> Option<Quantity> {
    let (name, kind, scale) = UNITS[unit];
    let plain = number.replace(',', "");
    let value: f64 = plain.parse().ok()?;
    let decimals = plain.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let tolerance = 0.5 * 10f64.powi(-i32::try_from(decimals).unwrap());
    Some(Quantity {
        text: format!("{number} {name}"),
        value: value * scale,
        tolerance: tolerance * scale,
        kind,
    })
}

/// `at least N` and `at most N` of a generated table.
fn bounds(table: &str) -> Vec<(String, f64)> {
    bounds_in_prose(&table.replace(" |", "\n"))
}

fn bounds_in_prose(text: &str) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    for words in ["at least", "at most"] {
        for rest in text.split(&format!("{words} ")).skip(1) {
            let number: String =
                rest.chars().take_while(|c| c.is_ascii_digit() || ".,".contains(*c)).collect();
            if let Ok(value) = number.trim_end_matches(['.', ',']).replace(',', "").parse() {
                found.push((words.to_owned(), value));
            }
        }
    }
    found
}

/// Chapters about the kernels, the history, and whatever is written in the exercises and solutions.
fn sources() -> Vec<PathBuf> {
    let book = root().join("book/src");
    let mut found = vec![book.join("behind/history.md"), book.join("introduction.md")];
    for folder in ["exercises", "concepts"] {
        found.extend(files(&book.join(folder), "md"));
    }
    found.extend(kernels());
    for name in exercises() {
        found.push(root().join("exercises").join(name).join("exercise.rs"));
    }
    found
}

fn kernels() -> Vec<PathBuf> {
    let mut found = files(&root().join("exercises"), "cu");
    found.extend(files(&root().join("solutions"), "cu"));
    found.extend(files(&root().join("kernels"), "cu"));
    found
}

fn exercises() -> impl Iterator<Item = &'static str> {
    course::all().iter().map(|entry| entry.folder)
}

/// Files with this extension, in the folder and those below it; a learner's own `kernel.cu` is nobody's source.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_learners = path.ends_with("kernel.cu") && path.starts_with(root().join("exercises"));
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) && !is_learners {
            found.push(path);
        }
    }
    found
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}
