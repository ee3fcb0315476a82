//! One submission, judged by this program again in a process of its own.

use std::io::{self, Read};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::{Guard, Interrupt, Record};
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
}

/// How a judging process ended.
pub(super) enum Ended {
    ByItself(ExitStatus),
    OutOfTime,
    Interrupted,
}

/// Judges `text` as `entry`. Whatever it does to the child ends as a record; `None` if the grader is to end.
///
/// # Errors
/// If no child can be started.
pub(crate) fn judge(bench: &Bench, entry: &Entry, text: &str) -> Result<Option<Record>> {
    let folder = tempfile::tempdir().context("no temporary folder can be made")?;
    let kernel = folder.path().join("kernel.cu");
    std::fs::write(&kernel, text).context("the temporary copy of a submission cannot be written")?;
    let started = Instant::now();
    let mut command = Command::new(&bench.program);
    command
        .arg("judge")
        .arg(entry.exercise.number.to_string())
        .arg("--file")
        .arg(&kernel)
        .arg(Guard { parent: std::process::id(), memory: bench.memory }.to_argument())
        .args(["--json", "--seed", &bench.seed.to_string(), "--engine", &bench.engine])
        .current_dir(folder.path())
        .env("RAYON_NUM_THREADS", bench.threads.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // A group of its own, so that what the child started ends with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn().context("the judging process cannot be started")?;
    let (out, err) = (read_all(child.stdout.take()), read_all(child.stderr.take()));
    let ended = wait(&mut child, started + bench.wall_limit, &bench.interrupt);
    let (out, err) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
    let mut record = match ended {
        Ok(Ended::Interrupted) => return Ok(None),
        Ok(Ended::OutOfTime) => Record::unjudged(
            "judge_timeout",
            Some(format!("judging took more than {} s", bench.wall_limit.as_secs())),
        ),
        Ok(Ended::ByItself(status)) => serde_json::from_slice(&out)
            .ok()
            .and_then(|judgement| Record::of_judgement(&judgement))
            .unwrap_or_else(|| without_judgement(bench, status, &err)),
        Err(error) => Record::unjudged("judge_crashed", Some(error.to_string())),
    };
    record.seconds = started.elapsed().as_secs_f64();
    Ok(Some(record))
}

fn without_judgement(bench: &Bench, status: ExitStatus, err: &[u8]) -> Record {
    let said = String::from_utf8_lossy(err);
    // What Rust's allocator says before it aborts.
    if let Some(bytes) =
        bench.memory.filter(|_| status.code().is_none() && said.contains("memory allocation of"))
    {
        let message = format!("judging took more than the {} MiB of memory that it may have", bytes >> 20);
        return Record::unjudged("judge_crashed", Some(message));
    }
    let said: String = said.trim().chars().take(500).collect();
    match status.code() {
        // The environment is to blame, not the submission: a later run tries again.
        Some(3) => Record::unjudged("not_judged", Some(said)),
        Some(_) => Record::unjudged("judge_crashed", Some(said)),
        None => Record::unjudged("judge_crashed", Some(format!("the judging process died: {status}"))),
    }
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
