//! The compile task, in the worker.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::binding::{Failure, Input, Nvrtc};
use super::sandbox::{self, SandboxLevel};
use crate::worker;

/// The task's name.
pub(crate) const TASK: &str = "compile";

/// Largest PTX plus cubin that is handed back; a source that needs more is a bomb.
const LARGEST_OUTPUT: usize = 64 << 20;

/// What a main thread has by default.
const STACK_BYTES: usize = 8 << 20;

/// How the assembler begins a message about a line of the PTX.
pub(super) const ASSEMBLERS_PLACE: &str = "ptx input, line ";

/// All that the worker needs to know. File contents only, no paths but those of the two libraries.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Job {
    pub(super) library: PathBuf,
    pub(super) builtins: PathBuf,
    pub(super) source: String,
    pub(super) name: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) instances: Vec<String>,
    pub(super) options: Vec<String>,
    pub(super) memory_bytes: u64,
    pub(super) cpu_seconds: u64,
    pub(super) log_bytes: usize,
}

/// What became of it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Outcome {
    /// The libraries could not be loaded.
    NotLoaded { message: String },
    /// The compiler ran. `ptx` is there after a success, and after an error of the assembler that names PTX lines.
    Ran {
        code: i32,
        code_name: String,
        log: String,
        ptx: String,
        cubin: Vec<u8>,
        /// The symbols of the job's instances.
        instances: Vec<String>,
        sandbox: SandboxLevel,
    },
    /// The result is too long to hand over.
    TooLarge { bytes: usize },
}

pub(crate) fn serve(request: &[u8]) -> Result<Vec<u8>, postcard::Error> {
    postcard::to_stdvec(&run(&postcard::from_bytes(request)?))
}

fn run(job: &Job) -> Outcome {
    // Whatever the library does when it is loaded, it writes to no file, reaches no network and starts no program.
    sandbox::enter_to_load();
    let nvrtc = match Nvrtc::load(&job.library, &job.builtins) {
        Ok(nvrtc) => nvrtc,
        Err(error) => return Outcome::NotLoaded { message: with_source(&error) },
    };
    worker::set_memory_limits(job.memory_bytes, job.cpu_seconds);
    let sandbox = sandbox::enter();
    // A thread, which starts shut in as this one is: how deep the compiler may go is not for the shell's stack limit to say.
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        match thread.spawn_scoped(scope, || compile(&nvrtc, job, sandbox)) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(error) => Outcome::NotLoaded { message: format!("no thread can be started: {error}") },
        }
    })
}

fn compile(nvrtc: &Nvrtc, job: &Job, sandbox: SandboxLevel) -> Outcome {
    match nvrtc.compile(&input(job), &job.options) {
        Ok(output) => {
            let bytes = output.ptx.len() + output.cubin.len();
            if bytes > LARGEST_OUTPUT {
                return Outcome::TooLarge { bytes };
            }
            let (code, code_name) = output.result.err().map_or((0, String::new()), |f| (f.code, f.name));
            let log = shortened(&output.log, job.log_bytes);
            let ptx = match code {
                0 => output.ptx,
                // The assembler names lines of the PTX: it takes that PTX to find the source's lines.
                _ if log.contains(ASSEMBLERS_PLACE) => ptx_alone(nvrtc, job).unwrap_or_default(),
                _ => Vec::new(),
            };
            Outcome::Ran {
                code,
                code_name,
                log,
                ptx: String::from_utf8_lossy(&ptx).into_owned(),
                cubin: output.cubin,
                instances: output.instances,
                sandbox,
            }
        }
        Err(Failure { code, name }) => Outcome::Ran {
            code,
            code_name: name,
            log: String::new(),
            ptx: String::new(),
            cubin: vec![],
            instances: vec![],
            sandbox,
        },
    }
}

fn input(job: &Job) -> Input<'_> {
    Input { source: &job.source, name: &job.name, headers: &job.headers, instances: &job.instances }
}

/// The PTX of a source that the front end accepts and the assembler does not.
fn ptx_alone(nvrtc: &Nvrtc, job: &Job) -> Option<Vec<u8>> {
    let virtual_arch =
        |option: &String| option.replace("--gpu-architecture=sm_", "--gpu-architecture=compute_");
    let options: Vec<String> = job.options.iter().map(virtual_arch).collect();
    let output = nvrtc.compile(&input(job), &options).ok()?;
    output.result.is_ok().then_some(output.ptx).filter(|ptx| ptx.len() <= LARGEST_OUTPUT)
}

/// The loader's own words are in the error's source.
fn with_source(error: &libloading::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// At most about `limit` bytes of the log: its beginning, where the first error is, and its end, where the
/// assembler reports.
fn shortened(log: &[u8], limit: usize) -> String {
    if log.len() <= limit {
        return String::from_utf8_lossy(log).into_owned();
    }
    let (head, tail) = (&log[..limit / 2], &log[log.len() - limit / 2..]);
    format!("{}\n\n{}", String::from_utf8_lossy(head), String::from_utf8_lossy(tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_log_keeps_both_ends() {
        let log = format!("first{}last", "x".repeat(1000));
        let short = shortened(log.as_bytes(), 20);
        assert!(short.starts_with("first") && short.ends_with("last") && short.len() < 30, "{short}");
        assert_eq!(shortened(b"all of it", 20), "all of it");
    }
}
