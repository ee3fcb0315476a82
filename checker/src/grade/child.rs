//! One submission, judged by this program again in a process of its own.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::{Guard, Interrupt, NOT_JUDGED, Order, Record};
use crate::message::grading as message;
use crate::registry::Entry;

/// Output that is kept of a child.
const MOST_OUTPUT: u64 = 16 << 20;

/// What every submission is judged with.
#[derive(Clone, Debug)]
pub(crate) struct Bench {
    /// This program.
    pub(crate) program: PathBuf,
    pub(crate) seed: u64,
    pub(crate) engine: String,
    /// The longest that one submission may take.
    pub(crate) wall_limit: Duration,
    /// Most bytes of memory that one submission may take; `None` where that cannot be told.
    pub(crate) memory: Option<u64>,
    /// Threads for the simulator.
    pub(crate) threads: usize,
    /// Ends whatever is being judged.
    pub(crate) interrupt: Interrupt,
    /// Lets one process have the machine to itself.
    pub(crate) crowd: Crowd,
}

/// Judging processes read-lock this, and one that is to be alone write-locks it.
pub(crate) type Crowd = Arc<RwLock<()>>;

/// Why a judging process came to no verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// The wall clock, which tells as much about the machine as about the kernel.
    OutOfTime { limit: Duration },
    /// It asked for more memory than it may have.
    OutOfMemory { limit: u64 },
    /// Somebody else ended it; the words are the system's.
    Killed(String),
    /// It crashed; the words are the system's.
    Crashed(String),
    /// It says itself why it could not judge.
    NotJudged(String),
}

impl Stopped {
    /// Whether the submission may be the cause.
    pub(crate) fn may_be_the_kernels(&self) -> bool {
        matches!(self, Stopped::OutOfMemory { .. } | Stopped::Crashed(_))
    }
}

/// What became of one attempt to judge.
enum Ending {
    /// A result that says something about the submission.
    Judged(Box<Record>),
    /// The process came to no verdict, and it may be the machine's doing. Alone, another attempt may get further.
    Stopped(Stopped),
    /// The grader is to end.
    Interrupted,
}

/// How a judging process ended.
pub(super) enum Ended {
    ByItself(ExitStatus),
    OutOfTime,
    Interrupted,
}

/// Judges `text` as `entry`. Whatever it does to the child ends as a record; `None` if the grader is to end.
///
/// Where no verdict comes of it, it is tried once more when nothing else of this grader runs. What ends that attempt too is
/// never the student's doing, with one exception: a crash that the reference solution does not cause as well.
///
/// # Errors
/// If no child can be started.
pub(crate) fn judge(bench: &Bench, entry: &Entry, text: &str) -> Result<Option<Record>> {
    let among_others = || {
        let _others = bench.crowd.read().unwrap_or_else(PoisonError::into_inner);
        attempt(bench, entry, text)
    };
    match among_others()? {
        Ending::Judged(record) => return Ok(Some(*record)),
        Ending::Stopped(_) => {}
        Ending::Interrupted => return Ok(None),
    }
    let _alone = bench.crowd.write().unwrap_or_else(PoisonError::into_inner);
    let stopped = match attempt(bench, entry, text)? {
        Ending::Judged(record) => return Ok(Some(*record)),
        Ending::Stopped(stopped) => stopped,
        Ending::Interrupted => return Ok(None),
    };
    let record = |verdict: &str, message: String| Ok(Some(Record::unjudged(verdict, Some(message))));
    if !stopped.may_be_the_kernels() {
        return record(NOT_JUDGED, message::stopped(&stopped));
    }
    match attempt(bench, entry, entry.exercise.solution)? {
        Ending::Judged(_) => record("judge_crashed", message::stopped(&stopped)),
        Ending::Stopped(control) => record(NOT_JUDGED, message::machine_fails(&control)),
        Ending::Interrupted => Ok(None),
    }
}

