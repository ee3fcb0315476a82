//! The program learners run: it judges exercises, and runs any CUDA kernel under checks.

mod argument;
mod ceiling;
mod cell;
mod command;
mod compile;
mod directive;
mod engine;
mod exit;
mod finding;
mod gpu_table;
mod grade;
mod judge;
mod kernel;
mod machine;
mod message;
mod progress;
mod registry;
mod report;
mod source;
mod submission;
mod trial;
mod workspace;

use std::process::ExitCode;

fn main() -> ExitCode {
    // The compiler and the GPU are used in child processes, which are this program again.
    cuda::worker::run_if_worker();
    report::terminal::announce_bugs();
    let exit = execute().unwrap_or(Ok(exit::Exit::NotJudged));
    let exit = exit.unwrap_or_else(|error| {
        report::terminal::error(&error);
        exit::Exit::of(&error)
    });
    exit.into()
}

/// Executes the command on a thread of its own, so that the shell's stack limit decides nothing. `None` if it panicked, which
/// was announced then.
fn execute() -> Option<anyhow::Result<exit::Exit>> {
    // What a main thread has by default.
    const STACK_BYTES: usize = 8 << 20;
    match std::thread::Builder::new().stack_size(STACK_BYTES).spawn(command::execute) {
        Ok(thread) => thread.join().ok(),
        Err(error) => Some(Err(anyhow::Error::new(error).context("no thread can be started"))),
    }
}
