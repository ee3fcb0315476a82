//! `checker run` with arguments, files and kernels that something is wrong with.

use serde_json::Value;

use crate::scratch::{Scratch, flat};

const COPY: &str = "extern \"C\" __global__ void copy(const float* from, float* to, int n)\n\
                    {\n    int i = threadIdx.x;\n    if (i < n) to[i] = from[i];\n}\n";

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("copy.cu", COPY);
    scratch
}

/// The arguments of a good run, followed by `more`.
fn copy<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let good = ["run", "copy.cu", "--grid", "1", "--block", "32"];
    let args = ["--arg", "buf:f32:32:iota", "--arg", "buf:f32:32", "--arg", "i32:32"];
    [&good[..], &args, more].concat()
}

#[track_caller]
fn object(scratch: &Scratch, arguments: &[&str]) -> (i32, Value) {
    let (code, out, err) = scratch.run(&[arguments, &["--json"]].concat());
    let value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}"));
    (code, value)
}

#[test]
fn a_clean_run_has_every_field_and_dumps_what_was_written() {
    let scratch = scratch();
    let (code, value) = object(&scratch, &copy(&["--dump", "1=out.bin"]));
    assert_eq!((code, &value["verdict"]), (0, &"clean".into()), "{value}");
    let keys: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(keys, ["verdict", "faults", "counters", "resources", "seconds"]);
    assert_eq!(value["counters"]["global_load_sectors"], 4);
    assert_eq!(value["counters"]["global_store_bytes"], 128);
    assert!(value["resources"]["registers_per_thread"].as_u64().is_some_and(|registers| registers > 0));
    let dumped = std::fs::read(scratch.path().join("out.bin")).expect("dumped");
    let wanted: Vec<u8> = (0..32).flat_map(|i: i32| (i as f32).to_le_bytes()).collect();
    assert_eq!(dumped, wanted);
}

#[test]
fn a_dump_overwrites_nothing_unless_it_is_told_to() {
    let scratch = scratch();
    scratch.write("precious.bin", "years of work");
    scratch.write("empty.bin", "");
    let (code, _, err) = scratch.run(&copy(&["--dump", "1=precious.bin"]));
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("precious.bin") && err.contains("--force"), "{err}");
    assert_eq!(scratch.read("precious.bin"), "years of work");
    assert_eq!(scratch.run(&copy(&["--dump", "1=empty.bin"])).0, 0);
    assert_eq!(scratch.run(&copy(&["--dump", "1=precious.bin", "--force"])).0, 0);
    assert_eq!(std::fs::metadata(scratch.path().join("precious.bin")).expect("dumped").len(), 128);
}

#[test]
fn what_a_kernel_prints_does_not_steer_the_terminal() {
    let scratch = scratch();
    scratch.write(
        "loud.cu",
        "extern \"C\" __global__ void loud(float* x)\n{\n    printf(\"\\033[2Jgone\\r\\n\\tsecond line\\n\");\n}\n",
    );
    let run = ["run", "loud.cu", "--grid", "1", "--block", "1", "--arg", "buf:f32:1"];
    let (code, out, _) = scratch.run(&run);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("\\u{1b}[2Jgone\\u{d}\n\tsecond line\n") && !out.contains('\u{1b}'), "{out:?}");
    let (_, value) = object(&scratch, &run);
    assert_eq!(value["printed"], "\u{1b}[2Jgone\r\n\tsecond line\n", "programs get what was printed");
}

#[test]
fn the_occupancy_of_a_named_gpu_is_told() {
    let scratch = scratch();
    scratch.write(
        "hungry.cu",
        "extern \"C\" __global__ void hungry(float* to)\n{\n    __shared__ float all[8192];\n    \
         all[threadIdx.x] = 1;\n    __syncthreads();\n    to[threadIdx.x] = all[255 - threadIdx.x];\n}\n",
    );
    let run = ["run", "hungry.cu", "--grid", "1", "--block", "256", "--arg", "buf:f32:256", "--occupancy"];
    // 32 KiB and the KiB that the system keeps: an H100 has room for 6 such blocks, an RTX 3090 for 3; a T4 keeps none.
    for (gpu, blocks, warps, most) in [("H100", 6, 48, 64), ("rtx 3090", 3, 24, 48), ("T4", 2, 16, 32)] {
        let (code, value) = object(&scratch, &[&run[..], &[gpu]].concat());
        assert_eq!(code, 0, "{value}");
        let told = &value["occupancy"];
        assert_eq!(
            (&told["blocks_per_sm"], &told["warps_per_sm"]),
            (&blocks.into(), &warps.into()),
            "{value}"
        );
        assert_eq!((&told["most_warps"], &told["limit"]), (&most.into(), &"shared_memory".into()), "{value}");
    }
    let (_, out, _) = scratch.run(&[&run[..], &["H100"]].concat());
    let sentence = "occupancy on H100 (compute capability 9.0): 6 blocks at a time on an SM, 48 of 64 warps (75 %), \
                    limited by its shared memory";
    assert!(flat(&out).contains(sentence), "{out}");
}

