//! Runs kernels and compares what they computed with the same in Rust.
//!
//! The kernels are in `tests/kernels`: CUDA, and the PTX that NVRTC 12.9 makes of it (`compute_80`, `-lineinfo`).

mod exec {
    mod bad_input;
    mod calls;
    mod control;
    mod copies;
    mod determinism;
    mod heap;
    mod matrix;
    mod mbarrier;
    mod memory;
    mod observer;
    mod straight;
    mod support;
    mod together;
    mod width;
}
