//! What is said of headers and names that a kernel asks for and that are not here.

use crate::nvrtc::header;

/// Of a file that is none of CUDA's.
pub(super) const OTHER: &str =
    "CUDA's headers for devices and those of the C++ library are here; no other file is read";

/// Of a function that only the host can call.
pub(super) const HOST_CODE: &str = "this is host code, and only what runs on the device is compiled here: put what nvcc alone should see \
     between `#ifndef __CUDACC_RTC__` and `#endif`";

/// That a header was passed over.
pub(super) fn left_out(name: &str) -> String {
    format!("`{name}` is not here and was passed over; what this misses may be in it")
}

/// Why the header `name` is not here.
pub(super) fn header(name: &str) -> &'static str {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if starts(&["thrust/"]) {
        "Thrust launches kernels of its own from host code, which is not run here"
    } else if starts(&["cub/device/", "cub/agent/"]) {
        "CUB's algorithms for the whole device are called by host code, which is not run here; those for a block or a \
         warp are in <cub/cub.cuh>"
    } else if starts(&["curand"]) {
        "cuRAND is not here; a kernel can take its random numbers from a buffer"
    } else if starts(&[
        "cublas",
        "cufft",
        "cusparse",
        "cusolver",
        "cudnn",
        "nccl",
        "nvml",
        "nvToolsExt",
        "nvtx3",
    ]) {
        "this library is called by host code, which is not run here"
    } else if starts(&["cutlass", "cute/"]) {
        "CUTLASS is a project of its own and not part of CUDA's packages"
    } else {
        OTHER
    }
}

/// What to write in place of `std::NAME`.
pub(super) fn standard_member(name: &str) -> String {
    match (header::header_of(name), name) {
        (Some(header), _) => format!("`#include <{header}>` gives a kernel `std::{name}`"),
        (None, "vector" | "string" | "map" | "unordered_map" | "list" | "set") => {
            format!("`std::{name}` lives on the host; a kernel takes a pointer and a length")
        }
        (None, "cout" | "cerr" | "endl") => "a kernel prints with `printf`".to_owned(),
        (None, _) => format!("`std::{name}` is not there for a kernel, or its header is not included"),
    }
}
