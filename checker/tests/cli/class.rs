//! A class from download to marks, and whatever may happen to it on the way.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::scratch::{Scratch, flat};

/// The worked class of the book.
pub(crate) fn worked(file: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../book/src/class").join(file).display().to_string()
}

/// Runs the program and expects the exit code 0.
fn done(scratch: &Scratch, arguments: &[&str]) -> String {
    let (code, out, err) = scratch.run(arguments);
    assert_eq!(code, 0, "{arguments:?}: {out}{err}");
    out
}

/// A class of `count` texts, judged by a program that finds the verdict in the text and takes `seconds` for
/// it.
struct StandIn {
    scratch: Scratch,
    program: PathBuf,
}

impl StandIn {
    fn new(count: usize, tasks: usize, seconds: &str) -> StandIn {
        let scratch = Scratch::new();
        for student in 0..count {
            let verdict = ["passed", "too_slow", "wrong_values"][student % 3];
            scratch.write(&format!("in/student{student:03}/05.cu"), format!("{verdict}\n// {student}\n"));
        }
        // The order comes through a pipe, as one line of JSON that begins with the text.
        let script = format!(
            "#!/bin/sh\nsleep {seconds}\nread -r order; order=${{order#*:\\\"}}; verdict=${{order%%\\\\n*}}\n\
             case $verdict in passed) right=right met=true;; too_slow) right=right met=false;;\n\
             *) right=wrong_values met=false;; esac\n\
             echo '{{\"verdict\":\"'$verdict'\",\"seed\":77001,\"cases\":[{{\"verdict\":\"'$right'\"}}],\
             \"requirements\":[{{\"key\":\"sectors\",\"met\":'$met',\"yours\":1.5}}]}}'\n"
        );
        let program = scratch.write("stand-in.sh", script);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("permitted");
        }
        done(&scratch, &["class", "import", "in", "--into", "class"]);
        done(&scratch, &["class", "plan", "class", "--seed", "77001", "--shards", &tasks.to_string()]);
        StandIn { scratch, program }
    }

    fn work_arguments<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let program = self.program.to_str().expect("UTF-8");
        [&["class", "work", "class", "--stand-in", program], more].concat()
    }

    fn work(&self, more: &[&str]) -> (i32, String, String) {
        self.scratch.run(&self.work_arguments(more))
    }

    fn start(&self, more: &[&str]) -> std::process::Child {
        std::process::Command::new(env!("CARGO_BIN_EXE_checker"))
            .args(self.work_arguments(more))
            .current_dir(self.scratch.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("started")
    }

    fn csv(&self) -> String {
        done(&self.scratch, &["class", "collect", "class"])
    }

    fn judged(&self) -> u64 {
        let (_, out, err) = self.scratch.run(&["class", "status", "class", "--json"]);
        let state: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
        state["exercises"]["05_transpose_coalescing"]["judged"].as_u64().expect("a count")
    }

    fn results(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.scratch.path().join("class/results")).expect("results");
        entries.map(|entry| entry.expect("an entry").path()).collect()
    }
}

/// What the marks must be, whatever happened.
fn assert_marks(csv: &str, count: usize) {
    let mut lines = csv.lines();
    let header = "student,name,exercise,verdict,points,raw_score,late_days,late_submission_penalty,score,correct,sectors";
    assert_eq!(lines.next(), Some(header));
    for student in 0..count {
        let end = [
            "passed,1.00,1.00,0,0.00,1.00,1,1",
            "too_slow,1.00,0.50,0,0.00,0.50,1,0",
            "wrong_values,1.00,0.00,0,0.00,0.00,0,0",
        ][student % 3];
        let name = format!("student{student:03}");
        assert_eq!(lines.next(), Some(format!("{name},{name},05_transpose_coalescing,{end}").as_str()));
    }
    assert_eq!(lines.next(), None);
}

