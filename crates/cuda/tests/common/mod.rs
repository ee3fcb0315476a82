//! What the tests that need a real NVRTC share.

use std::sync::OnceLock;
use std::time::Duration;

use cuda::nvrtc::{self, Arch, CompileError, CompileRequest, Compiled, Limits, Toolchain};
use cuda::worker::Command;

/// The machine's NVRTC, fetched if there is none.
pub(crate) fn toolchain() -> &'static Toolchain {
    static TOOLCHAIN: OnceLock<Toolchain> = OnceLock::new();
    TOOLCHAIN.get_or_init(|| {
        nvrtc::find_or_fetch(&mut |step| eprintln!("{step:?}"))
            .unwrap_or_else(|error| panic!("these tests need NVRTC:\n{error}"))
    })
}

/// The worker that is built beside the tests.
pub(crate) fn worker() -> Command {
    Command::new(env!("CARGO_BIN_EXE_cuda-worker"))
}

/// A request as the checker makes it.
pub(crate) fn request(source: &str) -> CompileRequest<'_> {
    CompileRequest {
        // A machine that builds and tests at the same time is slow.
        limits: Limits { wall: Duration::from_secs(120), ..Limits::default() },
        ..CompileRequest::new(source, "kernel.cu", Arch::SM_80)
    }
}

/// Compiles `source` for sm_80.
pub(crate) fn compile(source: &str) -> Result<Compiled, CompileError> {
    nvrtc::compile_with(&worker(), toolchain(), &request(source))
}
