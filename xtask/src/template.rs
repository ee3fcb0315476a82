//! The files of a new exercise: vector addition, so that everything compiles and verifies before it is filled in.

use std::path::PathBuf;

use indoc::formatdoc;

/// Each file's path in the workspace, and its text.
pub(crate) fn files(number: u32, name: &str) -> Vec<(PathBuf, String)> {
    let folder = format!("{number:02}_{name}");
    let exercise = |file: &str| PathBuf::from(format!("exercises/{folder}/{file}"));
    vec![
        (exercise("exercise.rs"), description(number, name)),
        (exercise("stub.cu"), kernel(&stub_comment(number, name), STUB_BODY)),
        (exercise("mistakes/nothing.cu"), kernel(MISTAKE_COMMENT, "")),
        (
            PathBuf::from(format!("solutions/{folder}/kernel.cu")),
            kernel(&solution_comment(number, name), SOLUTION_BODY),
        ),
        (PathBuf::from(format!("book/src/exercises/{folder}.md")), chapter(number, name)),
    ]
}

/// `warp_sums` as a title: `Warp sums`.
pub(crate) fn title(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn description(number: u32, name: &str) -> String {
    let title = title(name);
    formatdoc! {r#"
        //! Exercise {number:02}: FILL IN what it is about.

        use exercise::problem::VectorAdd;
        use exercise::{{Case, Exercise}};
        use indoc::indoc;

        exercise::exercise! {{
            /// FILL IN: how the bounds of the requirements follow from what naive and sound kernels do.
            pub const EXERCISE: Exercise = Exercise {{
                number: {number},
                slug: "{name}",
                title: "{title}",
                lesson: "FILL IN what one learns, in one sentence.",
                kernel: "vector_add",
                stub: include_str!("stub.cu"),
                stub_fails: "wrong_values",
                solution: include_str!("../../solutions/{number:02}_{name}/kernel.cu"),
                problem: &VectorAdd,
                cases: &[
                    Case::new([1, 1, 1]),
                    Case::new([255, 1, 1]),
                    Case::new([256, 1, 1]),
                    Case::new([257, 1, 1]),
                    Case::new([1009, 1, 1]),
                ],
                counted: Case::new([4096, 1, 1]),
                requirements: &[],
                not_judged_here: None,
                speed: None,
                hints: [
                    indoc! {{"
                        FILL IN a question that leads to the idea.
                    "}},
                    indoc! {{"
                        FILL IN the idea.
                    "}},
                    indoc! {{"
                        FILL IN the decisive line.
                    "}},
                ],
            }};
        }}
    "#}
}

fn stub_comment(number: u32, name: &str) -> String {
    let title = title(name);
    formatdoc! {"
        // {number:02}  {title}.
        //
        // FILL IN what to do, in a few lines, and not how.
        //
        // More: chapter {number:02} of the book, or `cargo run -p checker -- hint {number:02}`.
    "}
}

fn solution_comment(number: u32, name: &str) -> String {
    let title = title(name);
    formatdoc! {"
        // {number:02}  {title}: the reference solution.
        //
        // FILL IN why it is as it is, at each decisive line.
    "}
}

const STUB_BODY: &str = "    // TODO: FILL IN what is to be done here.\n";
const SOLUTION_BODY: &str = "    if (i < n) c[i] = a[i] + b[i];\n";
const MISTAKE_COMMENT: &str = "// expect: wrong_values\n//\n// FILL IN at least four classic mistakes like this one, each with the verdict it must get.\n";

fn kernel(comment: &str, body: &str) -> String {
    formatdoc! {r#"
        {comment}#include "warplings.cuh"

        LAUNCH(/*block*/ 256, 1, 1, /*work per block*/ 256, 1, 1);

        __global__ void vector_add(const float* a, const float* b, float* c, int n)
        {{
            int i = blockIdx.x * blockDim.x + threadIdx.x;
        {body}}}
    "#}
}

fn chapter(number: u32, name: &str) -> String {
    let (title, folder) = (title(name), format!("{number:02}_{name}"));
    formatdoc! {"
        # {number:02} {title}

        FILL IN the problem, a picture, the idea, what to count, how it goes wrong, what a GPU says.

        ## Where you start

        ```cpp
        {{{{#include ../../../exercises/{folder}/stub.cu}}}}
        ```

        ## A solution

        Try it yourself first: `cargo run -p checker -- hint {number:02}` gives a little at a time.

        <details>
        <summary>Show the reference solution</summary>

        ```cpp
        {{{{#include ../../../solutions/{folder}/kernel.cu}}}}
        ```

        </details>
    "}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_as_an_author_would_write_them() {
        let files = files(13, "warp_sums");
        let text = |end: &str| &files.iter().find(|(path, _)| path.ends_with(end)).expect(end).1;
        assert!(text("stub.cu").contains("// 13  Warp sums.\n"), "{}", text("stub.cu"));
        assert!(
            text("stub.cu").ends_with("threadIdx.x;\n    // TODO: FILL IN what is to be done here.\n}\n")
        );
        assert!(text("mistakes/nothing.cu").starts_with("// expect: wrong_values\n"));
        assert!(files.iter().all(|(_, text)| !text.contains("\n\n\n") && text.ends_with('\n')));
    }
}
