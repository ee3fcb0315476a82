//! One submission, judged by this program again in a process of its own.

use std::io::{self, Read};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::Record;
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
    /// Threads for the simulator.
    pub(crate) threads: usize,
}

/// Judges `text` as `entry`. Whatever it does to the child ends as a record.
///
/// # Errors
/// If no child can be started.
pub(crate) fn judge(bench: &Bench, entry: &Entry, text: &str) -> Result<Record> {
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
    let status = wait(&mut child, started + bench.wall_limit);
    let (out, err) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
    let mut record = match status {
        Ok(None) => Record::unjudged(
            "judge_timeout",
            Some(format!("judging took more than {} s", bench.wall_limit.as_secs())),
        ),
        Ok(Some(status)) => serde_json::from_slice(&out)
            .ok()
            .and_then(|judgement| Record::of_judgement(&judgement))
            .unwrap_or_else(|| without_judgement(status, &err)),
        Err(error) => Record::unjudged("judge_crashed", Some(error.to_string())),
    };
    record.seconds = started.elapsed().as_secs_f64();
    Ok(record)
}

fn without_judgement(status: ExitStatus, err: &[u8]) -> Record {
    let said = String::from_utf8_lossy(err);
    let said: String = said.trim().chars().take(500).collect();
    match status.code() {
        // The environment is to blame, not the submission: a later run tries again.
        Some(3) => Record::unjudged("not_judged", Some(said)),
        Some(_) => Record::unjudged("judge_crashed", Some(said)),
        None => Record::unjudged("judge_crashed", Some(format!("the judging process died: {status}"))),
    }
}

/// Waits until `deadline`; `None` if the child had to be ended.
fn wait(child: &mut Child, deadline: Instant) -> io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            end(child);
            child.wait()?;
            return Ok(None);
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
