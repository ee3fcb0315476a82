//! The device task, in the worker.

use std::panic;

use super::job::{Done, Job, Reply};
use super::{DeviceError, driver, run_task, time_task};

/// The task's name.
pub(crate) const TASK: &str = "device";

pub(crate) fn serve(request: &[u8]) -> Result<Vec<u8>, postcard::Error> {
    let job: Job = postcard::from_bytes(request)?;
    // cudarc panics on a function that an old driver lacks; that is an answer too.
    let reply: Reply = panic::catch_unwind(|| answer(&job)).unwrap_or_else(|cause| {
        let text = cause.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Err(DeviceError::Worker(format!("the driver could not be used: {text}")))
    });
    postcard::to_stdvec(&reply)
}

fn answer(job: &Job) -> Reply {
    match job {
        Job::Probe => driver::devices().map(Done::Devices),
        Job::Run(job) => run_task::run(job),
        Job::Time(job) => time_task::time(job),
    }
}