#[test]
fn specs_that_make_no_sense_are_bad_usage() {
    let scratch = scratch();
    for (more, phrase) in [
        (&["--arg", "f33:1"][..], "`f33` is not a type of argument"),
        (&["--arg", "i32:one"], "`one` is not a whole number"),
        (&["--arg", "buf:f32:1:@no.bin"], "--arg number 3: no.bin cannot be read"),
        (&["--arg", "buf:f32:1:@copy.cu"], "--arg number 3: copy.cu has "),
        (&["--arg", "buf:f32:1:@."], "--arg number 3: . is not a file"),
        (&["--dump", "1"], "--dump"),
        (&["--dump", "7=x"], "--dump 7: there are only 3 arguments, from 0"),
        (&["--dump", "2=x"], "--dump 2: that argument is a value"),
        (&["--dump", "1=no/such/folder/x"], "--dump 1: no/such/folder/x cannot be written"),
        (&["--dump", "1=exercises"], "--dump 1: exercises cannot be written"),
        (&["--kernel", "paste"], "--kernel: there is no kernel `paste`; the file has `copy`"),
        (&["--arch", "ampere"], "--arch"),
        (&["--occupancy", "GTX 480"], "the occupancy of that GPU is not known; these are: P100, V100, T4,"),
        (&["--occupancy", "A100", "--arch", "sm_90"], "cannot be used with"),
        (&["--fuel", "-1"], "--fuel"),
        (&["--engine", "cloud"], "--engine"),
        (&["--shared", "lots"], "--shared"),
    ] {
        let (code, out, err) = scratch.run(&copy(more));
        assert!(err.contains(phrase), "{more:?}: {err}");
        assert_eq!(code, 2, "{more:?}: {err}");
        assert_eq!(out, "", "{more:?}: nothing runs, so nothing is reported");
    }
    for (grid, block) in [("1x1", "32"), ("1", "-32"), ("", "32"), ("1,1,1,1", "32")] {
        assert_eq!(scratch.run(&["run", "copy.cu", "--grid", grid, "--block", block]).0, 2, "{grid} {block}");
    }
    assert_eq!(scratch.run(&["run", "missing.cu", "--grid", "1", "--block", "1"]).0, 2);
}

#[test]
fn launches_that_no_device_takes_are_launch_errors() {
    let scratch = scratch();
    for (grid, block, phrase) in [
        ("0", "32", "grid"),
        ("1", "64,64", "4096 threads"),
        ("1", "0", "block"),
        ("1,70000", "32", "grid"),
        ("99999999999", "32", "99999999999"),
        ("1", "1,1,128", "block"),
    ] {
        let arguments = ["run", "copy.cu", "--grid", grid, "--block", block];
        let args = ["--arg", "buf:f32:32:iota", "--arg", "buf:f32:32", "--arg", "i32:32"];
        let (code, value) = object(&scratch, &[&arguments[..], &args].concat());
        assert_eq!((code, &value["verdict"]), (1, &"launch_error".into()), "{grid} {block}: {value}");
        assert!(
            value["message"].as_str().is_some_and(|message| message.contains(phrase)),
            "{grid} {block}: {value}"
        );
    }
    let (code, value) = object(&scratch, &copy(&["--shared", "200000"]));
    assert_eq!((code, &value["verdict"]), (1, &"launch_error".into()), "{value}");
    let (code, value) = object(&scratch, &copy(&["--arg", "i32:1"]));
    assert_eq!((code, &value["verdict"]), (1, &"launch_error".into()), "{value}");
    assert!(
        value["message"]
            .as_str()
            .is_some_and(|message| message.contains("takes 3 arguments and was given 4"))
    );
}

