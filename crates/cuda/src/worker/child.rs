//! The worker's side: read a request, do the task, write the reply; leave when no request follows.

use std::ffi::OsStr;
use std::io::{self, Write};

use super::frame;

/// Exit code of a worker that ran into its memory limit.
pub(super) const EXIT_OUT_OF_MEMORY: i32 = 71;
/// Exit code of a worker that was asked for something it does not know.
pub(super) const EXIT_UNKNOWN_TASK: i32 = 72;
/// Exit code of a worker whose pipes broke.
const EXIT_BROKEN_PIPE: i32 = 73;

/// Longest request that a worker accepts: sources and cubins are far smaller, and buffers travel through files.
const LARGEST_REQUEST: u64 = 256 << 20;

/// Takes a request's bytes, gives the reply's.
pub(crate) type Serve = Box<dyn FnMut(&[u8]) -> Result<Vec<u8>, postcard::Error>>;

fn task(name: &OsStr) -> Option<Serve> {
    match name.to_str()? {
        crate::nvrtc::TASK => Some(Box::new(crate::nvrtc::serve)),
        crate::device::TASK => {
            let mut server = crate::device::Server::default();
            Some(Box::new(move |request| server.serve(request)))
        }
        _ => None,
    }
}

/// Serves requests until the parent closes the pipe, and ends the process.
pub(super) fn serve(name: Option<&OsStr>, parent: Option<&OsStr>) -> ! {
    die_with(parent);
    let Some(mut task) = name.and_then(task) else { leave(EXIT_UNKNOWN_TASK) };
    let Ok(mut reply_pipe) = private_stdout() else { leave(EXIT_BROKEN_PIPE) };
    let mut requests = io::stdin().lock();
    loop {
        let request = match frame::read(&mut requests, LARGEST_REQUEST) {
            Ok(request) => request,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => leave(0),
            Err(_) => leave(EXIT_BROKEN_PIPE),
        };
        let Ok(reply) = task(&request) else { leave(EXIT_UNKNOWN_TASK) };
        if frame::write(&mut reply_pipe, &reply).is_err() {
            leave(EXIT_BROKEN_PIPE);
        }
    }
}

/// Ends the process without running exit handlers: those of a compiler stopped half-way may crash.
fn leave(code: i32) -> ! {
    let _ = io::stderr().flush();
    #[cfg(unix)]
    // SAFETY: `_exit` may be called at any time.
    unsafe {
        libc::_exit(code)
    }
    #[cfg(not(unix))]
    std::process::exit(code)
}

/// Moves the reply pipe away from descriptor 1 and points that at stderr, so that a library that prints cannot
/// garble the reply.
#[cfg(unix)]
fn private_stdout() -> io::Result<std::fs::File> {
    use std::os::fd::{AsFd, AsRawFd};
    let pipe = io::stdout().as_fd().try_clone_to_owned()?;
    // SAFETY: both descriptors are open.
    if unsafe { libc::dup2(io::stderr().as_raw_fd(), io::stdout().as_raw_fd()) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(pipe.into())
}

#[cfg(not(unix))]
fn private_stdout() -> io::Result<io::Stdout> {
    Ok(io::stdout())
}

/// Has the kernel kill this process when its parent dies, Ctrl-C and crashes included.
#[cfg(target_os = "linux")]
fn die_with(parent: Option<&OsStr>) {
    // SAFETY: plain system calls.
    let now = unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::getppid()
    };
    // The parent may have died before the request reached the kernel.
    let expected = parent.and_then(OsStr::to_str).and_then(|id| id.parse::<libc::pid_t>().ok());
    if expected.is_some_and(|id| id != now) {
        leave(EXIT_BROKEN_PIPE);
    }
}

#[cfg(not(target_os = "linux"))]
fn die_with(_parent: Option<&OsStr>) {}

/// Limits this process's address space, processor time and files. Memory that runs out afterwards ends the process
/// with a code of its own, which the parent reports as "out of memory" rather than as a crash.
///
/// Does nothing where the system has no such limits.
pub(crate) fn set_memory_limits(address_space: u64, cpu_seconds: u64) {
    #[cfg(unix)]
    {
        use rlimit::Resource;
        let _ = Resource::CORE.set(0, 0);
        let _ = Resource::FSIZE.set(0, 0);
        let _ = Resource::CPU.set(cpu_seconds, cpu_seconds + 1);
        // The handler says the limit aloud, so that the parent need not guess it.
        out_of_memory::install(address_space);
        let _ = Resource::AS.set(address_space, address_space);
    }
    #[cfg(not(unix))]
    let _ = (address_space, cpu_seconds);
}

/// Reads the limit back from what the handler printed.
pub(super) fn memory_limit_in(stderr: &str) -> Option<u64> {
    stderr.lines().rev().find_map(|line| line.strip_prefix("out of memory: limit ")?.parse().ok())
}

/// A library that gets no memory often dereferences null or aborts. The signal handler tells that from a real
/// crash by asking for memory itself.
#[cfg(unix)]
mod out_of_memory {
    use std::sync::OnceLock;
    use std::{mem, ptr};

    /// More than a compiler asks for at a time in its last breath, far less than any sensible limit.
    const PROBE: usize = 64 << 20;

    static MESSAGE: OnceLock<String> = OnceLock::new();

    pub(super) fn install(limit: u64) {
        if MESSAGE.set(format!("out of memory: limit {limit}\n")).is_err() {
            return;
        }
        // Keeps the handler off a stack that may have run over.
        let stack = Box::leak(vec![0u8; 64 << 10].into_boxed_slice());
        // SAFETY: the alternate stack lives for ever, the handler only makes calls that are safe in a handler, and
        // the structures are plain data for which zero is a valid start.
        unsafe {
            let alternate =
                libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: stack.len() };
            libc::sigaltstack(&raw const alternate, ptr::null_mut());
            let mut action: libc::sigaction = mem::zeroed();
            action.sa_sigaction = on_signal as *const () as usize;
            action.sa_flags = libc::SA_ONSTACK | libc::SA_RESETHAND;
            for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGABRT, libc::SIGILL] {
                libc::sigaction(signal, &raw const action, ptr::null_mut());
            }
        }
    }

    extern "C" fn on_signal(signal: libc::c_int) {
        // SAFETY: mmap, write, _exit and raise are async-signal-safe; the message was stored before the handler
        // was installed.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANON;
            let probe = libc::mmap(ptr::null_mut(), PROBE, libc::PROT_NONE, flags, -1, 0);
            if probe == libc::MAP_FAILED {
                if let Some(message) = MESSAGE.get() {
                    libc::write(2, message.as_ptr().cast(), message.len());
                }
                libc::_exit(super::EXIT_OUT_OF_MEMORY);
            }
            libc::raise(signal);
        }
    }
}
