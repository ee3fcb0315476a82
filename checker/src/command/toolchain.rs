//! Getting at the compiler, and saying so where that takes a download.

use cuda::nvrtc::{self, Toolchain};

use crate::report;

/// NVRTC, found or fetched.
///
/// # Errors
/// With the commands that would help.
pub(crate) fn ready() -> anyhow::Result<Toolchain> {
    let mut progress = report::terminal::FetchProgress::default();
    Ok(nvrtc::find_or_fetch(&mut |step| progress.show(&step))?)
}
