//! Headers of the host's compiler and of CUDA that NVRTC does not bring, as far as they have a meaning on a device.

/// Included before the first line of every source.
pub(crate) const PRELUDE: &str = "warplings/prelude.h";

const MATH: &str = include_str!("math.h");
const STDDEF: &str = include_str!("stddef.h");
const STDINT: &str = include_str!("stdint.h");
const LIMITS: &str = include_str!("limits.h");
const FLOAT: &str = include_str!("float.h");

/// Name and text of each. NVRTC declares device functions, vector types, `printf`, `assert` and `size_t` by itself, so
/// that nothing is left to say in many of them.
pub(crate) const OWN: &[(&str, &str)] = &[
    (PRELUDE, include_str!("prelude.h")),
    ("cuda_runtime.h", ""),
    ("cuda_runtime_api.h", ""),
    ("cuda.h", ""),
    ("device_launch_parameters.h", ""),
    ("device_functions.h", ""),
    ("device_atomic_functions.h", ""),
    ("vector_types.h", ""),
    ("vector_functions.h", ""),
    ("math_functions.h", ""),
    ("sm_20_intrinsics.h", ""),
    ("sm_30_intrinsics.h", ""),
    ("assert.h", ""),
    ("cassert", ""),
    ("stdio.h", ""),
    ("cstdio", ""),
    ("stdlib.h", ""),
    ("string.h", ""),
    ("cstring", ""),
    ("sys/types.h", ""),
    ("stdbool.h", ""),
    ("math.h", MATH),
    ("stddef.h", STDDEF),
    ("cstddef", STDDEF),
    ("stdint.h", STDINT),
    ("cstdint", STDINT),
    ("limits.h", LIMITS),
    ("climits", LIMITS),
    ("float.h", FLOAT),
    ("cfloat", FLOAT),
    ("cub/cub.cuh", include_str!("cub.cuh")),
];

/// Headers of the C++ library that libcu++ has for devices, with its name for each. Under `std::` it is the same
/// library, as far as code for a device may use it.
pub(crate) const STANDARD: &[(&str, &str)] = &[
    ("algorithm", "cuda/std/__algorithm_"),
    ("array", "cuda/std/array"),
    ("bit", "cuda/std/bit"),
    ("bitset", "cuda/std/bitset"),
    ("cmath", "cuda/std/cmath"),
    ("complex", "cuda/std/complex"),
    ("cstdlib", "cuda/std/cstdlib"),
    ("functional", "cuda/std/functional"),
    ("initializer_list", "cuda/std/initializer_list"),
    ("iterator", "cuda/std/iterator"),
    ("limits", "cuda/std/limits"),
    ("numeric", "cuda/std/numeric"),
    ("optional", "cuda/std/optional"),
    ("ratio", "cuda/std/ratio"),
    ("tuple", "cuda/std/tuple"),
    ("type_traits", "cuda/std/type_traits"),
    ("utility", "cuda/std/utility"),
    ("variant", "cuda/std/variant"),
];

/// Headers of the C++ library that have nothing for a device. Including one is a habit, and no error.
pub(crate) const HOST_ONLY: &[&str] = &[
    "atomic",
    "cerrno",
    "chrono",
    "condition_variable",
    "ctime",
    "deque",
    "exception",
    "filesystem",
    "fstream",
    "future",
    "iomanip",
    "iosfwd",
    "iostream",
    "istream",
    "list",
    "locale",
    "map",
    "memory",
    "mutex",
    "new",
    "ostream",
    "queue",
    "random",
    "regex",
    "set",
    "sstream",
    "stack",
    "stdexcept",
    "string",
    "string_view",
    "sys/time.h",
    "system_error",
    "thread",
    "time.h",
    "typeinfo",
    "unistd.h",
    "unordered_map",
    "unordered_set",
    "vector",
];

/// What a header of [`STANDARD`] is: libcu++'s, whose names are made `std`'s too. A source that never says `std`, as
/// when its host code is left out, needs none of its half a second.
pub(crate) fn standard(name: &str, source_says_std: bool) -> Option<String> {
    let (_, device) = STANDARD.iter().find(|(known, _)| *known == name)?;
    // Functions without `std::` are C's: NVRTC has them.
    let also = if name == "cmath" { "#include \"math.h\"\n" } else { "" };
    Some(if source_says_std {
        format!("#pragma once\n{also}#include <{device}>\nnamespace std {{ using namespace ::cuda::std; }}\n")
    } else {
        format!("#pragma once\n{also}")
    })
}

/// The header that declares `std::NAME` for devices, of the names that people miss most.
pub(crate) fn header_of(name: &str) -> Option<&'static str> {
    let names: [(&str, &[&str]); 8] = [
        ("algorithm", &["min", "max", "clamp", "swap", "sort", "fill", "copy", "lower_bound", "upper_bound"]),
        (
            "cmath",
            &[
                "sqrt", "abs", "fabs", "exp", "log", "pow", "sin", "cos", "tanh", "floor", "ceil", "fmax",
                "isnan",
            ],
        ),
        (
            "cstdint",
            &["int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t"],
        ),
        ("limits", &["numeric_limits"]),
        (
            "type_traits",
            &["is_same", "is_same_v", "enable_if", "enable_if_t", "conditional", "conditional_t", "decay_t"],
        ),
        ("utility", &["pair", "make_pair", "declval", "index_sequence", "make_index_sequence", "exchange"]),
        ("array", &["array"]),
        ("tuple", &["tuple", "make_tuple", "tie"]),
    ];
    names.into_iter().find(|(_, all)| all.contains(&name)).map(|(header, _)| header)
}
