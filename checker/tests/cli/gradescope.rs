//! The autograder for Gradescope: there is a valid results.json in every event.

use serde_json::{Value, json};

use crate::scratch::{Scratch, vector_add};

/// Runs it as Gradescope does, and gives back results.json.
fn graded(scratch: &Scratch) -> Value {
    scratch.write(
        "autograder/submission_metadata.json",
        json!({"id": 1, "assignment": {"total_points": "20.0"}, "users": [{"name": "Kim"}]}).to_string(),
    );
    let (code, out, err) =
        scratch.run(&["gradescope", "run", "--exercise", "00", "--root", "autograder", "--seed", "20261130"]);
    assert_eq!(code, 0, "{out}{err}");
    let text = scratch.read("autograder/results/results.json");
    assert!(!text.contains("20261130"), "{text}");
    let results: Value = serde_json::from_str(&text).expect("JSON");
    let tests = results["tests"].as_array().expect("tests");
    let most: f64 = tests.iter().map(|test| test["max_score"].as_f64().expect("points")).sum();
    assert!((most - 20.0).abs() < 1e-9, "{results}");
    let got: f64 = tests.iter().map(|test| test["score"].as_f64().expect("points")).sum();
    assert!((results["score"].as_f64().expect("points") - got).abs() < 1e-9, "{results}");
    results
}

#[test]
fn every_hand_in_has_results_that_add_up() {
    for (file, text, score, phrase) in [
        ("kernel.cu", vector_add("if (i < n) c[i] = a[i] + b[i];"), 20.0, "passed"),
        ("my kernel.cu", vector_add("if (i < n) c[i] = a[i];"), 0.0, "wrong values"),
        ("kernel.cu", vector_add("if (i < n) c[i] = a[i] + b[i]"), 0.0, "expected"),
        ("kernel.cu", vector_add("c[i] = a[i] + b[i];"), 0.0, "out\\_of\\_bounds"),
        ("report.pdf", "%PDF".to_owned(), 0.0, "report.pdf"),
    ] {
        let scratch = Scratch::new();
        scratch.write(&format!("autograder/submission/{file}"), text);
        let results = graded(&scratch);
        assert_eq!(results["score"], score, "{file}: {results}");
        assert!(results["output"].as_str().expect("a text").contains(phrase), "{file}: {results}");
    }
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.path().join("autograder/submission")).expect("made");
    assert_eq!(graded(&scratch)["score"], 0.0);
    let scratch = Scratch::new();
    assert_eq!(graded(&scratch)["score"], 0.0, "not even a folder");
}

#[cfg(target_os = "linux")]
#[test]
fn what_ends_the_autograder_leaves_failing_results() {
    use std::time::{Duration, Instant};

    let scratch = Scratch::new();
    let endless = vector_add("for (int j = 0; j >= 0; j = (j + 1) & 1023) if (i < n) c[i] = a[i] + b[i];");
    scratch.write("autograder/submission/kernel.cu", endless);
    let mut run = std::process::Command::new(env!("CARGO_BIN_EXE_checker"))
        .args(["gradescope", "run", "--exercise", "00", "--root", "autograder"])
        .current_dir(scratch.path())
        .spawn()
        .expect("started");
    let started = Instant::now();
    while scratch.read_if_any("autograder/results/results.json").is_empty() {
        assert!(started.elapsed() < Duration::from_secs(30), "no results");
        std::thread::sleep(Duration::from_millis(5));
    }
    run.kill().expect("killed");
    run.wait().expect("an end");
    let results: Value =
        serde_json::from_str(&scratch.read("autograder/results/results.json")).expect("whole");
    assert_eq!((&results["score"], &results["tests"][0]["status"]), (&json!(0.0), &json!("failed")));
}

#[test]
fn the_zip_holds_what_gradescope_starts() {
    let scratch = Scratch::new();
    let (code, out, err) =
        scratch.run(&["gradescope", "pack", "--exercise", "05", "-o", "auto.zip", "--seed", "5"]);
    assert_eq!(code, 0, "{out}{err}");
    let file = std::fs::File::open(scratch.path().join("auto.zip")).expect("there");
    let mut zip = zip::ZipArchive::new(file).expect("a zip");
    for name in ["setup.sh", "run_autograder", "checker"] {
        let entry = zip.by_name(name).expect(name);
        assert_eq!(entry.unix_mode().map(|mode| mode & 0o111), Some(0o111), "{name}");
    }
    let mut run = String::new();
    std::io::Read::read_to_string(&mut zip.by_name("run_autograder").expect("there"), &mut run)
        .expect("text");
    assert!(run.contains("gradescope run --exercise 05_transpose_coalescing --seed 5"), "{run}");
}
