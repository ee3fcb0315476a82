//! The commands of the course, and what becomes of the learner's file.

use serde_json::Value;

use crate::scratch::{Scratch, finish, flat};

const STUB: &str = "exercises/05_transpose_coalescing/kernel.cu";

#[test]
fn the_first_run_makes_the_kernel_and_no_later_one_touches_it() {
    let scratch = Scratch::new();
    let (code, report, _) = scratch.run(&["05"]);
    assert_eq!(code, 1, "{report}");
    assert!(report.contains("which was just made for you"), "{report}");
    assert!(
        report.contains("bytes moved / bytes asked for, stores") && report.contains("not met"),
        "{report}"
    );
    let mine = scratch.read(STUB).replace("TODO", "done");
    scratch.write(STUB, &mine);
    let (_, report, _) = scratch.run(&["transpose"]);
    assert!(!report.contains("just made"), "{report}");
    assert_eq!(scratch.read(STUB), mine);
}

/// Advice is not to ask for what a kernel does already.
#[test]
fn who_has_a_tile_is_not_told_to_make_one() {
    let scratch = Scratch::new();
    let told = |exercise: &str, source: &str| {
        scratch.write("kernel.cu", source);
        let (code, out, _) = scratch.run(&[exercise, "--file", "kernel.cu", "--engine", "sim"]);
        assert_eq!(code, 1, "{out}");
        flat(&out)
    };
    let small = include_str!("../../../solutions/02_matmul_tiled/kernel.cu")
        .replace("#define TILE 32", "#define TILE 4");
    let said = told("02", &small);
    assert!(said.contains("make TILE larger") && !said.contains("Let the block copy a tile"), "{said}");
    let stub = told("02", include_str!("../../../exercises/02_matmul_tiled/stub.cu"));
    assert!(stub.contains("Let the block copy a tile") && !stub.contains("make TILE larger"), "{stub}");
    let kept = include_str!("../../../exercises/05_transpose_coalescing/mistakes/tile_without_exchange.cu");
    let said = told("05", kept);
    assert!(said.contains("There is a tile") && !said.contains("Collect a tile"), "{said}");
}

#[test]
fn reset_keeps_every_former_kernel() {
    let scratch = Scratch::new();
    for text in ["first", "second"] {
        scratch.write(STUB, text);
        let (code, out, _) = scratch.run(&["reset", "05"]);
        assert_eq!(code, 0);
        assert!(out.contains("your kernel is kept in"), "{out}");
    }
    assert_eq!(scratch.read(&format!("{STUB}.1.bak")), "first");
    assert_eq!(scratch.read(&format!("{STUB}.2.bak")), "second");
    let (code, out, _) = scratch.run(&["reset", "5"]);
    assert_eq!(code, 0);
    assert!(out.contains("is the stub already"), "{out}");
}

