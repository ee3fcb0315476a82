//! What others put in the way: of the compiler, of the terminal, of files and folders.

use serde_json::Value;

use crate::scratch::{Scratch, finish, vector_add};

fn right() -> String {
    vector_add("if (i < n) c[i] = a[i] + b[i];")
}

/// The machine's limits decide nobody's verdict.
#[cfg(target_os = "linux")]
#[test]
fn a_tiny_stack_limit_changes_no_verdict() {
    let scratch = Scratch::new();
    scratch.write("kernel.cu", right());
    scratch.write("class/kim/00.cu", right());
    for arguments in ["00 --file kernel.cu --engine sim --json", "grade class --json"] {
        let mut shell = assert_cmd::Command::new("bash");
        let script = format!("ulimit -s 64; exec {} {arguments}", env!("CARGO_BIN_EXE_checker"));
        let (code, out, err) = finish(shell.current_dir(scratch.path()).args(["-c", &script]));
        assert!(code == 0 && out.contains("\"passed\""), "{arguments}: {out}{err}");
    }
}

/// Less memory than is asked for is the machine's doing, and said before anybody is judged by it.
#[cfg(target_os = "linux")]
#[test]
fn a_shell_with_less_memory_than_asked_for_judges_nobody() {
    let scratch = Scratch::new();
    scratch.write("class/kim/00.cu", right());
    let mut shell = assert_cmd::Command::new("bash");
    let script = format!("ulimit -v 600000; exec {} grade class --json", env!("CARGO_BIN_EXE_checker"));
    let (code, out, err) = finish(shell.current_dir(scratch.path()).args(["-c", &script]));
    // Root may raise its own limits again.
    if out.contains("\"passed\"") {
        eprintln!("skipped: this user may raise limits");
        return;
    }
    assert!(code == 3 && !out.contains("compile_error") && !out.contains("judge_crashed"), "{out}{err}");
}

#[test]
fn a_line_directive_moves_no_fault() {
    let scratch = Scratch::new();
    let wrong = vector_add("#line 900 \"other.cu\"\nc[i] = a[i] + b[i];");
    let line = 1 + wrong.lines().position(|line| line.starts_with("c[i]")).expect("there");
    scratch.write("kernel.cu", wrong);
    let (code, out, err) = scratch.run(&["00", "--file", "kernel.cu", "--engine", "sim", "--json"]);
    assert_eq!(code, 1, "{err}");
    let judged: Value = serde_json::from_str(&out).expect("JSON");
    let faults = judged["cases"].as_array().expect("cases").iter().flat_map(|case| case["faults"].as_array());
    let lines: Vec<_> = faults.flatten().map(|fault| fault["line"].as_u64()).collect();
    assert!(!lines.is_empty() && lines.iter().all(|at| *at == Some(line as u64)), "{lines:?}");
    let (_, shown, _) = scratch.run(&["00", "--file", "kernel.cu", "--engine", "sim"]);
    assert!(shown.contains(&format!("kernel.cu:{line}")) && !shown.contains("other.cu"), "{shown}");
}

/// C++ takes some of these for letters of a name.
#[test]
fn hidden_characters_are_shown_by_number() {
    const HIDDEN: [char; 4] = ['\u{202e}', '\u{200b}', '\u{9b}', '\u{2066}'];
    let scratch = Scratch::new();
    let name = "k\u{202e}ernel\u{9b}2J.cu";
    let source =
        vector_add("// \u{2066}\u{9b}2J\n    int ti\u{202e}le = 0; c[i] = a[i] + b[i] + ti\u{200b}le;");
    scratch.write(name, &source);
    scratch.write("class/k\u{200b}im/00.cu", source);
    for arguments in [
        &["00", "--file", name, "--engine", "sim"][..],
        &["00", "--file", name, "--engine", "sim", "--json"],
        &["run", name, "--grid", "1", "--block", "32"],
        &["run", "no\u{202e}ne.cu", "--grid", "1", "--block", "32"],
        &["grade", "class"],
        &["grade", "class", "--csv"],
        &["grade", "class", "--json"],
    ] {
        let (_, out, err) = scratch.run(arguments);
        let all = out + &err;
        assert!(!all.contains(HIDDEN), "{arguments:?}: {all:?}");
        assert!(all.contains("\\u"), "{arguments:?}: {all}");
    }
}

/// A process that may write nothing stands for a full disk.
#[cfg(target_os = "linux")]
#[test]
fn a_dump_that_fails_leaves_what_was_there() {
    let scratch = Scratch::new();
    scratch.write("kernel.cu", "__global__ void fill(float* x) { x[threadIdx.x] = 1.0f; }");
    scratch.write("out.bin", "mine");
    let dump = "run kernel.cu --grid 1 --block 32 --arg buf:f32:32 --dump 0=out.bin --force";
    let mut shell = assert_cmd::Command::new("bash");
    let script = format!("ulimit -f 0; exec {} {dump}", env!("CARGO_BIN_EXE_checker"));
    let output = shell.current_dir(scratch.path()).args(["-c", &script]).output().expect("started");
    assert!(!output.status.success());
    assert_eq!(scratch.read("out.bin"), "mine");
    let (code, _, err) = scratch.run(&dump.split(' ').collect::<Vec<_>>());
    assert_eq!(code, 0, "{err}");
    assert_eq!(std::fs::read(scratch.path().join("out.bin")).expect("there").len(), 128);
}

/// As somebody may put one into `/tmp`. Only root can make files of another user.
#[cfg(target_os = "linux")]
#[test]
fn a_course_of_another_user_is_not_used() {
    let scratch = Scratch::new();
    let used = |scratch: &Scratch| {
        let (_, out, err) = scratch.run(&["doctor", "--json"]);
        let rows: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
        let course = rows.as_array().expect("rows").iter().find(|row| row["what"] == "course").cloned();
        course.expect("a row")["found"].as_str().expect("text").contains("scratch")
    };
    assert!(used(&scratch));
    if std::os::unix::fs::chown(scratch.path(), Some(12345), None).is_err() {
        eprintln!("skipped: only root can make files of another user");
        return;
    }
    assert!(!used(&scratch));
}
