//! NVIDIA's own toolchain, used with care: NVRTC found or fetched, and called in a sandboxed child process;
//! kernels loaded, run and timed on a GPU in another.
//!
//! Nothing here links to CUDA, and the calling process never loads it. Both halves re-execute the calling program
//! as a worker, so the `main` of every program that uses this crate begins with [`worker::run_if_worker`].
//!
//! ```no_run
//! use cuda::nvrtc::{self, Arch, CompileRequest};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     cuda::worker::run_if_worker();
//!     let toolchain = nvrtc::find_or_fetch(&mut |step| eprintln!("{step:?}"))?;
//!     let source = r#"extern "C" __global__ void zero(float* x) { x[threadIdx.x] = 0.0f; }"#;
//!     let request = CompileRequest::new(source, "kernel.cu", Arch::SM_80);
//!     let compiled = nvrtc::compile(&toolchain, &request)?;
//!     println!("{}", compiled.ptx);
//!     Ok(())
//! }
//! ```

pub mod device;
pub mod nvrtc;
pub mod worker;
