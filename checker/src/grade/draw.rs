//! The picture of a hand-in, drawn by this program again in a process of its own.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::Interrupt;
use super::child::wait;

/// A picture that takes longer is not worth it.
const LIMIT: Duration = Duration::from_secs(30);

/// The SVG of `checker look` of the file `kernel`; `None` if it has nothing to show, or takes too long.
///
/// # Errors
/// If no process can be started.
pub(crate) fn draw(kernel: &Path, exercise: &str) -> Result<Option<String>> {
    let folder = trust::scratch::Scratch::new().context("no temporary folder can be made")?;
    let (picture, kernel) = (folder.path().join("look.svg"), kernel.canonicalize()?);
    let program = std::env::current_exe().context("this program's own file cannot be found")?;
    let mut command = Command::new(program);
    command.args(["look", exercise]).arg("--file").arg(kernel).arg("--svg").arg(&picture);
    command
        .current_dir(trust::program::root())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn().context("the drawing process cannot be started")?;
    wait(&mut child, Instant::now() + LIMIT, &Interrupt::default())?;
    Ok(std::fs::read_to_string(&picture).ok())
}
