//! The commands of a learner's day: solution, watch, look, roofline; and what may be wrong with the folder.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::scratch::{Scratch, vector_add};

const KERNEL: &str = "exercises/00_vector_add/kernel.cu";

fn right() -> String {
    vector_add("if (i < n) c[i] = a[i] + b[i];")
}

#[test]
fn the_solution_comes_after_the_pass() {
    let scratch = Scratch::new();
    let (code, out, _) = scratch.run(&["solution", "00"]);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("has not passed yet") && !out.contains("__global__"), "{out}");
    let (code, forced, _) = scratch.run(&["solution", "00", "--force"]);
    assert_eq!(code, 0);
    scratch.write(KERNEL, right());
    assert_eq!(scratch.run(&["00", "--engine", "sim"]).0, 0);
    // A pass is a pass, whatever is tried next.
    scratch.write(KERNEL, vector_add("c[i] = 0;"));
    let (code, out, _) = scratch.run(&["solution", "00"]);
    assert_eq!(code, 0);
    assert!(out.starts_with("// solutions/00_vector_add/kernel.cu\n") && out.contains("__global__"), "{out}");
    assert_eq!(out, forced);
}

/// Ends a child even if the test fails.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn watch_judges_what_is_saved_and_needs_no_terminal() {
    let scratch = Scratch::new();
    let log = scratch.write("log.txt", "");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_checker"));
    command
        .args(["watch", "00", "--engine", "sim"])
        .current_dir(scratch.path())
        .env_remove("CARGO")
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .stdout(std::fs::File::create(&log).expect("a file"));
    let _child = Ended(command.spawn().expect("started"));
    let until = |phrase: &str, count: usize| {
        let deadline = Instant::now() + Duration::from_secs(60);
        while scratch.read("log.txt").matches(phrase).count() < count {
            assert!(Instant::now() < deadline, "no {count}. `{phrase}` in:\n{}", scratch.read("log.txt"));
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    until("so there are no keys", 1);
    assert!(scratch.read("log.txt").contains("was just made for you"));
    scratch.write(KERNEL, right());
    until("so there are no keys", 2);
    until("passed", 1);
    // Saved again without a change: nothing happens. Then a change.
    scratch.write(KERNEL, right());
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!(scratch.read("log.txt").matches("so there are no keys").count(), 2);
    std::fs::remove_file(scratch.path().join(KERNEL)).expect("removed");
    until("so there are no keys", 3);
    scratch.write(KERNEL, vector_add("c[i] = a[i] + d;"));
    until("does not compile", 1);
}

/// While it waits for keys the terminal is raw; whoever ends it from outside gets back a terminal as it was.
#[cfg(target_os = "linux")]
#[test]
fn watch_gives_the_terminal_back_when_it_is_ended() {
    use std::os::unix::process::ExitStatusExt;

    use rustix::fs::{Mode, OFlags};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::{LocalModes, tcgetattr};

    for (name, signal) in [("-TERM", 15), ("-HUP", 1), ("-INT", 2)] {
        let scratch = Scratch::new();
        let log = scratch.write("log.txt", "");
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&controller).expect("granted");
        unlockpt(&controller).expect("unlocked");
        let path = ptsname(&controller, Vec::new()).expect("a name");
        let terminal = rustix::fs::open(path, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).expect("opened");
        let modes = || tcgetattr(&terminal).expect("modes").local_modes;
        let before = modes();
        assert!(before.contains(LocalModes::ICANON));
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_checker"));
        command
            .args(["watch", "00", "--engine", "sim"])
            .current_dir(scratch.path())
            .stdin(terminal.try_clone().expect("a copy"))
            .stdout(std::fs::File::create(&log).expect("a file"));
        let mut watch = Ended(command.spawn().expect("started"));
        let deadline = Instant::now() + Duration::from_secs(60);
        while modes().contains(LocalModes::ICANON) {
            assert!(Instant::now() < deadline, "it never listens to keys:\n{}", scratch.read("log.txt"));
            std::thread::sleep(Duration::from_millis(20));
        }
        let sent = std::process::Command::new("kill").args([name, &watch.0.id().to_string()]).status();
        assert!(sent.expect("kill").success());
        assert_eq!(watch.0.wait().expect("an end").signal(), Some(signal));
        assert_eq!(modes(), before, "{name}");
    }
}

