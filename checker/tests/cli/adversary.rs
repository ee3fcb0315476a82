//! Submissions that try to pass without doing the work. None may.

use serde_json::Value;

use crate::scratch::{Scratch, flat};

const HEAD: &str = "#include \"warplings.cuh\"\nLAUNCH(32, 8, 1, 32, 8, 1);\n";
const TRANSPOSE: &str = "__global__ void transpose(const float* in, float* out, int rows, int cols)\n{\n    \
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;\n    \
    if (row >= rows || col >= cols) return;\n";
const MATMUL: &str = "__global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K)\n{\n    \
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;\n    \
    if (row >= M || col >= N) return;\n";

/// Judges a kernel; gives back its verdict.
#[track_caller]
fn verdict(exercise: &str, globals: &str, head: &str, body: &str) -> String {
    let scratch = Scratch::new();
    scratch.write("kernel.cu", format!("{HEAD}{globals}{head}    {body}\n}}\n"));
    let (code, out, err) = scratch.run(&[exercise, "--file", "kernel.cu", "--engine", "sim", "--json"]);
    assert_eq!(code, 1, "{out}{err}");
    let judged: Value = serde_json::from_str(&out).expect("JSON");
    judged["verdict"].as_str().expect("a verdict").to_owned()
}

#[track_caller]
fn transpose(globals: &str, body: &str) -> String {
    verdict("05", globals, TRANSPOSE, body)
}

#[test]
fn made_up_values_are_wrong() {
    for body in [
        "out[col * rows + row] = 0.0f;",
        "out[col * rows + row] = 0.5f;",
        "out[row * cols + col] = in[row * cols + col];",
        "out[col * rows + row] = __int_as_float(0x7fc00000);",
        "out[col * rows + row] = __int_as_float(0x7f800000);",
        "",
    ] {
        assert_eq!(transpose("", body), "wrong_values", "{body}");
    }
}

#[test]
fn the_answer_for_one_size_is_none() {
    let of_one =
        "if (rows == 32 && cols == 32) out[col * rows + row] = in[row * cols + col]; else out[0] = in[0];";
    assert_eq!(transpose("", of_one), "wrong_values");
}

#[test]
fn half_precision_is_not_precise_enough() {
    let globals = "static __device__ float half_of(float x) { unsigned u = __float_as_uint(x); \
                   return __uint_as_float((u + 0x1000u) & 0xffffe000u); }\n";
    let body = "float sum = 0.0f;\n    \
                for (int k = 0; k < K; ++k) sum += half_of(A[row * K + k]) * half_of(B[k * N + col]);\n    \
                C[row * N + col] = sum;";
    assert_eq!(verdict("01", globals, MATMUL, body), "wrong_values");
}

#[test]
fn inputs_stay_as_they_are() {
    let body = "out[col * rows + row] = in[row * cols + col]; ((float*)in)[row * cols + col] = 0.0f;";
    assert_eq!(transpose("", body), "faults");
}

#[test]
fn what_lies_behind_a_buffer_is_not_to_be_had() {
    // Expected values might lie in another allocation; the whole neighbourhood is out of bounds.
    for reach in ["rows * cols", "1 << 20", "(1ll << 34)", "(1ll << 32)", "-1 - "] {
        let body = format!("out[col * rows + row] = in[{reach} + row * cols + col];");
        assert_eq!(transpose("", &body), "faults", "{reach}");
    }
    assert_eq!(transpose("", "out[col * rows + row] = *(float*)(8 + row * 8);"), "faults");
}

#[test]
fn nothing_is_left_from_an_earlier_launch() {
    // Answers kept in global variables, by one launch for the next: every case has a fresh module.
    let globals = "__device__ float kept[1 << 17];\n";
    let stale = "out[col * rows + row] = kept[(col * rows + row) & 0x1ffff];\n    \
                 kept[(col * rows + row) & 0x1ffff] = in[row * cols + col];";
    assert_eq!(transpose(globals, stale), "wrong_values");
}

/// Judges a transpose that must be at fault; gives back what is said of it.
#[track_caller]
fn faults(globals: &str, body: &str) -> String {
    let scratch = Scratch::new();
    scratch.write("kernel.cu", format!("{HEAD}{globals}{TRANSPOSE}    {body}\n}}\n"));
    let (code, out, err) = scratch.run(&["05", "--file", "kernel.cu", "--engine", "sim"]);
    assert_eq!(code, 1, "{out}{err}");
    out
}

#[test]
fn a_kernel_works_on_its_second_launch_too() {
    let transposed = "out[col * rows + row] = in[row * cols + col];";
    // Only the first launch works.
    let lazy = format!(
        "if (launches == 0) {transposed}\n    __threadfence(); if (atomicAdd(&threads, 1) == rows * cols - 1) launches = 1;"
    );
    let said = flat(&faults("__device__ int launches, threads;\n", &lazy));
    assert!(said.contains("launched again on the same inputs the kernel"), "{said}");
    assert!(
        said.contains("in `launches`")
            || said.contains("`threads`, `launches`")
            || said.contains("`launches`, `threads`"),
        "{said}"
    );
    // A counter of threads that is never put back.
    let counted = format!("if (atomicAdd(&arrived, 1) < rows * cols) {transposed}");
    let dirty = flat(&faults("__device__ int arrived;\n", &counted));
    assert!(dirty.contains("what the first launch left in `arrived`; put that back"), "{dirty}");
}

#[test]
fn a_kernel_that_puts_its_counter_back_is_right() {
    // `atomicInc` wraps to 0 after the last thread.
    let body = "if (atomicInc(&arrived, rows * cols - 1) < rows * cols) out[col * rows + row] = in[row * cols + col];";
    assert_eq!(transpose("__device__ unsigned arrived;\n", body), "too_slow");
    // A counter of launches does no harm.
    let body = "out[col * rows + row] = in[row * cols + col]; if (row + col == 0) launches++;";
    assert_eq!(transpose("__device__ int launches;\n", body), "too_slow");
}

#[test]
fn an_output_is_not_there_before_it_is_written() {
    assert_ne!(transpose("", "out[col * rows + row] = out[col * rows + row];"), "passed");
    // Every second element only: what an earlier case left in the others does not count.
    let body = "if ((row + col) % 2 == 0) out[col * rows + row] = in[row * cols + col];";
    assert_eq!(transpose("", body), "wrong_values");
}

#[test]
fn the_checks_cannot_be_turned_off_from_within() {
    let scratch = Scratch::new();
    let attempts = [
        "#define LAUNCH(...)\n",
        "extern \"C\" __constant__ const int warplings_launch_1[] = {1, 1, 1, 1, 1, 1, 0};\n",
        "#pragma nv_diag_suppress 20012\n#error stopped\n",
    ];
    for attempt in attempts {
        scratch.write("kernel.cu", format!("{HEAD}{attempt}{TRANSPOSE}    out[0] = in[0];\n}}\n"));
        let (code, out, err) = scratch.run(&["05", "--file", "kernel.cu", "--engine", "sim"]);
        assert_eq!(code, 1, "{out}{err}");
    }
}
