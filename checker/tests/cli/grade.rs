//! Grading a class: what one student hands in costs nobody else anything.

use serde_json::Value;

use crate::scratch::{Scratch, vector_add};

fn right() -> String {
    vector_add("if (i < n) c[i] = a[i] + b[i];")
}

fn endless() -> String {
    vector_add("for (int j = 0; j >= 0; j = (j + 1) & 1023) if (i < n) c[i] = a[i] + b[i];")
}

fn results(scratch: &Scratch, arguments: &[&str]) -> Vec<Value> {
    let (code, out, err) = scratch.run(&[&["grade", "class", "--json"], arguments].concat());
    assert_eq!(code, 0, "{out}{err}");
    let graded: Value = serde_json::from_str(&out).expect("JSON");
    graded["results"].as_array().expect("results").clone()
}

fn verdict<'a>(results: &'a [Value], student: &str) -> &'a str {
    let of = |result: &&Value| result["student"] == student;
    results.iter().find(of).expect(student)["verdict"].as_str().expect("a verdict")
}

#[test]
fn every_cell_stands_for_itself_and_a_second_run_goes_on() {
    let scratch = Scratch::new();
    scratch.write("class/kim/00_vector_add/kernel.cu", right());
    scratch.write("class/이 영희/00.cu", vector_add("if (i < n) c[i] = a[i];"));
    scratch.write("class/binary/00/kernel.cu", b"\xff\xfe\x00");
    scratch.write("class/big/00/kernel.cu", vec![b' '; (1 << 20) + 1]);
    scratch.write("class/endless/00/kernel.cu", endless());
    scratch.write("class/nothing/notes.txt", "sorry");
    #[cfg(unix)]
    {
        scratch.write("secret.cu", right());
        std::fs::create_dir_all(scratch.path().join("class/linker/00")).expect("created");
        let link = scratch.path().join("class/linker/00/kernel.cu");
        std::os::unix::fs::symlink(scratch.path().join("secret.cu"), link).expect("linked");
    }
    let first = results(&scratch, &["--seed", "12345", "--jobs", "2"]);
    assert_eq!(verdict(&first, "kim"), "passed");
    assert_eq!(verdict(&first, "이 영희"), "wrong_values");
    assert_eq!(verdict(&first, "endless"), "timeout");
    assert_eq!(verdict(&first, "binary"), "unreadable");
    assert_eq!(verdict(&first, "big"), "unreadable");
    #[cfg(unix)]
    assert_eq!(verdict(&first, "linker"), "unreadable");

    // As a kill would leave it: the last line torn.
    let ledger = scratch.read("grades/results.jsonl");
    let judged = ledger.lines().count();
    assert_eq!(judged, 3, "{ledger}");
    scratch.write("grades/results.jsonl", &ledger[..ledger.len() - 20]);
    let second = results(&scratch, &["--seed", "12345"]);
    let kept = scratch.read("grades/results.jsonl");
    assert_eq!(kept.lines().filter(|line| line.ends_with('}')).count(), judged, "{kept}");
    let verdicts = |results: &[Value]| results.iter().map(|r| r["verdict"].clone()).collect::<Vec<_>>();
    assert_eq!(verdicts(&first), verdicts(&second));

    let (code, csv, _) = scratch.run(&["grade", "class", "--csv", "--seed", "12345"]);
    assert_eq!(code, 0);
    assert!(csv.starts_with("student,exercise,verdict,score,correct"), "{csv}");
    assert!(csv.contains("kim,00_vector_add,passed,1.000,1"), "{csv}");
    assert!(csv.contains("nothing,00_vector_add,missing,0.000,"), "{csv}");
    let (_, table, _) = scratch.run(&["grade", "class", "--seed", "12345"]);
    assert!(table.contains("1 of ") && table.contains("linker"), "{table}");
    // A verdict has one name, and the help tells them all.
    let (_, help, _) = scratch.run(&["grade", "--help"]);
    for name in ["passed", "wrong_values", "unreadable", "missing"] {
        assert!(
            table.contains(name) && csv.contains(name) && help.contains(name),
            "{name}: {table}{csv}{help}"
        );
    }
}

