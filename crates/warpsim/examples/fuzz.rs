//! Fuzzes the parser, the lowering and the executor: `cargo run --release --example fuzz -- --minutes 60`.
//!
//! `--from SEED` begins there, `--seed SEED` runs one case and prints its text, and `--text FILE` with it that text in the
//! case's launch. A panic, a case that never ends, other
//! results with other numbers of threads, or memory out of proportion ends the run with the seed and exit code 1.

#[path = "../tests/fuzz/mod.rs"]
mod cases;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// More memory than this for one case is a finding, in KiB.
const MOST_MEMORY: u64 = 2 << 20;
/// A case that takes this long never ends.
const STUCK: u64 = 180;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|a| a == name)?;
        arguments.get(at + 1)?.parse::<u64>().ok()
    };
    if let Some(seed) = value("--seed") {
        let text = match arguments.iter().position(|a| a == "--text").and_then(|at| arguments.get(at + 1)) {
            Some(path) => std::fs::read_to_string(path).expect("a text to run"),
            None => cases::text(seed),
        };
        println!("{text}");
        println!("{:?}", cases::check(&text, seed));
        return ExitCode::SUCCESS;
    }
    let minutes = value("--minutes").unwrap_or(1);
    let from = value("--from").unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.map_or(0, |d| d.as_secs()) << 20
    });
    let current = Arc::new(AtomicU64::new(from));
    watch(Arc::clone(&current));
    let start = Instant::now();
    let (mut seed, mut ran, mut last) = (from, 0u64, Instant::now());
    let mut slowest = (Duration::ZERO, from);
    while start.elapsed() < Duration::from_secs(60 * minutes) {
        current.store(seed, Ordering::Relaxed);
        let began = Instant::now();
        let problem = match catch_unwind(AssertUnwindSafe(|| cases::run(seed))) {
            Ok(Ok(ended)) => {
                ran += u64::from(ended == cases::Ended::Ran);
                None
            }
            Ok(Err(problem)) => Some(problem),
            Err(_) => Some("it panicked".to_owned()),
        };
        let memory = most_memory();
        let problem = problem.or((memory > MOST_MEMORY).then(|| format!("it took {} MiB", memory >> 10)));
        if let Some(problem) = problem {
            println!("FINDING: case {seed}: {problem}");
            return ExitCode::FAILURE;
        }
        slowest = slowest.max((began.elapsed(), seed));
        seed += 1;
        if last.elapsed() > Duration::from_secs(10) {
            last = Instant::now();
            println!("{:?}: seeds {from}..{seed}, {ran} ran, slowest {slowest:?}", start.elapsed());
        }
    }
    println!("{minutes} minutes, {} cases of which {ran} ran, no finding", seed - from);
    ExitCode::SUCCESS
}

/// Ends the process if a case never does.
fn watch(current: Arc<AtomicU64>) {
    std::thread::spawn(move || {
        let mut before = (current.load(Ordering::Relaxed), 0);
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let now = current.load(Ordering::Relaxed);
            before = if now == before.0 { (now, before.1 + 1) } else { (now, 0) };
            if before.1 > STUCK {
                println!("FINDING: case {now} does not end");
                std::process::exit(1);
            }
        }
    });
}

/// The most memory that this process ever had, in KiB; 0 where the system does not tell.
fn most_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