fn attempt(bench: &Bench, entry: &Entry, text: &str) -> Result<Ending> {
    let order = Order { text: text.to_owned(), seed: bench.seed, wall_limit: bench.wall_limit };
    let started = Instant::now();
    let mut command = Command::new(&bench.program);
    command
        .args(["judge", &entry.exercise.number.to_string(), "--json", "--engine", &bench.engine])
        .arg(Guard { parent: std::process::id(), memory: bench.memory }.to_argument())
        // No folder of anybody's, and none above it.
        .current_dir(trust::program::root())
        .env("RAYON_NUM_THREADS", bench.threads.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // A group of its own, so that what the child started ends with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn().context("the judging process cannot be started")?;
    let sent = send(child.stdin.take(), order.to_bytes());
    let (out, err) = (read_all(child.stdout.take()), read_all(child.stderr.take()));
    let ended = wait(&mut child, started + bench.wall_limit, &bench.interrupt);
    // A child that ends early breaks the pipe; its exit status tells more.
    let _ = sent.join();
    let (out, err) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
    let judgement = || Record::of_judgement(&serde_json::from_slice(&out).ok()?);
    let seconds = started.elapsed().as_secs_f64();
    Ok(match ended.context("the judging process cannot be waited for")? {
        Ended::Interrupted => Ending::Interrupted,
        Ended::OutOfTime => Ending::Stopped(Stopped::OutOfTime { limit: bench.wall_limit }),
        Ended::ByItself(status) => match judgement() {
            Some(record) if !record.is_open() => Ending::Judged(Box::new(Record { seconds, ..record })),
            Some(record) => Ending::Stopped(Stopped::NotJudged(record.message.unwrap_or_default())),
            None => Ending::Stopped(without_judgement(bench, status, &String::from_utf8_lossy(&err))),
        },
    })
}

fn without_judgement(bench: &Bench, status: ExitStatus, err: &str) -> Stopped {
    // What Rust's allocator says before it aborts.
    if let Some(bytes) =
        bench.memory.filter(|_| status.code().is_none() && err.contains("memory allocation of"))
    {
        return Stopped::OutOfMemory { limit: bytes };
    }
    let said: String = err.trim().chars().take(500).collect();
    match status.code() {
        Some(_) => Stopped::NotJudged(said),
        None if was_killed(status) => Stopped::Killed(status.to_string()),
        None => Stopped::Crashed(status.to_string()),
    }
}

/// Whether somebody else ended the process: the system for want of memory, a batch system, a limit of the shell.
#[cfg(unix)]
fn was_killed(status: ExitStatus) -> bool {
    use rustix::process::Signal;
    let crashes =
        [Signal::SEGV, Signal::BUS, Signal::ILL, Signal::FPE, Signal::ABORT, Signal::TRAP, Signal::SYS];
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    signal.is_some_and(|signal| !crashes.iter().any(|crash| crash.as_raw() == signal))
}

#[cfg(not(unix))]
fn was_killed(_: ExitStatus) -> bool {
    false
}

/// Waits for a child, at most until `deadline`, and ends it if it does not end by itself.
pub(super) fn wait(child: &mut Child, deadline: Instant, interrupt: &Interrupt) -> io::Result<Ended> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ended::ByItself(status));
        }
        let is_late = Instant::now() >= deadline;
        if is_late || interrupt.came() {
            end(child);
            child.wait()?;
            return Ok(if is_late { Ended::OutOfTime } else { Ended::Interrupted });
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn end(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = rustix::process::Pid::from_raw(child.id() as i32) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
}

fn send(pipe: Option<impl Write + Send + 'static>, bytes: Vec<u8>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let _ = pipe.map(|mut pipe| pipe.write_all(&bytes));
    })
}

fn read_all(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || pipe.map(drain).unwrap_or_default())
}

/// Reads to the end and keeps the beginning.
fn drain(mut pipe: impl Read) -> Vec<u8> {
    let mut kept = Vec::new();
    let _ = pipe.by_ref().take(MOST_OUTPUT).read_to_end(&mut kept);
    let _ = io::copy(&mut pipe, &mut io::sink());
    kept
}