#[test]
fn a_submission_that_takes_too_long_is_ended() {
    let scratch = Scratch::new();
    scratch.write("class/slow/00.cu", endless());
    let (code, out, _) = scratch.run(&["grade", "class", "--json", "--limit", "1"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("\"judge_timeout\"") || out.contains("\"timeout\""), "{out}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_submission_that_takes_too_much_memory_costs_its_own_cell() {
    let scratch = Scratch::new();
    scratch.write("class/kim/00.cu", right());
    let greedy = right().replace("__global__", "__device__ int pile[1 << 28];\n__global__");
    scratch.write("class/greedy/00.cu", greedy.replace("if (i < n)", "pile[i] = i; if (i < n)"));
    let graded = results(&scratch, &["--memory", "1024"]);
    assert_eq!(verdict(&graded, "kim"), "passed");
    assert_eq!(verdict(&graded, "greedy"), "judge_crashed");
    assert!(
        graded.iter().any(|result| result["message"].as_str().is_some_and(|text| text.contains("1024 MiB")))
    );
}

/// Processes that judge files in `folder`'s grader, by what stands on their command lines.
#[cfg(target_os = "linux")]
fn judging(grader: u32) -> Vec<String> {
    let mark = format!("--guard={grader},");
    let lines = std::fs::read_dir("/proc").expect("processes").flatten();
    let lines = lines.filter_map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).ok());
    lines.filter(|line| line.contains(&mark)).collect()
}

/// Ended by a signal, the grader takes its children along, keeps what is done, and goes on next time.
#[cfg(target_os = "linux")]
#[test]
fn a_grader_that_is_ended_leaves_no_children_and_goes_on_next_time() {
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    for (signal, code) in [("-INT", Some(3)), ("-TERM", Some(3)), ("-KILL", None)] {
        let scratch = Scratch::new();
        scratch.write("class/a/00.cu", right());
        scratch.write("class/b/00.cu", endless());
        scratch.write("class/c/00.cu", right());
        let grader = std::process::Command::new(env!("CARGO_BIN_EXE_checker"))
            .args(["grade", "class", "--jobs", "1"])
            .current_dir(scratch.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("started");
        let id = grader.id();
        let deadline = Instant::now() + Duration::from_secs(60);
        let is_at_work =
            || scratch.read_if_any("grades/results.jsonl").contains("\"a\"") && !judging(id).is_empty();
        while !is_at_work() {
            assert!(Instant::now() < deadline, "{signal}: the second submission is never judged");
            std::thread::sleep(Duration::from_millis(20));
        }
        let sent = std::process::Command::new("kill").args([signal, &id.to_string()]).status();
        assert!(sent.expect("kill").success());
        let sent_at = Instant::now();
        let output = grader.wait_with_output().expect("an end");
        assert_eq!(output.status.code(), code, "{signal}");
        if code.is_some() {
            let err = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(err.contains("stopped: 1 of 3 are judged"), "{err}");
        }
        while !judging(id).is_empty() {
            assert!(sent_at.elapsed() < Duration::from_secs(2), "{signal}: a child lives on");
            std::thread::sleep(Duration::from_millis(10));
        }
        let kept = scratch.read("grades/results.jsonl");
        scratch.write("class/b/00.cu", right());
        let all = results(&scratch, &[]);
        assert!(all.iter().all(|result| result["verdict"] == "passed"), "{signal}: {all:?}");
        assert!(
            scratch.read("grades/results.jsonl").starts_with(&kept),
            "{signal}: what was done was done again"
        );
    }
}

#[test]
fn what_cannot_be_graded_is_bad_usage() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.path().join("empty/kim")).expect("created");
    scratch.write("class/kim/00.cu", right());
    for (arguments, phrase) in [
        (&["grade", "nowhere"][..], "nowhere is not a folder"),
        (&["grade", "empty"], "there are no submissions in empty"),
        (&["grade", "class", "--out", "class/out"], "--out must not lie in the folder"),
        (&["grade", "class", "--jobs", "0"], "--jobs"),
        (&["grade", "class", "--memory", "64"], "--memory"),
    ] {
        let (code, _, err) = scratch.run(arguments);
        assert!(err.contains(phrase), "{arguments:?}: {err}");
        assert_eq!(code, 2, "{arguments:?}: {err}");
    }
}