#[test]
fn progress_follows_the_kernel() {
    let scratch = Scratch::new();
    let right = crate::scratch::vector_add("if (i < n) c[i] = a[i] + b[i];");
    let next = |scratch: &Scratch| -> Value {
        let (code, out, _) = scratch.run(&["status", "--json"]);
        assert_eq!(code, 0);
        serde_json::from_str::<Value>(&out).expect("JSON")["next"].clone()
    };
    assert_eq!(next(&scratch), "00_vector_add");
    scratch.write("exercises/00_vector_add/kernel.cu", right);
    let (code, out, _) = scratch.run(&["0"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("next: go on with 01: checker 01"), "{out}");
    assert_eq!(next(&scratch), "01_matmul_naive");
    let (_, out, _) = scratch.run(&[]);
    assert!(out.contains("1 of "), "{out}");
    // What is tried after a pass takes nothing away.
    scratch.write("exercises/00_vector_add/kernel.cu", crate::scratch::vector_add("c[i] = 0;"));
    assert_ne!(scratch.run(&["0"]).0, 0);
    assert_eq!(next(&scratch), "01_matmul_naive");
    let (_, out, _) = scratch.run(&[]);
    assert!(out.contains("1 of ") && out.contains("passed, edited since"), "{out}");
    let list: Value = serde_json::from_str(&scratch.run(&["list", "--json"]).1).expect("JSON");
    assert_eq!(list[0]["state"], "passed_edited");
    std::fs::remove_dir_all(scratch.path().join(".warplings")).expect("removed");
    assert_eq!(next(&scratch), "00_vector_add", "losing the file only means judging again");
}

#[test]
fn hints_come_one_at_a_time() {
    let scratch = Scratch::new();
    let (code, first, _) = scratch.run(&["hint", "05"]);
    assert_eq!(code, 0);
    assert!(first.contains("hint 1 of 3") && first.contains("more help: checker hint 05 2"), "{first}");
    let (_, last, _) = scratch.run(&["hint", "05", "3"]);
    assert!(last.contains("hint 3 of 3") && !last.contains("more help"), "{last}");
    let (_, all, _) = scratch.run(&["hint", "05", "--all"]);
    assert!((1..=3).all(|number| all.contains(&format!("hint {number} of 3"))), "{all}");
    assert_eq!(scratch.run(&["hint", "05", "4"]).0, 2);
}

#[test]
fn what_is_no_exercise_is_bad_usage() {
    let scratch = Scratch::new();
    for (arguments, phrase) in [
        (&["99"][..], "there is no exercise 99; there are 00, 01"),
        (&["reset", "99"], "there is no exercise 99"),
        (&["hint", "nothing_like_it"], "is neither a command nor an exercise"),
        (&["matmul"], "`matmul` fits 01_matmul_naive, 02_matmul_tiled"),
        (&["05", "--file", "missing.cu"], "missing.cu does not exist"),
        (&["05", "--file", "exercises"], "is a folder"),
        (&["05", "--seed", "x"], "--seed"),
        (&["--json", "--frobnicate"], "--frobnicate"),
    ] {
        let (code, _, err) = scratch.run(arguments);
        assert!(err.contains(phrase), "{arguments:?}: {err}");
        assert_eq!(code, 2, "{arguments:?}: {err}");
    }
}

#[test]
fn a_folder_in_the_place_of_the_kernel_is_no_panic() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.path().join(STUB)).expect("created");
    let (code, _, err) = scratch.run(&["05"]);
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("is a folder"), "{err}");
    assert_eq!(scratch.run(&["reset", "05"]).0, 3);
}

#[test]
fn a_compiler_that_cannot_be_had_is_told_with_what_helps() {
    let scratch = Scratch::new();
    let nowhere = scratch.path().join("nowhere");
    let (code, _, err) = finish(scratch.checker(&["00"]).env("WARPLINGS_NVRTC", &nowhere));
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("WARPLINGS_NVRTC") && err.contains("libnvrtc.so"), "{err}");
    // The kernel is there all the same, and nothing was written over.
    assert!(scratch.read("exercises/00_vector_add/kernel.cu").contains("TODO"));
    let (code, out, _) = finish(scratch.checker(&["doctor"]).env("WARPLINGS_NVRTC", &nowhere));
    assert_eq!(code, 3, "{out}");
    assert!(out.contains("FAIL NVRTC") && out.contains("WARPLINGS_NVRTC is set"), "{out}");
    assert!(out.contains("or unset it") && !out.contains("fetches it"), "{out}");
}

#[test]
fn outside_of_any_course_it_is_said_which_one_is_used() {
    let scratch = Scratch::new();
    let (_, _, err) = scratch.run(&["list"]);
    assert!(!err.contains("course:"), "{err}");
    let inside = scratch.path().join("exercises");
    assert!(!finish(scratch.checker(&["status"]).current_dir(inside)).2.contains("course:"));
    let elsewhere = tempfile::tempdir().expect("a folder");
    let built_in = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the course").display();
    for arguments in [&["list", "--json"][..], &["status", "--json"], &["hint", "00"]] {
        let (code, out, err) = finish(scratch.checker(arguments).current_dir(elsewhere.path()));
        assert_eq!(code, 0, "{err}");
        let is_said = err.contains("course: ") && err.contains(&built_in.to_string());
        // A hint is the same in every course.
        assert_eq!(is_said, arguments[0] != "hint", "{arguments:?}: {err}");
        assert!(!out.contains("course: "), "{out}");
    }
    let (_, out, _) = finish(scratch.checker(&["doctor"]).current_dir(elsewhere.path()));
    assert!(out.contains("this folder has none"), "{out}");
}

