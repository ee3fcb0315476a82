//! A few whole reports, so that a change of wording or layout is seen.

use crate::scratch::{Scratch, vector_add};

/// A report without what differs from machine to machine.
fn settled(report: &str) -> String {
    let mut out = String::new();
    let mut is_prediction = false;
    for line in report.lines() {
        // The model's figures are held to measurements elsewhere.
        if line.starts_with("  predicted for") {
            is_prediction = true;
            out.push_str("  [prediction]\n");
        }
        is_prediction &= !line.is_empty();
        if is_prediction {
            continue;
        }
        // Registers are the compiler's business, and a newer one may use others.
        match line.split_once(" registers per thread, ") {
            Some((before, after)) => {
                let before = before.trim_end_matches(|c: char| c.is_ascii_digit());
                out.push_str(&format!("{before}[..] registers per thread, {after}"));
            }
            None => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

#[test]
fn a_pass() {
    let (_, report) = Scratch::new().judge_vector_add(vector_add("if (i < n) c[i] = a[i] + b[i];"));
    insta::assert_snapshot!(settled(&report));
}

#[test]
fn wrong_values() {
    let (_, report) = Scratch::new().judge_vector_add(vector_add("if (i < n - 1) c[i] = a[i] + b[i];"));
    insta::assert_snapshot!(settled(&report));
}

#[test]
fn a_compile_error() {
    let (_, report) = Scratch::new().judge_vector_add(vector_add("c[i] = a[i] + nothing;"));
    insta::assert_snapshot!(settled(&report));
}

#[test]
fn a_missed_requirement() {
    let scratch = Scratch::new();
    let (_, report, _) = scratch.run(&["05", "--engine", "sim"]);
    insta::assert_snapshot!(settled(&report));
}

#[test]
fn a_race() {
    let scratch = Scratch::new();
    scratch.write(
        "race.cu",
        "extern \"C\" __global__ void shift(float* x)\n{\n    __shared__ float s[64];\n    \
         s[threadIdx.x] = x[threadIdx.x];\n    x[threadIdx.x] = s[63 - threadIdx.x];\n}\n",
    );
    let run = ["run", "race.cu", "--grid", "1", "--block", "64", "--arg", "buf:f32:64:iota", "--no-counters"];
    let (_, report, _) = scratch.run(&run);
    insta::assert_snapshot!(settled(&report));
}
