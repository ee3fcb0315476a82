//! The calling process's side: check the request, hand over the buffers, start the worker.

use std::ffi::OsString;
use std::time::Duration;

use super::job::{Done, Job, Reply, RunJob, Side, TimeJob, hand_over, take_back};
use super::{
    Arg, Buffer, DIFFERING_KEPT, DeviceError, DeviceInfo, RunReply, RunRequest, TASK, TimeReply, TimeRequest,
    Work,
};
use crate::worker::{self, Call, Command, WorkerError};

/// Opening the driver and a context takes up to some seconds on a machine with many GPUs.
const START_UP: Duration = Duration::from_secs(30);

/// The GPUs of this machine, best first as the driver counts them.
///
/// # Errors
///
/// No driver, too old a driver, or no GPU; see [`DeviceError`].
pub fn probe() -> Result<Vec<DeviceInfo>, DeviceError> {
    probe_with(&Command::this_program())
}

/// As [`probe`], in a worker started by `command`.
///
/// # Errors
///
/// As [`probe`].
pub fn probe_with(command: &Command) -> Result<Vec<DeviceInfo>, DeviceError> {
    match call(command, &Job::Probe, Duration::ZERO)? {
        Done::Devices(devices) => Ok(devices),
        other => Err(unexpected(&other)),
    }
}

/// Launches one kernel and gives back its buffers.
///
/// # Errors
///
/// [`DeviceError`]; [`DeviceError::is_kernels_fault`] tells the kernel's faults from the machine's.
pub fn run(request: &RunRequest<'_>) -> Result<RunReply, DeviceError> {
    run_with(&Command::this_program(), request)
}

/// As [`run`], in a worker started by `command`.
///
/// # Errors
///
/// As [`run`].
pub fn run_with(command: &Command, request: &RunRequest<'_>) -> Result<RunReply, DeviceError> {
    check_args(&request.launch.args, request.buffers)?;
    let folder = private_folder()?;
    let (buffers, folder_name) = hand_over(request.buffers, folder.path())?;
    let job = RunJob {
        ordinal: request.ordinal,
        launch: request.launch.clone(),
        buffers: buffers.clone(),
        folder: folder_name.clone(),
        limit: request.limit,
    };
    match call(command, &Job::Run(job), request.limit)? {
        Done::Ran { device, milliseconds } => {
            let buffers = take_back(&buffers, &folder_name, Side::Output)?;
            Ok(RunReply { device, buffers, milliseconds })
        }
        other => Err(unexpected(&other)),
    }
}

/// Times kernels against each other; see [`TimeRequest`] for the procedure.
///
/// # Errors
///
/// As [`run`].
pub fn time(request: &TimeRequest<'_>) -> Result<TimeReply, DeviceError> {
    time_with(&Command::this_program(), request)
}

/// As [`time`], in a worker started by `command`.
///
/// # Errors
///
/// As [`run`].
pub fn time_with(command: &Command, request: &TimeRequest<'_>) -> Result<TimeReply, DeviceError> {
    for work in &request.works {
        check_work(work, request.buffers)?;
    }
    if request.checked >= request.works.len() || request.rounds == 0 {
        return Err(DeviceError::BadRequest("there is nothing to time".into()));
    }
    let folder = private_folder()?;
    let (buffers, folder_name) = hand_over(request.buffers, folder.path())?;
    let job = TimeJob {
        ordinal: request.ordinal,
        works: request.works.clone(),
        checked: request.checked,
        buffers: buffers.clone(),
        folder: folder_name.clone(),
        rounds: request.rounds,
        warmups: request.warmups,
        seed: request.seed,
        launch_limit: request.launch_limit,
        limit: request.limit,
    };
    match call(command, &Job::Time(job), request.limit)? {
        Done::Timed { mut reply, differing_kept } => {
            reply.outputs = take_back(&buffers, &folder_name, Side::Output)?;
            let kept = 0..differing_kept.min(DIFFERING_KEPT);
            reply.differing_outputs = kept
                .map(|nth| take_back(&buffers, &folder_name, Side::Differing(nth)))
                .collect::<Result<_, _>>()?;
            Ok(reply)
        }
        other => Err(unexpected(&other)),
    }
}

