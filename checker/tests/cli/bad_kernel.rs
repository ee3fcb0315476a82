//! Kernels that something is wrong with: one clear message each, the right exit code, and nothing lost.

use crate::scratch::{Scratch, flat, vector_add};

/// Judges a kernel and expects an exit code and some phrases in the report.
#[track_caller]
fn rejected(source: impl AsRef<[u8]>, code: i32, phrases: &[&str]) {
    let (got, report) = Scratch::new().judge_vector_add(source);
    for phrase in phrases {
        assert!(flat(&report).contains(&flat(phrase)), "`{phrase}` is missing in:\n{report}");
    }
    assert_eq!(got, code, "{report}");
}

#[test]
fn a_right_kernel_passes() {
    rejected(vector_add("if (i < n) c[i] = a[i] + b[i];"), 0, &["passed"]);
}

#[test]
fn line_ends_of_another_system_do_not_matter() {
    rejected(vector_add("if (i < n) c[i] = a[i] + b[i];").replace('\n', "\r\n"), 0, &["passed"]);
}

#[test]
fn what_does_not_compile_is_shown_once_at_its_line() {
    let source = vector_add("if (i < n) c[i] = a[i] + d[i];");
    let (code, report) = Scratch::new().judge_vector_add(source);
    assert_eq!(code, 1, "{report}");
    assert_eq!(report.matches("identifier \"d\" is undefined").count(), 1, "{report}");
    assert!(report.contains("kernel.cu:6:"), "{report}");
    assert!(report.contains("6 |     if (i < n) c[i] = a[i] + d[i];"), "{report}");
}

#[test]
fn another_name_is_told_with_the_names_there_are() {
    let source = vector_add("c[i] = a[i];").replace("vector_add", "add");
    rejected(
        source,
        1,
        &["there is no kernel `vector_add`; the file has `add(float const*, float const*, float*, int)`"],
    );
    rejected("__device__ int x;\n", 1, &["there is no `__global__` function in the file"]);
}

#[test]
fn a_wrong_parameter_list_is_told_with_the_right_one() {
    let right = "must be declared as `vector_add(const float* a, const float* b, float* c, int n)`";
    let fewer = vector_add("c[i] = a[i];").replace("const float* b, ", "");
    rejected(fewer, 1, &["takes 3 parameters, but 4 are given", right, "kernel.cu:3:"]);
    let double = vector_add("c[i] = a[i];").replace("const float* a", "const double* a");
    rejected(
        double,
        1,
        &["parameter 1 of `vector_add` is `const float*` here and not `const double *`", right],
    );
    let swapped = vector_add("c[0] = a[0];").replace("float* c, int n", "int n, float* c");
    rejected(swapped, 1, &["parameter 3", right]);
}

#[test]
fn a_block_of_64_by_64_is_refused_at_its_line() {
    let source = vector_add("if (i < n) c[i] = a[i] + b[i];").replace("LAUNCH(256, 1,", "LAUNCH(64, 64,");
    rejected(source, 1, &["at most 1,024 threads", "kernel.cu:2:"]);
}

#[test]
fn without_launch_lines_the_launch_is_asked_for() {
    let source = vector_add("c[i] = a[i];").replace("LAUNCH(256, 1, 1, 256, 1, 1);\n", "");
    rejected(source, 1, &["no LAUNCH line", "cannot be launched"]);
}

#[test]
fn sixty_kilobytes_of_static_shared_memory_are_too_many() {
    let source = vector_add(
        "__shared__ float s[15360]; s[threadIdx.x] = i; __syncthreads(); if (i < n) c[i] = s[n & 255] + a[i] + b[i];",
    );
    rejected(source, 1, &["`vector_add` declares 61440 bytes of static shared memory", "49152"]);
}

#[test]
fn an_endless_loop_ends() {
    let source = vector_add("for (int j = 0; j >= 0; j = (j + 1) & 1023) if (i < n) c[i] = a[i] + b[i];");
    rejected(source, 1, &["error[timeout]", "the loop on line 6", "did not finish", "not run"]);
}

#[test]
fn a_write_past_the_end_is_found() {
    rejected(
        vector_add("if (i < n) c[i + 10] = a[i] + b[i];"),
        1,
        &["error[out_of_bounds]", "`c`", "kernel.cu:6:", "written here"],
    );
}

#[test]
fn a_write_to_an_input_is_found() {
    let source = vector_add("if (i < n) { c[i] = a[i] + b[i]; ((float*)a)[i] = 3.0f; }");
    rejected(source, 1, &["error[input_modified]", "wrote to its input `a`"]);
}

#[test]
fn wrong_values_say_which_and_how_many() {
    rejected(
        vector_add("if (i < n) c[i] = a[i] - b[i];"),
        1,
        &["wrong values at n 1: `c[0]` is ", "1 of 1 elements are wrong"],
    );
    rejected(vector_add("if (i < n) c[i] = 0.0f / 0.0f;"), 1, &["`c[0]` is not a number"]);
    rejected(vector_add(""), 1, &["`c[0]` was never written"]);
}

#[test]
fn other_files_are_not_read() {
    for file in ["/etc/passwd", "/proc/self/environ", "../../Cargo.toml"] {
        let (code, report) =
            Scratch::new().judge_vector_add(format!("#include \"{file}\"\n{}", vector_add("")));
        assert_eq!(code, 1, "{report}");
        assert!(report.contains("cannot open source file"), "{report}");
        assert!(
            !report.contains("root:") && !report.contains("HOME=") && !report.contains("[workspace"),
            "{report}"
        );
    }
}

#[test]
fn a_template_bomb_is_put_out() {
    let bomb = "template <int N> struct Bomb { static const int v = Bomb<N + 1>::v + Bomb<N + 2>::v; };\n\
                __global__ void vector_add(float* x) { x[0] = Bomb<0>::v; }\n";
    let (code, report) = Scratch::new().judge_vector_add(bomb);
    assert_eq!(code, 1, "{report}");
    assert!(report.contains("excessive recursion"), "{report}");
    assert!(report.lines().count() < 80, "the report of a bomb is short:\n{report}");
}

#[test]
fn a_file_that_is_no_text_is_told_as_such() {
    rejected(b"// caf\xe9\n", 2, &["is not UTF-8 text: line 1 has the byte 0xe9"]);
    rejected(b"a\0b", 2, &["NUL character in line 1"]);
    rejected(vec![b' '; (1 << 20) + 1], 2, &["more than 1 MiB"]);
}