#[test]
fn the_worked_class_goes_from_canvas_to_canvas() {
    let scratch = Scratch::new();
    let (zip, gradebook, policy) = (worked("canvas.zip"), worked("gradebook.csv"), worked("policy.toml"));
    let import = ["class", "import", &zip, "--into", "class", "--exercise", "05", "--roster", &gradebook];
    let said = flat(&done(&scratch, &import));
    assert!(said.contains("the class now has 31 students with 31 hand-ins"), "{said}");
    done(&scratch, &["class", "plan", "class", "--seed", "20261130"]);
    let (code, _, err) = scratch.run(&["class", "collect", "class"]);
    assert!(code == 3 && err.contains("nothing was written"), "{err}");
    done(&scratch, &["class", "work", "class"]);
    let marks = ["class", "collect", "class", "--roster", &gradebook, "--policy", &policy];
    let csv = done(&scratch, &marks);
    let of = |id: &str| {
        let row = csv
            .lines()
            .find(|line| line.starts_with(&format!("{id},")))
            .unwrap_or_else(|| panic!("{id}: {csv}"));
        let row = row.split("05_transpose_coalescing,").nth(1).expect("an exercise");
        let cells: Vec<&str> = row.split(',').collect();
        (cells[0].to_owned(), cells[6 - 1].to_owned())
    };
    for (id, verdict, score) in [
        ("101", "passed", "10.00"),
        ("102", "too_slow", "6.67"),
        ("103", "too_slow", "6.67"),
        ("104", "faults", "0.00"),
        ("105", "faults", "0.00"),
        ("106", "wrong_values", "0.00"),
        ("108", "faults", "0.00"),
        ("109", "compile_error", "0.00"),
        ("110", "timeout", "0.00"),
        ("111", "compile_error", "0.00"),
        ("112", "passed", "9.00"),
        ("113", "passed", "10.00"),
        ("114", "passed", "10.00"),
        ("120", "unreadable", "0.00"),
        ("121", "unreadable", "0.00"),
        ("123", "passed", "10.00"),
        ("124", "unreadable", "0.00"),
        ("125", "unreadable", "0.00"),
        ("126", "unreadable", "0.00"),
        ("130", "unreadable", "0.00"),
        ("131", "missing", "0.00"),
        ("999", "passed", "10.00"),
    ] {
        assert_eq!(of(id), (verdict.to_owned(), score.to_owned()), "{id}: {csv}");
    }
    let canvas =
        [&marks[..], &["--format", "canvas", "--title", "Transpose", "--output", "marks.csv"]].concat();
    done(&scratch, &canvas);
    let canvas = scratch.read("marks.csv");
    assert!(
        canvas.starts_with("Student,ID,SIS User ID,SIS Login ID,Section,Transpose (88001)\r\n"),
        "{canvas}"
    );
    assert!(canvas.contains("\"Evans, Ed\",132,s132,login132,GPU 101,EX\r\n"), "{canvas}");
    assert!(!canvas.contains("auditor"), "{canvas}");

    let report = ["class", "report", "class", "--into", "pages", "--roster", &gradebook, "--policy", &policy];
    done(&scratch, &report);
    done(&scratch, &[&report[..], &["--format", "markdown"]].concat());
    let race = scratch.read("pages/students/104/05_transpose_coalescing.html");
    assert!(
        race.contains("race") && race.contains("class=\"here\"") && race.contains("Requirements"),
        "{race}"
    );
    let index = scratch.read("pages/index.md");
    assert!(index.contains("not in the roster") && index.contains("race"), "{index}");
    let mut pages = 0;
    for file in files(&scratch.path().join("pages")) {
        let text = std::fs::read_to_string(&file).expect("a page");
        assert!(!text.contains("20261130") && !text.contains("<script"), "{}", file.display());
        pages += 1;
    }
    assert_eq!(pages, 2 * (33 * 2 + 1));
    let secret = files(&scratch.path().join("class"));
    let leaks = |path: &&PathBuf| {
        std::fs::read_to_string(path).is_ok_and(|text| text.contains("20261130"))
            && !path.ends_with("secret.json")
    };
    assert_eq!(secret.iter().find(leaks), None);

    let said = done(&scratch, &["class", "export", "class"]);
    assert!(said.contains("jplag") && said.contains("dolos"), "{said}");
    assert_eq!(files(&scratch.path().join("similarity/05_transpose_coalescing")).len(), 26);
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn the_worked_class_is_the_same_from_every_system() {
    let scratch = Scratch::new();
    let texts = |zip: &str, folder: &str| -> BTreeSet<(String, String)> {
        done(&scratch, &["class", "import", &worked(zip), "--into", folder, "--exercise", "05"]);
        let class: Value =
            serde_json::from_str(&scratch.read(&format!("{folder}/class.json"))).expect("JSON");
        let handins = class["handins"].as_array().expect("hand-ins").iter();
        // Each system has its own numbers; the last two digits are the student's everywhere.
        let of = |handin: &Value| {
            let id = handin["student"].as_str().expect("an id").to_owned();
            (id[id.len() - 2..].to_owned(), handin["sha256"].to_string())
        };
        handins.map(of).collect()
    };
    let canvas: BTreeSet<_> =
        texts("canvas.zip", "canvas").into_iter().filter(|(id, _)| id != "99").collect();
    assert_eq!(canvas.len(), 30);
    for (zip, folder) in [("gradescope.zip", "gradescope"), ("moodle.zip", "moodle")] {
        assert_eq!(texts(zip, folder), canvas, "{zip}");
    }
    let folders: BTreeSet<_> =
        texts("folders.zip", "folders").into_iter().filter(|(id, _)| !id.starts_with('4')).collect();
    assert_eq!(folders, canvas);
}

#[test]
fn one_worker_many_and_doubled_ones_come_to_the_same_bytes() {
    let class = StandIn::new(30, 4, "0");
    let (code, _, err) = class.work(&[]);
    assert_eq!(code, 0, "{err}");
    let one = class.csv();
    assert_marks(&one, 30);
    std::fs::remove_dir_all(class.scratch.path().join("class/results")).expect("removed");
    // Task 0 twice at the same time, task 2 after that, the others by their variables.
    let mut twins = [class.start(&["--shard", "0"]), class.start(&["--shard", "0"])];
    assert!(twins.iter_mut().all(|twin| twin.wait().expect("an end").success()));
    for (index, variable) in [(1, "SLURM_ARRAY_TASK_ID"), (3, "JOB_COMPLETION_INDEX")] {
        let mut command = class.scratch.checker(&class.work_arguments(&[]));
        let output = command.env(variable, index.to_string()).output().expect("started");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let (code, out, _) = class.scratch.run(&["class", "status", "class"]);
    assert!(code == 3 && out.contains("tasks that are not done: 2"), "{out}");
    assert_eq!(class.work(&["--shard", "2"]).0, 0);
    assert_eq!(class.csv(), one);
    // Lines that were written twice or cut short.
    for path in class.results() {
        let mut bytes = std::fs::read(&path).expect("there");
        bytes.extend(bytes.clone());
        bytes.extend(b"{\"key\":\"00\",\"exer");
        std::fs::write(path, bytes).expect("written");
    }
    assert_eq!(class.csv(), one);
    assert_eq!(class.work(&[]).0, 0);
    assert_eq!(class.csv(), one);
    // The seed is in no file but the one that says so.
    let leaks = |path: &PathBuf| std::fs::read_to_string(path).is_ok_and(|text| text.contains("77001"));
    let with: Vec<PathBuf> = files(&class.scratch.path().join("class")).into_iter().filter(leaks).collect();
    assert_eq!(with, [class.scratch.path().join("class/secret.json")]);
}

#[cfg(target_os = "linux")]
#[test]
fn killed_at_any_time_nothing_is_lost_and_nothing_is_judged_wrong() {
    let class = StandIn::new(120, 1, "0.05");
    let mut judged = 0;
    let mut times = 500_u64;
    for round in 0..20 {
        let mut worker = class.start(&["--jobs", "3"]);
        // Times that differ, and are the same in every run of this test.
        times = times.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis(150 + (times >> 33) % 450));
        worker.kill().expect("killed");
        worker.wait().expect("an end");
        let now = class.judged();
        assert!(now >= judged, "round {round}: {now} of {judged} are left");
        judged = now;
    }
    let (code, _, err) = class.work(&[]);
    assert_eq!(code, 0, "{err}");
    assert_marks(&class.csv(), 120);
    // What was judged was not judged again.
    let lines: usize =
        class.results().iter().map(|path| std::fs::read_to_string(path).expect("text").lines().count()).sum();
    assert!(lines < 120 + 20 * 3 + 20, "{lines} lines");
}

#[cfg(unix)]
#[test]
fn a_full_disk_and_a_folder_that_cannot_be_written_are_said_and_cost_nothing() {
    let class = StandIn::new(12, 1, "0");
    // As a full disk does, the limit cuts a line short and fails.
    let script = "trap '' XFSZ; ulimit -f 1; exec \"$@\"";
    let mut command = std::process::Command::new("sh");
    command
        .args(["-c", script, "sh", env!("CARGO_BIN_EXE_checker")])
        .args(class.work_arguments(&["--jobs", "1"]));
    let output = command.current_dir(class.scratch.path()).output().expect("started");
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{err}");
    assert!(err.contains(".jsonl: "), "{err}");
    let before = class.judged();
    assert!((1..12).contains(&before), "{before}: {err}");
    assert_eq!(class.work(&[]).0, 0);
    assert_marks(&class.csv(), 12);

    std::fs::remove_dir_all(class.scratch.path().join("class/results")).expect("removed");
    class.scratch.write("class/results", "in the way");
    let (code, _, err) = class.work(&[]);
    assert!(code == 3 && err.contains("results"), "{code}: {err}");
}

#[test]
fn a_worker_that_would_judge_differently_refuses() {
    let class = StandIn::new(3, 1, "0");
    let plan = class.scratch.read("class/plan-0001.json");
    let object: Value = serde_json::from_str(&plan).expect("JSON");
    for (field, phrase) in [("compiler", "the compiler is"), ("checker", "the checker (and with it")] {
        let mut other = object.clone();
        other["judge"][field] = "another".into();
        class.scratch.write("class/plan-0001.json", other.to_string());
        let (code, _, err) = class.work(&[]);
        assert!(code == 3 && flat(&err).contains(phrase), "{field}: {err}");
    }
    class.scratch.write("class/plan-0001.json", &plan);
    let secret = class.scratch.read("class/secret.json");
    class.scratch.write("class/secret.json", secret.replacen(|c: char| c.is_ascii_digit(), "f", 1));
    let (code, _, err) = class.work(&[]);
    assert!(code == 3 && err.contains("another secret.json"), "{err}");
    class.scratch.write("class/secret.json", secret);
    let text = files(&class.scratch.path().join("class/input")).remove(0);
    let kept = std::fs::read(&text).expect("there");
    std::fs::write(&text, "passed\n").expect("written");
    let (code, _, err) = class.work(&[]);
    assert!(code == 3 && err.contains("is damaged"), "{err}");
    std::fs::write(&text, kept).expect("written");
    assert_eq!(class.work(&[]).0, 0);
    assert_marks(&class.csv(), 3);
}

#[test]
fn marks_that_would_not_be_fair_are_not_written() {
    let class = StandIn::new(6, 2, "0");
    assert_eq!(class.work(&["--shard", "0"]).0, 0);
    let collect = |more: &[&str]| {
        class.scratch.run(&[&["class", "collect", "class", "--output", "marks.csv"], more].concat())
    };
    let (code, _, err) = collect(&[]);
    assert!(code == 3 && err.contains("no mark: student"), "{err}");
    assert!(!class.scratch.path().join("marks.csv").exists());
    assert_eq!(collect(&["--partial"]).0, 0);
    assert!(class.scratch.read("marks.csv").contains("not_judged,1.00,,0,0.00,,"));
    assert_eq!(class.work(&[]).0, 0);
    assert_eq!(collect(&[]).0, 0);
    // As two kinds of node would leave it.
    for (path, gpu) in class.results().iter().zip(["H200", "A100"]) {
        let text = std::fs::read_to_string(path).expect("there");
        std::fs::write(path, text.replace("\"attempt\"", &format!("\"gpu\":\"{gpu}\",\"attempt\"")))
            .expect("written");
    }
    let (code, _, err) = collect(&[]);
    assert!(code == 3 && err.contains("different GPUs"), "{err}");
    // And as a simulator that contradicts itself.
    let first = &class.results()[0];
    let text = std::fs::read_to_string(first)
        .expect("there")
        .replace("\"gpu\":\"H200\",", "")
        .replace("\"gpu\":\"A100\",", "");
    std::fs::write(
        first,
        text.clone() + &text.replace("passed", "too_slow").replace("wrong_values", "faults"),
    )
    .expect("written");
    let (code, _, err) = collect(&[]);
    assert!(code == 3 && err.contains("alarm: "), "{err}");
}

#[test]
fn what_cannot_be_done_with_a_class_is_said() {
    let class = StandIn::new(2, 1, "0");
    class.scratch.write("no.zip", "no zip");
    class.scratch.write("no-roster.csv", "a,b\n1,2\n");
    class.scratch.write("no-policy.toml", "[point]\n05 = 1\n");
    class.scratch.write("empty/class.json", "{\"version\":1,\"people\":[],\"handins\":[]}");
    for (arguments, code, phrase) in [
        (&["class"][..], 2, "Usage"),
        (&["class", "import", "nowhere.zip", "--into", "x"], 2, "nowhere.zip cannot be imported"),
        (&["class", "import", "no.zip", "--into", "x"], 2, "it is no zip file"),
        (&["class", "import", "in", "--into", "x", "--exercise", "99"], 2, "there is no exercise 99"),
        (&["class", "plan", "in"], 2, "in is no class"),
        (&["class", "plan", "empty"], 2, "there is nothing to judge"),
        (&["class", "plan", "class", "--seed", "5"], 3, "another seed"),
        (&["class", "status", "empty"], 3, "has no plan"),
        (&["class", "work", "class", "--shard", "1"], 2, "has tasks 0 to 0"),
        (&["class", "work", "class", "--plan", "7"], 3, "has no plan 7"),
        (&["class", "collect", "class", "--roster", "no-roster.csv"], 2, "are those of no roster"),
        (&["class", "collect", "class", "--policy", "no-policy.toml"], 2, "unknown field `point`"),
        (&["class", "collect", "class", "--partial", "--format", "canvas"], 2, "its own gradebook export"),
        (&["gradescope", "pack", "--exercise", "99"], 2, "there is no exercise 99"),
    ] {
        let (got, out, err) = class.scratch.run(arguments);
        assert_eq!(got, code, "{arguments:?}: {out}{err}");
        assert!(flat(&err).contains(phrase), "{arguments:?}: {err}");
    }
    assert!(!class.scratch.path().join("x").exists());
}