#[test]
fn look_shows_the_conflicts_beside_the_reference() {
    let scratch = Scratch::new();
    let json =
        |arguments: &[&str]| -> Value { serde_json::from_str(&scratch.run(arguments).1).expect("JSON") };
    let looked = json(&["look", "06", "--json"]);
    assert_eq!(looked["shared"]["yours"]["wavefronts"], 32, "{looked}");
    assert_eq!(looked["shared"]["reference"]["wavefronts"], 1);
    assert_eq!(looked["shared"]["yours"]["object"], "tile");
    assert_eq!(looked["global"]["yours"]["sectors"], 4);
    let (code, out, _) = scratch.run(&["look", "05", "--svg", "look.svg"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("32 sectors, 1024 bytes for 128 bytes"), "{out}");
    assert!(out.contains("|0.......|") && out.contains("|v.......|"), "{out}");
    assert!(out.contains("|01234567|"), "the reference's side: {out}");
    let svg = scratch.read("look.svg");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && svg.matches("<rect").count() > 256);
    scratch.write("look.svg", "mine");
    let (code, _, err) = scratch.run(&["look", "05", "--svg", "look.svg"]);
    assert!(code == 2 && err.contains("look.svg exists; --force replaces it"), "{err}");
    assert_eq!(scratch.read("look.svg"), "mine");
    assert_eq!(scratch.run(&["look", "05", "--svg", "look.svg", "--force"]).0, 0);
    assert_eq!(scratch.read("look.svg"), svg);
}

#[test]
fn look_shows_where_a_blocks_work_lies() {
    let scratch = Scratch::new();
    let (code, out, err) = scratch.run(&["look", "05", "--block", "1,2", "--svg", "look.svg"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("work of block (1, 2, 0)") && out.contains("12 x 8 x 1 blocks"), "{out}");
    assert!(out.contains("rows 32 to 63, columns 64 to 95"), "{out}");
    // The stub's warps write down columns, the reference's along rows; thread 0 comes back every eight.
    let rows: Vec<&str> = out.lines().filter(|line| line.trim_start().starts_with("32 |")).collect();
    let (stub, reference) = ("@1234567".repeat(4), format!("@{}", "0".repeat(31)));
    assert!(rows.iter().any(|row| row.contains(&stub) && row.contains(&reference)), "{out}");
    assert!(scratch.read("look.svg").contains("work of block (1, 2, 0)"));

    let (_, out, _) = scratch.run(&["look", "02", "--json"]);
    let looked: Value = serde_json::from_str(&out).expect("JSON");
    let reads = |who: &str| {
        let buffer = &looked["block"][who]["buffers"][0];
        assert_eq!(buffer["name"], "A");
        buffer["reads"]["times"].as_u64().expect("a number")
            / buffer["reads"]["elements"].as_u64().expect("a number")
    };
    assert_eq!(reads("reference"), 1, "a tile is loaded once: {looked}");
    assert!(reads("yours") >= 16, "and by the stub once for each column: {looked}");

    for beyond in ["12", "11,8", "0,0,1"] {
        let (code, out, err) = scratch.run(&["look", "05", "--block", beyond, "--json"]);
        assert!(code == 2 && out.is_empty(), "{out}");
        assert!(err.contains("12 x 8 x 1 blocks") && err.contains("the last one is 11,7,0"), "{err}");
    }
    assert_eq!(scratch.run(&["look", "05", "--block", "a"]).0, 2);
}

#[test]
fn look_says_why_there_is_nothing_to_draw() {
    let scratch = Scratch::new();
    scratch.write("kernel.cu", vector_add("c[i] = d;"));
    let (code, out, _) = scratch.run(&["look", "00", "--file", "kernel.cu"]);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("identifier \"d\" is undefined") && out.contains("nothing to draw"), "{out}");
}