#[test]
fn a_name_that_fits_two_kernels_names_both() {
    let scratch = scratch();
    scratch.write(
        "two.cu",
        "template <int N> __global__ void fill(float* x) { x[threadIdx.x] = N; }\n\
         template __global__ void fill<1>(float*);\n\
         template __global__ void fill<2>(float*);\n",
    );
    let run = |more: &[&str]| {
        let base =
            ["run", "two.cu", "--grid", "1", "--block", "1", "--arg", "buf:f32:1", "--dump", "0=x.bin"];
        scratch.run(&[&base[..], more].concat())
    };
    let (code, _, err) = run(&["--kernel", "fill"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("fill<1>") && err.contains("fill<2>"), "{err}");
    let (code, _, err) = run(&[]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("say which one with --kernel"), "{err}");
    let (code, out, _) = run(&["--kernel", "fill<2>"]);
    assert_eq!(code, 0, "{out}");
    assert_eq!(std::fs::read(scratch.path().join("x.bin")).expect("dumped"), 2.0_f32.to_le_bytes());
}

#[test]
fn faults_name_parameters_and_lines_and_dump_all_the_same() {
    let scratch = scratch();
    let run = ["run", "copy.cu", "--grid", "1", "--block", "32", "--dump", "1=out.bin"];
    let args = ["--arg", "buf:f32:32:iota", "--arg", "buf:f32:30", "--arg", "i32:32"];
    let (code, value) = object(&scratch, &[&run[..], &args].concat());
    assert_eq!((code, &value["verdict"]), (1, &"faults".into()), "{value}");
    let fault = &value["faults"][0];
    assert_eq!((&fault["kind"], &fault["severity"]), (&"out_of_bounds".into(), &"error".into()));
    assert_eq!((&fault["line"], &fault["file"], &fault["count"]), (&4.into(), &"copy.cu".into(), &2.into()));
    assert!(fault["message"].as_str().is_some_and(|message| message.contains("`to`")), "{fault}");
    assert_eq!(std::fs::metadata(scratch.path().join("out.bin")).expect("dumped").len(), 120);
}

#[test]
fn checks_and_counters_can_be_left_out() {
    let scratch = scratch();
    scratch.write("racy.cu", "extern \"C\" __global__ void racy(int* x) { x[0] = threadIdx.x; }\n");
    let run = |more: &[&str]| {
        let base = ["run", "racy.cu", "--grid", "1", "--block", "64", "--arg", "buf:i32:1"];
        object(&scratch, &[&base[..], more].concat()).1
    };
    let checked = run(&[]);
    assert_eq!(
        (&checked["verdict"], &checked["faults"][0]["kind"]),
        (&"faults".into(), &"race".into()),
        "{checked}"
    );
    let unchecked = run(&["--no-checks"]);
    assert_eq!(unchecked["verdict"], "clean", "{unchecked}");
    assert_eq!(unchecked["counters"]["global_store_requests"], 2);
    assert_eq!(run(&["--no-checks", "--no-counters"])["counters"]["global_store_requests"], 0);
}

#[test]
fn fuel_runs_out_as_a_timeout() {
    let scratch = scratch();
    scratch.write(
        "spin.cu",
        "extern \"C\" __global__ void spin(volatile int* x) {\n    while (*x == 0) { }\n}\n",
    );
    let run =
        ["run", "spin.cu", "--grid", "1", "--block", "32", "--arg", "buf:i32:1:zero", "--fuel", "100000"];
    let (code, value) = object(&scratch, &run);
    assert_eq!((code, &value["verdict"]), (1, &"timeout".into()), "{value}");
    assert_eq!(
        (&value["faults"][0]["kind"], &value["faults"][0]["line"]),
        (&"timeout".into(), &2.into()),
        "{value}"
    );
}

const PTX: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry store(.param .u64 p)\n{\n\
    .reg .b64 %rd<3>;\n.reg .b32 %r<2>;\nld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;\n\
    mov.u32 %r1, 7;\nst.global.u32 [%rd2+OFFSET], %r1;\nret;\n}\n";

#[test]
fn ptx_runs_without_a_compiler_and_counts_its_own_lines() {
    let scratch = scratch();
    scratch.write("store.ptx", PTX.replace("OFFSET", "4"));
    let arguments = ["run", "store.ptx", "--grid", "1", "--block", "1", "--arg", "buf:u32:1", "--json"];
    let (code, out, err) =
        crate::scratch::finish(scratch.checker(&arguments).env("WARPLINGS_NVRTC", "/nowhere"));
    assert_eq!(code, 1, "{out}{err}");
    let value: Value = serde_json::from_str(&out).expect("JSON");
    let fault = &value["faults"][0];
    assert_eq!((&fault["kind"], &fault["line"]), (&"out_of_bounds".into(), &11.into()), "{value}");
    assert!(fault["message"].as_str().is_some_and(|message| message.contains("argument 0")), "{fault}");
    assert_eq!(value["resources"]["registers_per_thread"], 0);
}

#[test]
fn ptx_that_is_broken_unknown_or_too_new_is_told_as_such() {
    let scratch = scratch();
    let run = |text: &str| {
        scratch.write("x.ptx", text);
        object(&scratch, &["run", "x.ptx", "--grid", "1", "--block", "1", "--arg", "buf:u32:2"])
    };
    let good = PTX.replace("OFFSET", "4");
    assert_eq!(run(&good).0, 0);
    let (code, value) = run(&good.replace("ret;", "ret"));
    assert_eq!((code, &value["verdict"]), (1, &"compile_error".into()), "{value}");
    let (code, value) = run(&good.replace("mov.u32 %r1, 7;", "frobnicate.u32 %r1, 7;"));
    assert_eq!((code, &value["verdict"]), (3, &"unsupported".into()), "{value}");
    assert!(
        value["message"].as_str().is_some_and(|m| m.contains("frobnicate") && m.contains("line 10")),
        "{value}"
    );
    let (code, value) = run(&good.replace(".version 8.0", ".version 42.0"));
    assert_eq!((code, &value["verdict"]), (3, &"unsupported".into()), "{value}");
    assert!(value["message"].as_str().is_some_and(|message| message.contains("42.0")), "{value}");
}

#[test]
fn a_gpu_is_used_or_refused_plainly() {
    let scratch = scratch();
    let (code, _, err) = scratch.run(&copy(&["--engine", "gpu"]));
    if scratch.run(&["doctor", "--json"]).1.contains("compute capability") {
        assert_eq!(code, 0, "there is a GPU: {err}");
        return;
    }
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("driver") || err.contains("GPU"), "{err}");
}
