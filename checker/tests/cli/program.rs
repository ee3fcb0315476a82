//! `checker run` with whole programs: host code beside the kernels, templates, launches to take over.

use serde_json::Value;

use crate::scratch::{Scratch, flat};

/// A program as people paste it.
const SAXPY: &str = r#"#include <iostream>
#include <vector>
#include "helper_cuda.h"
#include <thrust/device_vector.h>

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
#define CHECK(e) do { cudaError_t r = (e); if (r) { std::cerr << cudaGetErrorString(r) << "}"; exit(1); } } while (0)

const int N = 1000;
constexpr int THREADS = 128;
struct Timer { std::string name; ~Timer() { std::cout << name; } };

struct Scale {
    float a;
    Scale(float a) : a(a) { if (a == 0) throw std::runtime_error("zero"); }
    __device__ float operator()(float x) const { return a * x; }
};

template <typename T, int UNROLL>
__global__ void saxpy(int n, Scale scale, const T* x, T* y) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] += scale(x[i]);
}

__global__ void fill(float* y, float value) { y[blockIdx.x * blockDim.x + threadIdx.x] = value; }

int main(int argc, char** argv) {
    Timer timer{"saxpy { \" <<<"};
    float *x, *y;
    CHECK(cudaMalloc(&x, N * sizeof(float)));
    CHECK(cudaMalloc((void**)&y, N * sizeof(float)));
    CHECK(cudaMemcpy(x, std::vector<float>(N, 1.0f).data(), N * 4, cudaMemcpyHostToDevice));
    dim3 block(THREADS);
    fill<<<8, 125>>>(y, 2.5f);
    saxpy<float, 4><<<CEIL_DIV(N, block.x), block>>>(N, Scale(2), x, y);
    saxpy<float, 4><<<argc, block>>>(N, Scale(3), x, y);
    CHECK(cudaDeviceSynchronize());
}
"#;

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("saxpy.cu", SAXPY);
    scratch
}

fn run(scratch: &Scratch, file: &str, more: &[&str]) -> (i32, Value) {
    let (code, out, err) = scratch.run(&[&["run", file, "--json"], more].concat());
    let value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}"));
    (code, value)
}

#[test]
fn launches_are_offered_as_commands() {
    let (code, out, err) = scratch().run(&["run", "saxpy.cu"]);
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    for command in [
        "--kernel fill --grid 8 --block 125 --arg buf:f32:1000 --arg f32:2.5",
        "--kernel 'saxpy<float, 4>' --grid 8 --block 128 --arg i32:1000 --arg i32:VALUE --arg buf:f32:1000:rand",
        "--kernel 'saxpy<float, 4>' --grid X,Y,Z --block 128",
    ] {
        assert!(flat(&err).contains(command), "{command}: {err}");
    }
    assert!(flat(&err).contains("line 34:") && err.contains("line 36:"), "{err}");
}

#[test]
fn an_offered_command_runs_and_host_code_is_set_aside() {
    let scratch = scratch();
    let fill =
        ["--kernel", "fill", "--grid", "8", "--block", "125", "--arg", "buf:f32:1000", "--arg", "f32:2.5"];
    let (code, value) = run(&scratch, "saxpy.cu", &[&fill[..], &["--dump", "0=y.bin"]].concat());
    assert_eq!((code, &value["verdict"]), (0, &"clean".into()), "{value}");
    assert_eq!(
        std::fs::read(scratch.path().join("y.bin")).expect("dumped"),
        2.5_f32.to_le_bytes().repeat(1000)
    );
    let notes = value["notes"].to_string();
    assert!(notes.contains("host code is set aside: `main` (lines 27 to 38); the kernel"), "{notes}");
    assert!(notes.contains("`helper_cuda.h`, `thrust/device_vector.h` are not here"), "{notes}");
}

#[test]
fn lines_stay_where_they_were() {
    let scratch = scratch();
    let saxpy =
        ["--kernel", "fill", "--grid", "9", "--block", "125", "--arg", "buf:f32:1000", "--arg", "f32:0"];
    let (code, value) = run(&scratch, "saxpy.cu", &saxpy);
    assert_eq!((code, &value["faults"][0]["kind"]), (1, &"out_of_bounds".into()), "{value}");
    assert_eq!(value["faults"][0]["line"], 25, "{value}");
}

