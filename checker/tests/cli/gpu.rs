//! GPUs that are not there, or in no state to be used: a driver made in the test says so, the real one has no part in it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::scratch::{Scratch, finish, flat, vector_add};

/// A driver of one GPU with compute capability 8.0, on which all goes well until its memory is asked for; macros say
/// what goes wrong before. Codes are those of `cuda.h`.
const DRIVER: &str = r#"
#include <string.h>
#ifndef INIT
#define INIT 0
#endif
#ifndef VERSION
#define VERSION 12080
#endif
#ifndef COUNT
#define COUNT 1
#endif
#ifndef COUNTING
#define COUNTING 0
#endif
#ifndef OPENING
#define OPENING 0
#endif
#ifndef ALLOCATING
#define ALLOCATING 2
#endif
int cuInit(unsigned flags) { return INIT; }
#ifndef TRUNCATED
int cuDriverGetVersion(int *version) { *version = VERSION; return 0; }
int cuDeviceGetCount(int *count) { *count = COUNT; return COUNTING; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
int cuDeviceGetName(char *name, int size, int device) { strncpy(name, "Fake GPU", size); return 0; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { *bytes = (size_t)8 << 30; return 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    *value = attribute == 75 ? 8 : attribute == 76 ? 0 : 64;
    return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = (void *)8; return OPENING; }
int cuCtxSetCurrent(void *context) { return 0; }
int cuEventCreate(void **event, unsigned flags) { *event = (void *)8; return 0; }
int cuMemGetInfo_v2(size_t *free, size_t *total) { *free = 0; *total = (size_t)8 << 30; return 0; }
int cuMemAlloc_v2(unsigned long long *address, size_t bytes) { return ALLOCATING; }
int cuGetErrorName(int code, const char **name) { *name = "CUDA_ERROR_FAKE"; return 0; }
int cuGetErrorString(int code, const char **text) { *text = "so says the test"; return 0; }
#endif
"#;

/// Makes the driver in a folder of its own; `None`, with a word, where there is no C compiler or no such libraries.
fn driver(scratch: &Scratch, macros: &[&str]) -> Option<PathBuf> {
    if !cfg!(target_os = "linux") {
        eprintln!("skipped: the driver's library has another name here");
        return None;
    }
    let source = scratch.write("driver/driver.c", DRIVER);
    let folder = source.parent()?.to_path_buf();
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-w", "-o"])
        .arg(folder.join("libcuda.so.1"))
        .args(macros.iter().map(|macro_| format!("-D{macro_}")))
        .arg(&source)
        .output();
    match made {
        Ok(made) => {
            assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
            Some(folder)
        }
        Err(error) => {
            eprintln!("skipped: cc does not run: {error}");
            None
        }
    }
}

fn run(scratch: &Scratch, driver: &Path, arguments: &[&str]) -> (i32, String, String) {
    finish(scratch.checker(arguments).env("LD_LIBRARY_PATH", driver).env_remove("CUDA_VISIBLE_DEVICES"))
}

/// With this driver, `--engine gpu` fails with `message` and `auto` judges on warpsim and says why.
#[track_caller]
fn is_no_gpu(macros: &[&str], message: &str, aside: &str) {
    let scratch = Scratch::new();
    let Some(driver) = driver(&scratch, macros) else { return };
    scratch.write("kernel.cu", vector_add("if (i < n) c[i] = a[i] + b[i];"));
    let judge = ["00", "--file", "kernel.cu", "--engine"];

    let (code, out, err) = run(&scratch, &driver, &[&judge[..], &["gpu"]].concat());
    assert_eq!((code, out.as_str()), (3, ""), "{err}");
    assert!(err.contains(message), "{err}");

    let (code, out, err) = run(&scratch, &driver, &[&judge[..], &["auto"]].concat());
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains(&format!("warpsim (simulated on the CPU; {aside}")), "{out}");
    let (_, out, _) = run(&scratch, &driver, &[&judge[..], &["auto", "--json"]].concat());
    let judged: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((&judged["verdict"], &judged["engine"]), (&"passed".into(), &"sim".into()));

    let (code, out, err) = run(&scratch, &driver, &["probe"]);
    assert_eq!((code, out.as_str()), (3, ""), "{err}");
    assert!(err.contains(message), "{err}");
    let (_, out, _) = run(&scratch, &driver, &["doctor"]);
    let row = flat(out.split_once("-    GPU").expect("a row").1);
    assert!(row.contains(message) && row.contains("not needed"), "{row}");
}

#[test]
fn a_driver_without_a_gpu() {
    let none = "the NVIDIA driver sees no GPU (is CUDA_VISIBLE_DEVICES set?)";
    is_no_gpu(&["INIT=100"], none, "there is no GPU here)");
    is_no_gpu(&["COUNT=0"], none, "there is no GPU here)");
    is_no_gpu(&["COUNT=0", "COUNTING=100"], none, "there is no GPU here)");
}

#[test]
fn a_driver_that_is_too_old() {
    let message = "the NVIDIA driver supports CUDA 11.4, and 12.0 is needed; install a newer driver";
    is_no_gpu(&["VERSION=11040"], message, "the GPU cannot be used: the NVIDIA driver supports CUDA 11.4");
    // So old that it lacks what is asked of it.
    is_no_gpu(
        &["TRUNCATED"],
        "Missing symbol cuDriverGetVersion",
        "the GPU cannot be used: the driver could not be used",
    );
}

#[test]
fn a_driver_in_disorder() {
    let halves = "the NVIDIA driver's library and kernel module do not fit together (CUDA_ERROR_FAKE)";
    is_no_gpu(&["INIT=803"], halves, "the GPU cannot be used: the NVIDIA driver's library");
    is_no_gpu(&["INIT=34"], "no NVIDIA driver is installed", "there is no GPU here)");
    let other = "CUDA failed while opening the driver: so says the test (CUDA_ERROR_FAKE)";
    is_no_gpu(&["INIT=999"], other, "the GPU cannot be used: CUDA failed while opening the driver");
    let lost = "CUDA failed while counting GPUs: so says the test (CUDA_ERROR_FAKE)";
    is_no_gpu(&["COUNTING=999"], lost, "the GPU cannot be used: CUDA failed while counting GPUs");
}

/// With a GPU that is there until it is used, `run` fails with `message`, and `auto` keeps to what warpsim has found.
#[track_caller]
fn fails_in_use(macros: &[&str], message: &str) {
    let scratch = Scratch::new();
    let Some(driver) = driver(&scratch, macros) else { return };
    scratch.write("copy.cu", "__global__ void copy(int* out) { out[threadIdx.x] = 1; }\n");
    let arguments =
        ["run", "copy.cu", "--grid", "1", "--block", "32", "--arg", "buf:i32:32", "--engine", "gpu"];
    let (code, out, err) = run(&scratch, &driver, &arguments);
    assert_eq!((code, out.as_str()), (3, ""), "{err}");
    assert!(err.contains(message), "{err}");

    let solution = concat!(env!("CARGO_MANIFEST_DIR"), "/../solutions/01_matmul_naive/kernel.cu");
    let (code, out, err) = run(&scratch, &driver, &["01", "--file", solution, "--engine", "auto", "--json"]);
    assert_eq!(code, 0, "{out}{err}");
    let judged: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((&judged["verdict"], &judged["engine"]), (&"passed".into(), &"sim+gpu".into()));
    let why = judged["not_timed"].as_str().expect("a reason");
    assert!(why.contains(message), "{why}");
    assert!(judged["timing"].is_null());
}

#[test]
fn a_gpu_that_another_program_has_for_itself() {
    fails_in_use(&["OPENING=46"], "the GPU is in use by another program that does not share it");
}

#[test]
fn a_gpu_that_vanishes() {
    fails_in_use(&["OPENING=999"], "CUDA failed while opening the GPU: so says the test (CUDA_ERROR_FAKE)");
    fails_in_use(&["OPENING=100"], "the NVIDIA driver sees no GPU");
}

#[test]
fn a_gpu_without_free_memory() {
    fails_in_use(&[], "the GPU has 0 MiB free and ");
}
