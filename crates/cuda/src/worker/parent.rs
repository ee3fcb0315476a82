//! The parent's side: start a worker, hand it the request, wait with a limit, and say how it ended.

use std::ffi::OsString;
use std::io::{self, Read};
use std::process::{ChildStderr, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Command, MARKER, child, frame, process};

/// What bounds one call of a worker.
#[derive(Debug, Clone)]
pub(crate) struct Call<'a> {
    /// The task's name, which the worker looks up.
    pub(crate) task: &'static str,
    /// Wall-clock limit; the worker is killed when it is over.
    pub(crate) wall: Duration,
    /// Longest reply that is accepted, in bytes.
    pub(crate) reply_bytes: u64,
    /// How much of what the worker prints on stderr is kept, in bytes; the rest is read and dropped.
    pub(crate) log_bytes: usize,
    /// The only environment variables the worker gets.
    pub(crate) env: &'a [(String, OsString)],
}

/// Why a worker gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The program could not be started at all.
    #[error("the worker process could not be started: {0}")]
    Start(#[source] io::Error),
    /// A worker asked for another worker: the program never called [`run_if_worker`](super::run_if_worker).
    #[error(
        "the worker started the program from its beginning; `cuda::worker::run_if_worker()` must be the first call in `main`"
    )]
    NotAWorker,
    /// It ran past its wall-clock limit and was killed.
    #[error("the worker did not finish within {seconds} s and was stopped")]
    Timeout {
        /// The limit.
        seconds: f64,
    },
    /// It reached its memory limit.
    #[error("the worker needed more memory than the {mib} MiB it was given", mib = bytes >> 20)]
    OutOfMemory {
        /// The limit.
        bytes: u64,
    },
    /// It ended without an answer.
    #[error("the worker ended without an answer ({how})")]
    Died {
        /// The signal or exit code, in words.
        how: String,
        /// What it printed on stderr, capped.
        stderr: String,
    },
    /// The answer makes no sense, as when two versions of a program talk to each other.
    #[error("the worker's answer could not be read: {0}")]
    BadReply(String),
}

/// Runs one task in a fresh worker and gives back its reply.
pub(crate) fn call<Request, Reply>(
    command: &Command,
    call: &Call<'_>,
    request: &Request,
) -> Result<Reply, WorkerError>
where
    Request: Serialize,
    Reply: DeserializeOwned,
{
    if std::env::args_os().nth(1).is_some_and(|arg| arg == MARKER) {
        return Err(WorkerError::NotAWorker);
    }
    let request = postcard::to_stdvec(request).map_err(|e| WorkerError::BadReply(e.to_string()))?;
    let started = Instant::now();
    let mut start = std::process::Command::new(&command.program);
    start
        .args([MARKER, call.task, &std::process::id().to_string()])
        .env_clear()
        .envs(call.env.iter().map(|(name, value)| (name, value)))
        .current_dir(if cfg!(unix) { "/" } else { "." })
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    #[cfg(windows)]
    for name in ["SystemRoot", "PATH"] {
        start.envs(std::env::var_os(name).map(|value| (name, value)));
    }
    let mut worker = start.spawn().map_err(WorkerError::Start)?;
    let (stdin, stdout, stderr) = (worker.stdin.take(), worker.stdout.take(), worker.stderr.take());
    let (answered, answer) = mpsc::channel();
    let (reply_bytes, log_bytes) = (call.reply_bytes, call.log_bytes);
    thread::spawn(move || answered.send(stdout.map(|mut pipe| frame::read(&mut pipe, reply_bytes))));
    let log = thread::spawn(move || stderr.map(|pipe| read_log(pipe, log_bytes)).unwrap_or_default());
    // A worker that dies early breaks this pipe; its exit status tells more than the write error.
    thread::spawn(move || stdin.map(|mut pipe| frame::write(&mut pipe, &request)));

    let left = call.wall.saturating_sub(started.elapsed());
    let reply = answer.recv_timeout(left);
    if reply.is_err() {
        process::kill(&mut worker);
        let _ = worker.wait();
        return Err(WorkerError::Timeout { seconds: call.wall.as_secs_f64() });
    }
    // The reply is complete, or the pipe closed because the worker is at its end; either way no long wait follows.
    let status = process::wait_or_kill(&mut worker, Duration::from_secs(2)).map_err(WorkerError::Start)?;
    match reply.ok().flatten() {
        Some(Ok(bytes)) => {
            postcard::from_bytes(&bytes).map_err(|error| WorkerError::BadReply(error.to_string()))
        }
        Some(Err(error)) if error.kind() == io::ErrorKind::InvalidData => {
            Err(WorkerError::BadReply(error.to_string()))
        }
        _ => Err(ending(status, log.join().unwrap_or_default())),
    }
}

/// Keeps the first `limit` bytes and drains the rest, so that a talkative worker neither blocks nor fills memory.
fn read_log(mut pipe: ChildStderr, limit: usize) -> String {
    let mut log = Vec::new();
    let _ = pipe.by_ref().take(limit as u64).read_to_end(&mut log);
    let _ = io::copy(&mut pipe, &mut io::sink());
    String::from_utf8_lossy(&log).into_owned()
}

fn ending(status: ExitStatus, stderr: String) -> WorkerError {
    if status.code() == Some(child::EXIT_OUT_OF_MEMORY) {
        return WorkerError::OutOfMemory { bytes: child::memory_limit_in(&stderr).unwrap_or_default() };
    }
    if status.code() == Some(child::EXIT_UNKNOWN_TASK) {
        return WorkerError::BadReply("it does not know the task it was given".into());
    }
    WorkerError::Died { how: process::describe(status), stderr }
}