#[test]
fn commands_are_told_as_they_can_be_typed() {
    let scratch = Scratch::new();
    let by_cargo = |arguments: &[&str]| {
        let (_, out, err) = finish(scratch.checker(arguments).env("CARGO", "/usr/bin/cargo"));
        out + &err
    };
    for (arguments, command) in [
        (&["00", "--engine", "sim"][..], "cargo run -q -p checker -- hint 00"),
        (&["hint", "00"], "cargo run -q -p checker -- hint 00 2"),
        (&["solution", "00"], "cargo run -q -p checker -- solution 00 --force"),
        (&["--help"], "cargo run -q -p checker -- <COMMAND>"),
        (&["look", "--help"], "Usage: cargo run -q -p checker -- look"),
        (&["roofline", "--gpu", "this"], "cargo run -q -p checker -- probe"),
    ] {
        let said = by_cargo(arguments);
        // The first run of an exercise names its file; the second one names what helps.
        let said = if said.contains("just made for you") { by_cargo(arguments) } else { said };
        assert!(said.contains(command) || said.contains("measured by"), "{arguments:?}: {said}");
        assert!(!said.contains("`checker"), "{arguments:?}: {said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn without_compiler_and_without_pip_two_commands_are_told() {
    let scratch = Scratch::new();
    let nothing = scratch.path().join("nothing");
    std::fs::create_dir(&nothing).expect("created");
    let bare = |arguments: &[&str]| {
        let mut command = scratch.checker(arguments);
        finish(command.env_clear().env("PATH", &nothing).env("HOME", &nothing).env("NO_COLOR", "1"))
    };
    // A machine that has NVRTC where the system looks for libraries can't show this.
    if bare(&["doctor"]).1.contains("ok   NVRTC") {
        return;
    }
    for arguments in [&["00"][..], &["look", "00"], &["watch", "00"], &["verify", "00"]] {
        let (code, _, err) = bare(arguments);
        assert_eq!(code, 3, "{arguments:?}: {err}");
        assert!(err.contains("neither pip nor uv is installed"), "{arguments:?}: {err}");
        for command in ["sudo apt-get install python3-pip", "export WARPLINGS_NVRTC=/path/to/libnvrtc.so.12"]
        {
            assert_eq!(err.matches(command).count(), 1, "{arguments:?}: {err}");
        }
        // What cannot work without pip is not recommended.
        assert!(!err.contains("python3 -m pip install"), "{arguments:?}: {err}");
        assert_eq!(err.matches("Fetching").count(), 1, "it is said once: {err}");
    }
    let (code, out, _) = bare(&["doctor"]);
    assert!(code == 3 && out.contains("FAIL pip or uv"), "{out}");
    // Nothing half done is left behind.
    let cache = nothing.join(".cache/warplings");
    let left: Vec<_> = std::fs::read_dir(&cache).map(|all| all.flatten().collect()).unwrap_or_default();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn lists_and_judgements_are_json_for_programs() {
    let scratch = Scratch::new();
    let json =
        |arguments: &[&str]| -> Value { serde_json::from_str(&scratch.run(arguments).1).expect("JSON") };
    let list = json(&["list", "--json"]);
    assert_eq!(list[0]["slug"], "vector_add");
    assert_eq!(list[0]["state"], "untouched");
    let judged = json(&["05", "--json", "--engine", "sim"]);
    assert_eq!((&judged["verdict"], &judged["engine"]), (&"too_slow".into(), &"sim".into()));
    let stores =
        judged["requirements"].as_array().expect("rows").iter().find(|row| row["key"] == "store_sectors");
    let stores = stores.expect("the requirement that the stub misses");
    assert_eq!((&stores["yours"], &stores["met"]), (&8.0.into(), &false.into()));
    assert_eq!(stores["reference"], 1.0);
    assert!(stores["needed"]["at_most"].is_f64());
    assert!(
        judged["cases"].as_array().is_some_and(|cases| cases.iter().all(|case| case["verdict"] == "right"))
    );
    assert!(json(&["doctor", "--json"]).as_array().is_some_and(|rows| rows.len() >= 4));
}

#[test]
fn a_seed_changes_the_inputs_and_nothing_else_does() {
    let scratch = Scratch::new();
    let first = |seed: &str| -> Value {
        let (_, out, _) = scratch.run(&["00", "--json", "--seed", seed, "--engine", "sim"]);
        serde_json::from_str::<Value>(&out).expect("JSON")["cases"][0]["wrong"]["first"]["wanted"].clone()
    };
    assert_eq!(first("1"), first("1"));
    assert_ne!(first("1"), first("2"));
}
