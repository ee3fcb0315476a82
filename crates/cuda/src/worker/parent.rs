//! The parent's side: start a worker, hand it requests, wait with a limit, and say how it ended.

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::process::{Child, ChildStderr, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

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
    /// How much of what the worker prints on stderr is kept, in bytes; what came earlier is dropped.
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
    Session::start(command, call)?.ask(request, call.wall)
}

/// A worker that serves one request after another.
///
/// After an error it is of no further use: drop it and start another one. Dropping it ends the process.
///
/// On Linux a worker dies with the *thread* that started it, so start it on one that lives long enough.
#[derive(Debug)]
pub(crate) struct Session {
    worker: Child,
    /// Closed to tell the worker that nothing more will come.
    requests: Option<mpsc::Sender<Vec<u8>>>,
    replies: mpsc::Receiver<io::Result<Vec<u8>>>,
    log: Option<JoinHandle<String>>,
}

impl Session {
    /// Starts a worker. `call.wall` is not looked at: each request has its own limit.
    pub(crate) fn start(command: &Command, call: &Call<'_>) -> Result<Self, WorkerError> {
        if std::env::args_os().nth(1).is_some_and(|arg| arg == MARKER) {
            return Err(WorkerError::NotAWorker);
        }
        let mut start = std::process::Command::new(&command.program);
        start
            .args([MARKER, call.task, &std::process::id().to_string()])
            .env_clear()
            .envs(call.env.iter().map(|(name, value)| (name, value)))
            .current_dir(trust::program::root())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        #[cfg(windows)]
        for name in ["SystemRoot", "PATH"] {
            start.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        let mut worker = start.spawn().map_err(WorkerError::Start)?;
        let (stdin, stdout, stderr) = (worker.stdin.take(), worker.stdout.take(), worker.stderr.take());
        // Of replies that nobody asked for, at most one is kept here and one in the thread's hands.
        let (answered, replies) = mpsc::sync_channel(1);
        let (reply_bytes, log_bytes) = (call.reply_bytes, call.log_bytes);
        thread::spawn(move || {
            let Some(mut pipe) = stdout else { return };
            loop {
                let reply = frame::read(&mut pipe, reply_bytes);
                let is_last = reply.is_err();
                if answered.send(reply).is_err() || is_last {
                    return;
                }
            }
        });
        let log = thread::spawn(move || stderr.map(|pipe| read_log(pipe, log_bytes)).unwrap_or_default());
        // A worker that dies early breaks this pipe; its exit status tells more than the write error.
        let (requests, asked) = mpsc::channel::<Vec<u8>>();
        thread::spawn(move || {
            let Some(mut pipe) = stdin else { return };
            while let Ok(request) = asked.recv() {
                if frame::write(&mut pipe, &request).is_err() {
                    return;
                }
            }
        });
        Ok(Self { worker, requests: Some(requests), replies, log: Some(log) })
    }

    /// Whether it still runs and has said nothing of its own accord.
    pub(crate) fn is_ready(&mut self) -> bool {
        matches!(self.replies.try_recv(), Err(mpsc::TryRecvError::Empty))
            && matches!(self.worker.try_wait(), Ok(None))
    }

    /// Has the worker do one thing, in at most `wall`.
    pub(crate) fn ask<Request, Reply>(
        &mut self,
        request: &Request,
        wall: Duration,
    ) -> Result<Reply, WorkerError>
    where
        Request: Serialize,
        Reply: DeserializeOwned,
    {
        let request = postcard::to_stdvec(request).map_err(|e| WorkerError::BadReply(e.to_string()))?;
        if let Some(requests) = &self.requests {
            // Fails only if the worker is gone, which the missing reply tells.
            let _ = requests.send(request);
        }
        match self.replies.recv_timeout(wall) {
            Ok(Ok(bytes)) => {
                postcard::from_bytes(&bytes).map_err(|error| WorkerError::BadReply(error.to_string()))
            }
            Ok(Err(error)) if error.kind() == io::ErrorKind::InvalidData => {
                Err(WorkerError::BadReply(error.to_string()))
            }
            Err(mpsc::RecvTimeoutError::Timeout) => Err(WorkerError::Timeout { seconds: wall.as_secs_f64() }),
            Ok(Err(_)) | Err(mpsc::RecvTimeoutError::Disconnected) => Err(self.ending()),
        }
    }

    /// Why a worker closed its pipe: it is at its end, and no long wait follows.
    fn ending(&mut self) -> WorkerError {
        self.requests = None;
        match process::wait_or_kill(&mut self.worker, Duration::from_secs(2)) {
            Ok(status) => {
                let log = self.log.take().and_then(|log| log.join().ok());
                ending(status, log.unwrap_or_default())
            }
            Err(error) => WorkerError::Start(error),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        process::kill(&mut self.worker);
        let _ = self.worker.wait();
    }
}

/// Keeps the last `limit` bytes or a little more, so that a talkative worker neither blocks nor fills memory and its
/// last words are there.
fn read_log(mut pipe: ChildStderr, limit: usize) -> String {
    let mut log = Vec::new();
    let mut chunk = vec![0; 8 << 10];
    while let Ok(read @ 1..) = pipe.read(&mut chunk) {
        log.extend_from_slice(&chunk[..read]);
        if log.len() > 2 * limit {
            log.drain(..log.len() - limit);
        }
    }
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