#[test]
fn templates_that_host_code_launches_are_instantiated() {
    let scratch = Scratch::new();
    scratch.write(
        "two.cu",
        "template <typename T> __global__ void twice(T* x) { x[threadIdx.x] *= T(2); }\n\
         int main() { twice<float><<<1, 32>>>(f); twice<int><<<1, 32>>>(i); }\n",
    );
    let launch = |kernel: &[&str]| {
        let base = ["--grid", "1", "--block", "4", "--arg", "buf:i32:4:iota", "--dump", "0=x.bin", "--force"];
        run_or_usage(&scratch, "two.cu", &[&base[..], kernel].concat())
    };
    let (code, told) = launch(&[]);
    assert_eq!(code, 2);
    assert!(told.contains("`twice<float>(float*)` and `twice<int>(int*)`"), "{told}");
    for name in ["twice<int>", "twice< int >", "twice<int>(int*)"] {
        assert_eq!(launch(&["--kernel", name]).0, 0, "{name}");
        let wanted: Vec<u8> = [0, 2, 4, 6].iter().flat_map(|x: &i32| x.to_le_bytes()).collect();
        assert_eq!(std::fs::read(scratch.path().join("x.bin")).expect("dumped"), wanted, "{name}");
    }
    // One that no host code asks for.
    assert_eq!(launch(&["--kernel", "twice<unsigned>"]).0, 0);
    let (code, told) = launch(&["--kernel", "twice<flaot>"]);
    assert_eq!(code, 1);
    assert!(told.contains("no instance `twice<flaot>`") && told.contains("flaot\\\" is undefined"), "{told}");
}

fn run_or_usage(scratch: &Scratch, file: &str, more: &[&str]) -> (i32, String) {
    let (code, out, err) = scratch.run(&[&["run", file, "--json"], more].concat());
    (code, out + &err)
}

#[test]
fn a_template_that_nothing_instantiates_is_named_with_its_line() {
    let scratch = Scratch::new();
    scratch.write(
        "alone.cu",
        "namespace mine {\ntemplate <typename T>\n__global__ void twice(T* x) { x[0] *= T(2); }\n}\n",
    );
    let (code, out, _) =
        scratch.run(&["run", "alone.cu", "--grid", "1", "--block", "1", "--arg", "buf:f32:1:zero"]);
    assert_eq!(code, 1);
    assert!(flat(&out).contains("`mine::twice` is a template that nothing instantiates"), "{out}");
    assert!(out.contains("--kernel 'twice<float>'") && out.contains("alone.cu:3"), "{out}");
    let named = [
        "run",
        "alone.cu",
        "--grid",
        "1",
        "--block",
        "1",
        "--arg",
        "buf:f32:1:zero",
        "--kernel",
        "twice<float>",
    ];
    assert_eq!(scratch.run(&named).0, 0);
}

#[test]
fn what_a_kernel_needs_of_the_host_is_named_with_its_line() {
    let scratch = Scratch::new();
    scratch.write(
        "missing.cu",
        "float sq(float x) { return x * x; }\nint limit = 4;\n\
         __global__ void k(float* x) { if (threadIdx.x < limit) x[0] = sq(x[0]); }\n",
    );
    let (code, value) =
        run(&scratch, "missing.cu", &["--grid", "1", "--block", "1", "--arg", "buf:f32:1:zero"]);
    assert_eq!(code, 1);
    let told = value["diagnostics"].to_string();
    assert!(told.contains("`sq` is a function of the host (line 1)"), "{told}");
    assert!(told.contains("`limit` is a variable of the host (line 2)"), "{told}");
}

#[test]
fn a_file_without_launches_is_told_what_is_missing() {
    let scratch = Scratch::new();
    scratch.write("k.cu", "__global__ void k() {}\n");
    scratch.write("k.ptx", "");
    for file in ["k.cu", "k.ptx"] {
        let (code, _, err) = scratch.run(&["run", file, "--grid", "1"]);
        assert_eq!(code, 2, "{err}");
        assert!(err.contains("--grid and --block are missing"), "{err}");
    }
}

#[test]
fn odd_programs_are_divided_and_do_not_hang() {
    let scratch = Scratch::new();
    let deep = format!("int main() {{ {}1{}; }}\n", "(".repeat(20_000), ")".repeat(20_000));
    let wide = format!("void f() {{ {} }}\n", "k<<<N, 1>>>();".repeat(2000));
    for (text, code) in [
        ("int main() {\n__global__ void k() {}\n", 1),
        ("#define N N + N\nint main() { k<<<N, N>>>(); }\n__global__ void k() {}\n", 0),
        (&(deep + "__global__ void k() {}\n"), 0),
        (&(wide + "__global__ void k() {}\n"), 0),
        ("}\n", 1),
    ] {
        scratch.write("odd.cu", text);
        let (got, out, err) = scratch.run(&["run", "odd.cu", "--grid", "1", "--block", "1"]);
        assert_eq!(got, code, "{}: {out}{err}", &text[..text.len().min(60)]);
    }
}
