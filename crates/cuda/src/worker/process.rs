//! Ending processes and saying how they ended.

use std::io;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// How a process is described that used up its processor time.
pub(crate) const CPU_LIMIT: &str = ", processor time limit";

/// How a process is described that somebody killed.
pub(crate) const KILLED: &str = ", killed";

/// Kills without asking; a process that is gone already is fine.
pub(crate) fn kill(child: &mut Child) {
    let _ = child.kill();
}

/// Waits for a process that should be ending, and kills it if it is not.
pub(crate) fn wait_or_kill(child: &mut Child, patience: Duration) -> io::Result<ExitStatus> {
    let deadline = Instant::now() + patience;
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        thread::sleep(Duration::from_micros(500));
    }
    kill(child);
    child.wait()
}

/// An exit status in words: "signal 11, segmentation fault" or "exit code 3".
pub(crate) fn describe(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        let name = match signal {
            libc::SIGSEGV => ", segmentation fault",
            libc::SIGABRT => ", abort",
            libc::SIGBUS => ", bus error",
            libc::SIGILL => ", illegal instruction",
            libc::SIGFPE => ", arithmetic error",
            libc::SIGKILL => KILLED,
            libc::SIGXCPU => CPU_LIMIT,
            libc::SIGSYS => ", forbidden system call",
            _ => "",
        };
        return format!("signal {signal}{name}");
    }
    match status.code() {
        Some(code) => format!("exit code {code}"),
        None => "no exit code".into(),
    }
}
