//! NVIDIA's run-time compiler: found on the machine or fetched, and called in a sandboxed child.
//!
//! [`find`] looks for the library, [`find_or_fetch`] downloads a pinned copy where there is none, and [`compile`]
//! turns one CUDA source into PTX, a cubin and each kernel's resources in a single pass.

mod arch;
mod binding;
mod cache;
mod compile;
mod demangle;
mod diagnostic;
mod fetch;
mod find;
mod header;
mod resource;
mod sandbox;
mod serve;

pub use arch::{Arch, ParseArchError};
pub use cache::{cache_dir, clean_temporary};
pub use compile::{CompileError, CompileRequest, Compiled, Limits, compile, compile_with};
pub use demangle::{base_name, demangle};
pub use diagnostic::{Diagnostic, Severity};
pub use fetch::{FetchError, FetchStep, find_or_fetch, find_or_fetch_for};
pub use find::{NotFound, Origin, Toolchain, find, find_for};
pub use resource::KernelResources;
pub use sandbox::SandboxLevel;
pub(crate) use serve::{TASK, serve};