fn check_work(work: &Work, buffers: &[Buffer<'_>]) -> Result<(), DeviceError> {
    match work {
        Work::Launch(launch) => check_args(&launch.args, buffers),
        Work::Copy { from, to } => {
            check_args(&[Arg::Buffer(*from), Arg::Buffer(*to)], buffers)?;
            if buffers[*to].init.len() < buffers[*from].init.len() {
                return Err(DeviceError::BadRequest(format!("buffer {from} does not fit into buffer {to}")));
            }
            Ok(())
        }
    }
}

fn check_args(args: &[Arg], buffers: &[Buffer<'_>]) -> Result<(), DeviceError> {
    for arg in args {
        if let Arg::Buffer(index) = arg
            && *index >= buffers.len()
        {
            return Err(DeviceError::BadRequest(format!(
                "an argument names buffer {index}, and there are {}",
                buffers.len()
            )));
        }
    }
    Ok(())
}

fn private_folder() -> Result<tempfile::TempDir, DeviceError> {
    tempfile::Builder::new()
        .prefix("warplings-")
        .tempdir()
        .map_err(|error| DeviceError::Transfer(format!("no temporary folder: {error}")))
}

fn call(command: &Command, job: &Job, limit: Duration) -> Result<Done, DeviceError> {
    let env = environment();
    let call = Call {
        task: TASK,
        // The worker notices a hung kernel itself and says which; this limit is for a worker that hangs.
        wall: limit.saturating_add(START_UP),
        reply_bytes: 64 << 20,
        log_bytes: 64 << 10,
        env: &env,
    };
    let reply: Reply = worker::call(command, &call, job).map_err(|error| match error {
        WorkerError::Timeout { seconds } => DeviceError::Timeout { label: None, seconds },
        WorkerError::Died { how, stderr } => {
            let last = stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
            DeviceError::Worker(format!("the GPU's worker process ended without an answer ({how}): {last}"))
        }
        other => DeviceError::Worker(other.to_string()),
    })?;
    reply
}

/// What the driver is told: where to find itself, which GPUs to show, and to load code at once instead of in the
/// middle of a measurement.
fn environment() -> Vec<(String, OsString)> {
    let passed = ["LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES"];
    let fixed = [("CUDA_MODULE_LOADING", "EAGER"), ("CUDA_CACHE_DISABLE", "1")];
    passed
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), std::env::var_os(name)?)))
        .chain(fixed.map(|(name, value)| (name.to_owned(), value.into())))
        .collect()
}

fn unexpected(done: &Done) -> DeviceError {
    DeviceError::Worker(format!("the GPU's worker process answered another question: {done:?}"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::device::{Init, Launch};
    use crate::worker::fake;

    fn launch(args: Vec<Arg>) -> Launch {
        Launch {
            label: "yours".into(),
            cubin: vec![1],
            kernel: "k".into(),
            grid_dim: [1; 3],
            block_dim: [1; 3],
            dynamic_shared_bytes: 0,
            args,
        }
    }

    const OUTPUT: Buffer<'_> = Buffer { init: Init::Poison(4), read_back: true };

    fn run_request<'a>(args: Vec<Arg>, buffers: &'a [Buffer<'a>]) -> RunRequest<'a> {
        RunRequest { ordinal: 0, launch: launch(args), buffers, limit: Duration::from_secs(1) }
    }

    #[test]
    fn the_workers_errors_arrive_typed() {
        let error = DeviceError::OutOfMemory { needed_bytes: 5 << 30, free_bytes: 1 << 30 };
        let worker = fake::answering(&Reply::Err(error.clone()));
        assert_eq!(probe_with(&worker.command()).unwrap_err(), error);
        assert_eq!(error.to_string(), "the GPU has 1024 MiB free and 5120 MiB are needed");
    }

    #[test]
    fn an_answer_to_another_question_is_an_error() {
        let worker = fake::answering(&Reply::Ok(Done::Devices(vec![])));
        let error = run_with(&worker.command(), &run_request(vec![Arg::Buffer(0)], &[OUTPUT])).unwrap_err();
        assert!(matches!(error, DeviceError::Worker(_)), "{error:?}");
    }

    #[test]
    fn a_worker_that_claims_success_without_outputs_is_not_believed() {
        let device = fake::device();
        let worker = fake::answering(&Reply::Ok(Done::Ran { device, milliseconds: 1.0 }));
        let error = run_with(&worker.command(), &run_request(vec![Arg::Buffer(0)], &[OUTPUT])).unwrap_err();
        assert!(matches!(error, DeviceError::Transfer(_)), "{error:?}");
    }

    #[test]
    fn a_worker_that_dies_is_reported_with_its_last_words() {
        let worker = fake::script("echo 'driver says no' >&2; kill -SEGV $$");
        let error = probe_with(&worker.command()).unwrap_err();
        let DeviceError::Worker(text) = &error else { panic!("{error:?}") };
        assert!(text.contains("segmentation fault") && text.contains("driver says no"), "{text}");
        assert!(!error.is_kernels_fault());
    }

    #[test]
    fn requests_that_make_no_sense_start_no_worker() {
        let none = Command::new("/no/such/worker");
        let error = run_with(&none, &run_request(vec![Arg::I32(1), Arg::Buffer(1)], &[OUTPUT])).unwrap_err();
        assert!(matches!(&error, DeviceError::BadRequest(text) if text.contains("buffer 1")), "{error:?}");
        let long = Buffer { init: Init::Poison(8), read_back: false };
        let request = TimeRequest {
            ordinal: 0,
            works: vec![Work::Copy { from: 1, to: 0 }],
            checked: 0,
            buffers: &[OUTPUT, long],
            rounds: 1,
            warmups: 0,
            seed: 0,
            launch_limit: Duration::from_secs(1),
            limit: Duration::from_secs(1),
        };
        let error = time_with(&none, &request).unwrap_err();
        assert!(matches!(error, DeviceError::BadRequest(_)), "{error:?}");
        let error = time_with(&none, &TimeRequest { works: vec![], ..request }).unwrap_err();
        assert!(matches!(error, DeviceError::BadRequest(_)), "{error:?}");
    }
}
