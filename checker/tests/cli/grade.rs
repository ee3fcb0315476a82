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
    // Whether the fuel or the clock runs out first depends on the machine. The clock alone decides nobody's mark.
    match code {
        0 => assert!(out.contains("\"timeout\""), "{out}"),
        _ => assert!(out.contains("\"not_judged\"") && out.contains("--limit"), "{out}"),
    }
    assert!(!out.contains("judge_timeout"), "{out}");
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

/// Ends the process that judges for `grader`, as the system does for want of memory; gives up if the grader ends.
#[cfg(target_os = "linux")]
fn end_a_child(grader: &mut std::process::Child) -> bool {
    let mark = format!("--guard={},", grader.id());
    while grader.try_wait().expect("a state").is_none() {
        for entry in std::fs::read_dir("/proc").expect("processes").flatten() {
            let line = std::fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
            if line.contains(&mark) {
                let id = entry.file_name().to_string_lossy().into_owned();
                return std::process::Command::new("kill")
                    .args(["-KILL", &id])
                    .status()
                    .expect("kill")
                    .success();
            }
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    false
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_ended_from_outside_is_tried_once_more_and_never_a_mark() {
    let start = |scratch: &Scratch| {
        std::process::Command::new(env!("CARGO_BIN_EXE_checker"))
            .args(["grade", "class", "--json"])
            .current_dir(scratch.path())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("started")
    };
    for (times, code, expected) in [(1, 0, "passed"), (2, 3, "not_judged")] {
        let scratch = Scratch::new();
        scratch.write("class/kim/00.cu", right());
        let mut grader = start(&scratch);
        for time in 0..times {
            assert!(end_a_child(&mut grader), "attempt {time} was not ended");
        }
        let output = grader.wait_with_output().expect("an end");
        let graded: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(graded["results"][0]["verdict"], expected);
        assert_eq!(output.status.code(), Some(code));
        assert_eq!(scratch.read("grades/results.jsonl").is_empty(), times == 2, "only a verdict is kept");
        assert_eq!(verdict(&results(&scratch, &[]), "kim"), "passed");
    }
}

#[test]
fn the_seed_is_drawn_and_shown_nowhere() {
    let scratch = Scratch::new();
    scratch.write("class/kim/00.cu", vector_add("if (i < n) c[i] = a[i];"));
    let seed_of = |out: &str| {
        let secret: Value = serde_json::from_str(&scratch.read(&format!("{out}/secret.json"))).expect("JSON");
        secret["seed"].as_u64().expect("a seed")
    };
    let (_, first, err) = scratch.run(&["grade", "class", "--json"]);
    let (_, table, _) = scratch.run(&["grade", "class"]);
    let (_, csv, _) = scratch.run(&["grade", "class", "--csv"]);
    let seed = seed_of("grades").to_string();
    for text in [&first, &err, &table, &csv, &scratch.read("grades/results.jsonl")] {
        assert!(!text.contains(&seed), "{text}");
    }
    scratch.run(&["grade", "class", "--out", "other"]);
    assert_ne!(seed_of("other"), seed_of("grades"));
}

/// What a user of the same machine can see of a process while it judges.
#[cfg(target_os = "linux")]
#[test]
fn neither_text_nor_seed_lie_open_while_a_submission_is_judged() {
    let scratch = Scratch::new();
    let temporary = scratch.path().join("tmp");
    std::fs::create_dir(&temporary).expect("created");
    scratch.write("class/kim/00.cu", endless());
    let mut grader = std::process::Command::new(env!("CARGO_BIN_EXE_checker"))
        .args(["grade", "class", "--seed", "987654321012345"])
        .current_dir(scratch.path())
        .env("TMPDIR", &temporary)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("started");
    let mut seen = 0;
    while grader.try_wait().expect("a state").is_none() {
        for line in judging(grader.id()) {
            seen += 1;
            assert!(!line.contains("987654321012345") && !line.contains(".cu"), "{line:?}");
        }
        let left: Vec<_> = std::fs::read_dir(&temporary).expect("a folder").flatten().collect();
        assert!(left.is_empty(), "{left:?}");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert!(seen > 0);
}

#[test]
fn a_roster_gives_no_shows_a_row() {
    let scratch = Scratch::new();
    scratch.write("class/kim/00.cu", right());
    scratch.write("class/stranger/00.cu", right());
    scratch.write("class/readme.txt", "");
    scratch.write("roster.csv", "student,group\nkim,1\n\"lee, j\",2\n");
    let roster = ["--roster", "roster.csv"];
    let (code, out, _) = scratch.run(&[&["grade", "class", "--json"], &roster[..]].concat());
    assert_eq!(code, 0, "{out}");
    let graded: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(graded["students"], serde_json::json!(["kim", "lee, j", "stranger"]));
    assert_eq!(graded["not_on_roster"], serde_json::json!(["stranger"]));
    assert_eq!(graded["left_out"][0]["name"], "readme.txt");
    let (_, csv, _) = scratch.run(&[&["grade", "class", "--csv"], &roster[..]].concat());
    assert!(csv.contains("\"lee, j\",00_vector_add,missing,0.000,"), "{csv}");
    let (_, table, _) = scratch.run(&[&["grade", "class"], &roster[..]].concat());
    assert!(
        table.contains("not on the roster: stranger") && table.contains("left out readme.txt"),
        "{table}"
    );
}

#[test]
fn a_result_that_was_planted_or_changed_is_judged_anew() {
    let scratch = Scratch::new();
    scratch.write("class/kim/00.cu", vector_add("if (i < n) c[i] = a[i];"));
    results(&scratch, &[]);
    let ledger = scratch.read("grades/results.jsonl");
    let changed = ledger.replace("wrong_values", "passed").replace("\"score\":0.0", "\"score\":99.0");
    assert_ne!(changed, ledger);
    scratch.write("grades/results.jsonl", changed);
    let (_, out, err) = scratch.run(&["grade", "class", "--json"]);
    assert!(err.contains("1 line of results.jsonl is not of this run"), "{err}");
    let graded: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(
        (&graded["results"][0]["verdict"], &graded["results"][0]["score"]),
        (&"wrong_values".into(), &0.0.into())
    );
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
    scratch.write("nobody.txt", "\n");
    for (arguments, phrase) in [
        (&["grade", "nowhere"][..], "nowhere is not a folder"),
        (&["grade", "empty"], "there are no submissions in empty"),
        (&["grade", "class", "--out", "class/out"], "--out must not lie in the folder"),
        (&["grade", "class", "--out", "class"], "--out must not lie in the folder"),
        (&["grade", "class", "--out", "empty/../class/new/deeper"], "--out must not lie in the folder"),
        (&["grade", "class", "--roster", "nobody.txt"], "names nobody"),
        (&["grade", "class", "--jobs", "0"], "--jobs"),
        (&["grade", "class", "--memory", "64"], "--memory"),
    ] {
        let (code, _, err) = scratch.run(arguments);
        assert!(err.contains(phrase), "{arguments:?}: {err}");
        assert_eq!(code, 2, "{arguments:?}: {err}");
    }
    let left: Vec<_> = std::fs::read_dir(scratch.path().join("class")).expect("a folder").flatten().collect();
    assert_eq!(left.len(), 1, "what is refused is not created: {left:?}");
}
