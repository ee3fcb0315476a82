//! Kernels that reproduce faults real learners reported, and right ones that no check may blame. Each case of
//! `cases.json` says how to launch a kernel and what must be found.

use std::collections::BTreeMap;
use std::path::Path;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde_json::Value;

use crate::scratch::Scratch;

#[test]
fn every_case_gets_its_verdict() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let cases = std::fs::read_to_string(folder.join("cases.json")).expect("the cases");
    let cases: Vec<Value> = serde_json::from_str(&cases).expect("JSON");
    let runs: Vec<(&Value, Vec<usize>)> = cases
        .iter()
        .flat_map(|case| {
            case["sizes"].as_array().expect("sizes").iter().map(move |size| (case, numbers(size)))
        })
        .collect();
    assert_eq!(runs.len(), 27);
    let failures: Vec<String> = runs
        .par_iter()
        .filter_map(|(case, size)| {
            let problem = Problem::new(text(&case["problem"]), size);
            let (report, is_right) = run(case, &problem, &folder);
            let complaint = judge(case, &report, is_right)?;
            Some(format!("{} {size:?}: {complaint}", text(&case["file"])))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn numbers(value: &Value) -> Vec<usize> {
    value.as_array().expect("numbers").iter().map(|n| n.as_u64().expect("a number") as usize).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

enum Arg {
    Input(Vec<f32>),
    Output(usize),
    Zero(usize),
    Int(usize),
    Float(f32),
}

/// What a kernel is given, and what must come out.
struct Problem {
    args: Vec<Arg>,
    /// The output's argument and its right values, if they are checked.
    wanted: Option<(usize, Vec<f64>)>,
    /// Names that the launch is written in.
    names: BTreeMap<&'static str, usize>,
}

impl Problem {
    fn new(kind: &str, size: &[usize]) -> Problem {
        use Arg::{Float, Input, Int, Output, Zero};
        match (kind, size) {
            ("matmul", &[m, n, k]) => {
                let (a, b) = (floats(m * k, 1), floats(k * n, 2));
                let wanted = Some((2, matmul(&a, &b, [m, n, k])));
                let args = vec![Input(a), Input(b), Output(m * n), Int(m), Int(n), Int(k)];
                Problem { args, wanted, names: BTreeMap::from([("M", m), ("N", n), ("K", k)]) }
            }
            ("matmul_fused", &[m, n, k]) => {
                let inputs = [floats(m * k, 1), floats(k * n, 2), floats(m * n, 3)].map(Input);
                let rest = [Output(m * n), Int(m), Int(n), Int(k), Float(1.0), Float(1.0)];
                let args = inputs.into_iter().chain(rest).collect();
                Problem { args, wanted: None, names: BTreeMap::from([("M", m), ("N", n), ("K", k)]) }
            }
            ("transpose", &[rows, cols]) => {
                let x = floats(rows * cols, 4);
                let wanted = (0..cols).flat_map(|c| (0..rows).map(move |r| (r, c)));
                let wanted = wanted.map(|(r, c)| f64::from(x[r * cols + c])).collect();
                let args = vec![Input(x), Output(rows * cols), Int(rows), Int(cols)];
                Problem { args, wanted: Some((1, wanted)), names: BTreeMap::from([("R", rows), ("C", cols)]) }
            }
            ("gemv", &[m, k]) => {
                let (a, x) = (floats(m * k, 5), floats(k, 6));
                let wanted = Some((2, matmul(&a, &x, [m, 1, k])));
                let args = vec![Input(a), Input(x), Output(m), Int(m), Int(k)];
                Problem { args, wanted, names: BTreeMap::from([("M", m), ("K", k)]) }
            }
            ("block_sums", &[n, blocks, threads]) => {
                let x = floats(n, 7);
                let mut wanted = vec![0.0; blocks];
                x.iter().enumerate().for_each(|(i, x)| wanted[i / threads % blocks] += f64::from(*x));
                let args = vec![Input(x), Output(blocks), Int(n)];
                let names = BTreeMap::from([("n", n), ("G", blocks), ("T", threads)]);
                Problem { args, wanted: Some((1, wanted)), names }
            }
            ("total", &[n]) => {
                let x = floats(n, 8);
                let wanted = vec![x.iter().map(|x| f64::from(*x)).sum()];
                Problem {
                    args: vec![Input(x), Zero(1), Int(n)],
                    wanted: Some((1, wanted)),
                    names: BTreeMap::from([("n", n)]),
                }
            }
            _ => panic!("unknown problem {kind} of size {size:?}"),
        }
    }

    /// Reads a launch such as `(ceil(N,16),ceil(M,16))` or `(G,)`, as the arguments of --grid and --block are written.
    fn dims(&self, expression: &str) -> String {
        let value =
            |word: &str| self.names.get(word).copied().unwrap_or_else(|| word.parse().expect("a number"));
        let inner = expression.trim_start_matches('(').strip_suffix(')').expect("a tuple");
        let mut dims = Vec::new();
        let mut rest = inner;
        while !rest.is_empty() {
            let length = match rest.strip_prefix("ceil(") {
                Some(call) => "ceil(".len() + call.find(')').expect("closed") + 1,
                None => rest.find(',').unwrap_or(rest.len()),
            };
            let (term, after) = rest.split_at(length);
            dims.push(match term.strip_prefix("ceil(") {
                Some(call) => {
                    let (a, b) = call.trim_end_matches(')').split_once(',').expect("two arguments");
                    value(a).div_ceil(value(b))
                }
                None => value(term),
            });
            rest = after.strip_prefix(',').unwrap_or(after);
        }
        dims.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
    }
}

/// The same inputs on every machine: a linear congruential generator, values in [-0.5, 0.5).
fn floats(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12_345);
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((state >> 8) as f32) / 16_777_216.0 - 0.5
    };
    (0..count).map(|_| next()).collect()
}

fn matmul(a: &[f32], b: &[f32], [m, n, k]: [usize; 3]) -> Vec<f64> {
    let dot =
        |row: usize, col: usize| (0..k).map(|i| f64::from(a[row * k + i]) * f64::from(b[i * n + col])).sum();
    (0..m).flat_map(|row| (0..n).map(move |col| (row, col))).map(|(row, col)| dot(row, col)).collect()
}

/// Runs one case: the report, and whether the output is right if there was one.
fn run(case: &Value, problem: &Problem, folder: &Path) -> (Value, Option<bool>) {
    let scratch = Scratch::new();
    let file = folder.join(text(&case["file"])).display().to_string();
    let (grid, block) = (problem.dims(text(&case["grid"])), problem.dims(text(&case["block"])));
    let mut arguments: Vec<String> =
        ["run", &file, "--grid", &grid, "--block", &block, "--json"].map(String::from).into();
    if let Some(bytes) = case["shared"].as_u64() {
        arguments.extend(["--shared".to_owned(), bytes.to_string()]);
    }
    for (index, arg) in problem.args.iter().enumerate() {
        let spec = match arg {
            Arg::Input(values) => {
                let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
                let path = scratch.write(&format!("arg{index}.bin"), bytes);
                format!("buf:f32:{}:@{}", values.len(), path.display())
            }
            Arg::Output(count) => format!("buf:f32:{count}"),
            Arg::Zero(count) => format!("buf:f32:{count}:zero"),
            Arg::Int(value) => format!("i32:{value}"),
            Arg::Float(value) => format!("f32:{value}"),
        };
        arguments.extend(["--arg".to_owned(), spec]);
    }
    if let Some((output, _)) = &problem.wanted {
        arguments.extend(["--dump".to_owned(), format!("{output}=out.bin")]);
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (_, out, err) = scratch.run(&arguments);
    let report = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{file}: {error}: {out}{err}"));
    let right = problem.wanted.as_ref().and_then(|(_, wanted)| {
        let bytes = std::fs::read(scratch.path().join("out.bin")).ok()?;
        let (words, _) = bytes.as_chunks::<4>();
        let scale = wanted.iter().fold(1.0_f64, |scale, value| scale.max(value.abs()));
        let close = |(word, wanted): (&[u8; 4], &f64)| {
            (f64::from(f32::from_le_bytes(*word)) - wanted).abs() <= 1e-3 * scale
        };
        Some(words.len() == wanted.len() && words.iter().zip(wanted).all(close))
    });
    (report, right)
}

/// What is wrong with a report, if anything.
fn judge(case: &Value, report: &Value, is_right: Option<bool>) -> Option<String> {
    let verdict = text(&report["verdict"]);
    let faults = report["faults"].as_array().expect("faults");
    let kinds: Vec<&str> = case["kinds"].as_array().into_iter().flatten().map(text).collect();
    let hits: Vec<&Value> =
        faults.iter().filter(|f| f["severity"] == "error" && kinds.contains(&text(&f["kind"]))).collect();
    let is_clean_and = |right: bool| verdict == "clean" && is_right == Some(right);
    let is_as_expected = match text(&case["expect"]) {
        "rejected" => matches!(verdict, "compile_error" | "launch_error"),
        "clean" => is_clean_and(true),
        "slow" => is_clean_and(true) && ratios_hold(case, report),
        "wrong_values" => is_clean_and(false),
        "wrong_or_fault" => !hits.is_empty() || is_clean_and(false),
        "fault" => hits.iter().any(|fault| is_at_a_line(case, fault)),
        other => panic!("unknown expectation {other}"),
    };
    (!is_as_expected)
        .then(|| format!("expected {}, got {verdict}, right: {is_right:?}, {faults:?}", case["expect"]))
}

fn is_at_a_line(case: &Value, fault: &Value) -> bool {
    let lines = case["lines"].as_array();
    lines.is_none_or(|lines| lines.contains(&fault["line"]) || lines.contains(&fault["other"]["line"]))
}

fn ratios_hold(case: &Value, report: &Value) -> bool {
    let counter = |name: &str| report["counters"][name].as_f64().expect("a counter");
    case["ratios"].as_object().into_iter().flatten().all(|(name, range)| {
        let (part, whole) = name.split_once('/').expect("a ratio");
        let value = counter(part) / counter(whole).max(1.0);
        let bound = |index: usize| range[index].as_f64().expect("a bound");
        (bound(0)..=bound(1)).contains(&value)
    })
}