#[test]
fn roofline_places_yours_and_the_reference() {
    let scratch = Scratch::new();
    let (code, _, err) = scratch.run(&["roofline"]);
    assert!(code == 2 && err.contains("no kernel of yours"), "{err}");
    scratch.write(
        "exercises/02_matmul_tiled/kernel.cu",
        include_str!("../../../exercises/02_matmul_tiled/stub.cu"),
    );
    let (code, out, _) = scratch.run(&["roofline", "02", "--gpu", "a100", "--svg", "roof.svg", "--json"]);
    assert_eq!(code, 0, "{out}");
    let placed: Value = serde_json::from_str(&out).expect("JSON");
    let (yours, reference) = (&placed["kernels"][0], &placed["kernels"][1]);
    assert_eq!((&yours["is_reference"], &reference["is_reference"]), (&false.into(), &true.into()));
    let intensity = |kernel: &Value| kernel["intensity"].as_f64().expect("a number");
    assert!(intensity(reference) > 2.0 * intensity(yours), "{out}");
    let roof = reference["roof_flops_per_second"].as_f64().expect("a number");
    let allowed = (intensity(reference) * 2.039e12).min(19.5e12);
    assert!((roof / allowed - 1.0).abs() < 1e-9, "{roof} is not {allowed}");
    assert!(scratch.read("roof.svg").contains("NVIDIA A100"));
    let (_, table, _) = scratch.run(&["roofline", "02"]);
    assert!(table.contains("02 matmul_tiled, reference") && table.contains("H200"), "{table}");
    assert_eq!(scratch.run(&["roofline", "--gpu", "abacus"]).0, 2);
}

#[test]
fn a_stub_that_is_gone_and_other_line_ends_are_no_matter() {
    let scratch = Scratch::new();
    // The stub is part of the program: a checkout without it works the same.
    assert!(!scratch.path().join("exercises/00_vector_add/stub.cu").exists());
    assert_eq!(scratch.run(&["00", "--engine", "sim"]).0, 1);
    assert!(scratch.read(KERNEL).contains("TODO"));
    // As an editor on another system saves it; still untouched, and not right either.
    scratch.write(KERNEL, scratch.read(KERNEL).replace('\n', "\r\n"));
    let (_, list, _) = scratch.run(&["list", "--json"]);
    let list: Value = serde_json::from_str(&list).expect("JSON");
    assert_eq!(list[0]["state"], "untouched");
    scratch.write(KERNEL, right().replace('\n', "\r\n"));
    assert_eq!(scratch.run(&["00", "--engine", "sim"]).0, 0);
}

#[test]
fn two_at_a_time_do_not_get_in_each_others_way() {
    let scratch = Scratch::new();
    let judged: Vec<i32> = std::thread::scope(|scope| {
        let start = || scope.spawn(|| scratch.run(&["00", "--engine", "sim"]).0);
        let both = [start(), start()];
        both.map(|thread| thread.join().expect("no panic")).to_vec()
    });
    assert_eq!(judged, [1, 1]);
    let left = std::fs::read_dir(scratch.path().join("exercises/00_vector_add")).expect("a folder").count();
    assert_eq!(left, 1, "no temporary file is left behind");
}

#[cfg(unix)]
#[test]
fn a_checkout_that_cannot_be_written_can_be_judged() {
    use std::os::unix::fs::PermissionsExt;

    let scratch = Scratch::new();
    scratch.write(KERNEL, right());
    let folders = ["exercises/00_vector_add", "exercises", "."];
    let set = |mode| {
        for folder in folders {
            let path = scratch.path().join(folder);
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("changed");
        }
    };
    set(0o555);
    let judged = scratch.run(&["00", "--engine", "sim"]);
    let fresh = scratch.run(&["01", "--engine", "sim"]);
    set(0o755);
    assert_eq!(judged.0, 0, "{judged:?}");
    // Root may write anywhere, so there the second is judged as well.
    assert!(fresh.0 == 1 || (fresh.0 == 3 && fresh.2.contains("cannot be created")), "{fresh:?}");
}
