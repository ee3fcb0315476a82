//! Child processes that do the dangerous work.
//!
//! A compiler that reads hostile source and a driver that a hung kernel can freeze both belong in a process that
//! may be killed. The worker is the calling program itself, started again with a hidden first argument, so a
//! single binary is enough. Requests are frames on its standard input, replies frames on its standard output, one after
//! another: the compiler's worker serves one, the GPU's as many as go well.

mod child;
#[cfg(all(test, unix))]
pub(crate) mod fake;
mod frame;
mod parent;
mod process;

use std::ffi::OsStr;
use std::path::PathBuf;

pub(crate) use child::set_memory_limits;
pub use parent::WorkerError;
pub(crate) use parent::{Call, Session, call};
pub(crate) use process::{CPU_LIMIT, KILLED};

/// The first argument that turns a program into a worker.
pub(crate) const MARKER: &str = "--warplings-worker";

/// How a worker is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    program: PathBuf,
}

impl Command {
    /// Starts the running program again. It must call [`run_if_worker`] first thing in `main`.
    pub fn this_program() -> Self {
        // The link stays valid when the file behind it is replaced, by a rebuild during `checker watch` for one.
        let link = PathBuf::from("/proc/self/exe");
        let program = if cfg!(target_os = "linux") && link.exists() {
            link
        } else {
            std::env::current_exe().unwrap_or(link)
        };
        Self::new(program)
    }

    /// Starts another program, which calls [`run_if_worker`].
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into() }
    }
}

impl Default for Command {
    fn default() -> Self {
        Self::this_program()
    }
}

/// Serves requests and exits, if this process was started as a worker; else returns at once.
///
/// Call it before anything else in `main`: before arguments are parsed, threads started or anything printed.
pub fn run_if_worker() {
    let mut args = std::env::args_os().skip(1);
    if args.next().as_deref() != Some(OsStr::new(MARKER)) {
        return;
    }
    let task = args.next();
    let parent = args.next();
    child::serve(task.as_deref(), parent.as_deref())
}
