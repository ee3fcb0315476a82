//! Headers that learners' kernels include and NVRTC does not have.
//!
//! NVRTC defines device functions, vector types, `printf`, `assert` and `size_t` by itself, so most of these are
//! empty: `nvcc` users write `#include <cuda_runtime.h>` out of habit, and a habit is no error.

/// Name and text of each.
pub(super) const OWN: &[(&str, &str)] = &[
    ("cuda_runtime.h", ""),
    ("cuda_runtime_api.h", ""),
    ("cuda.h", ""),
    ("device_launch_parameters.h", ""),
    ("device_functions.h", ""),
    ("vector_types.h", ""),
    ("vector_functions.h", ""),
    ("sm_20_intrinsics.h", ""),
    ("assert.h", ""),
    ("cassert", ""),
    ("stdio.h", ""),
    ("cstdio", ""),
    ("stdlib.h", ""),
    ("cstdlib", ""),
    ("string.h", ""),
    ("cstring", ""),
    ("iostream", ""),
    ("math.h", MATH),
    ("cmath", MATH),
    ("stddef.h", STDDEF),
    ("cstddef", STDDEF),
    ("stdint.h", STDINT),
    ("cstdint", STDINT),
    ("limits.h", LIMITS),
    ("climits", LIMITS),
    ("float.h", FLOAT),
    ("cfloat", FLOAT),
];

const MATH: &str = include_str!("header/math.h");
const STDDEF: &str = include_str!("header/stddef.h");
const STDINT: &str = include_str!("header/stdint.h");
const LIMITS: &str = include_str!("header/limits.h");
const FLOAT: &str = include_str!("header/float.h");

/// The name in an `#include "name"` or `#include <name>` line.
pub(super) fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
    let close = match rest.chars().next()? {
        '"' => '"',
        '<' => '>',
        _ => return None,
    };
    rest[1..].split_once(close).map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn include_lines_are_recognised() {
        assert_eq!(included("#include <math.h>"), Some("math.h"));
        assert_eq!(included("  #  include \"a b.h\" // why"), Some("a b.h"));
        for line in [
            "#include",
            "#include MACRO",
            "include <x>",
            "#define include <x>",
            "#include \"x",
            "// #include <x>",
        ] {
            assert_eq!(included(line), None, "{line}");
        }
    }
}
