//! The calling process's side: check the request, hand over the buffers, ask the worker, replace one that failed.

use std::ffi::OsString;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use trust::program;
use trust::scratch::Scratch;

use super::job::{BufferSpec, Done, Job, Reply, RunJob, Side, TimeJob, hand_over, take_back, take_stored};
use super::{
    Arg, Buffer, Ceilings, DIFFERING_KEPT, DeviceError, DeviceInfo, RunReply, RunRequest, TASK, TimeReply,
    TimeRequest, Work,
};
use crate::worker::{self, Call, Command, WorkerError};

/// Opening the driver and a context takes up to some seconds on a machine with many GPUs.
const START_UP: Duration = Duration::from_secs(30);

/// Far longer than the ceilings take to measure.
const CEILINGS: Duration = Duration::from_secs(30);

/// The GPUs of this machine, best first as the driver counts them.
///
/// # Errors
///
/// No driver, too old a driver, or no GPU; see [`DeviceError`].
pub fn probe() -> Result<Vec<DeviceInfo>, DeviceError> {
    Session::new().probe()
}

/// A worker process that is started when it is first needed and serves one request at a time.
///
/// After any error it is killed, and the next request gets a new one: a fault, a hang or a driver in disorder costs the
/// request that met it and no other. Between requests its memory is wiped and its modules are unloaded. Only what a
/// kernel takes from the device's `malloc` heap and never frees lives on in the worker, so kernels of people who do
/// not trust each other belong in sessions of their own.
///
/// On Linux a worker dies with the thread whose request started it, and is then replaced.
#[derive(Debug, Default)]
pub struct Session {
    command: Command,
    worker: Mutex<Option<worker::Session>>,
}

impl Session {
    /// A session whose worker is this program, started again.
    pub fn new() -> Self {
        Self::default()
    }

    /// A session whose worker is started by `command`.
    pub fn with_command(command: Command) -> Self {
        Self { command, worker: Mutex::default() }
    }

    /// The GPUs of this machine, best first as the driver counts them.
    ///
    /// # Errors
    ///
    /// No driver, too old a driver, or no GPU; see [`DeviceError`].
    pub fn probe(&self) -> Result<Vec<DeviceInfo>, DeviceError> {
        match self.ask(&Job::Probe, Duration::ZERO)? {
            Done::Devices(devices) => Ok(devices),
            other => Err(unexpected(&other)),
        }
    }

    /// Launches one kernel and gives back its buffers.
    ///
    /// # Errors
    ///
    /// [`DeviceError`]; [`DeviceError::is_kernels_fault`] tells the kernel's faults from the machine's.
    pub fn run(&self, request: &RunRequest<'_>) -> Result<RunReply, DeviceError> {
        check_args(&request.launch.args, request.buffers)?;
        let folder = private_folder()?;
        let (buffers, folder_name) = hand_over(request.buffers, folder.path())?;
        let job = RunJob {
            ordinal: request.ordinal,
            launch: request.launch.clone(),
            buffers: buffers.clone(),
            folder: folder_name.clone(),
            relaunch: request.relaunch,
            limit: request.limit,
        };
        match self.ask(&Job::Run(job), request.limit.saturating_mul(2))? {
            Done::Ran { device, milliseconds, again_differs } => {
                let take = |side| take_back(&buffers, &folder_name, side);
                let again = again_differs.then(|| take(Side::Again)).transpose()?;
                Ok(RunReply { device, buffers: take(Side::Output)?, again, milliseconds })
            }
            other => Err(unexpected(&other)),
        }
    }

    /// Times kernels against each other; see [`TimeRequest`] for the procedure.
    ///
    /// # Errors
    ///
    /// As [`Session::run`]; [`DeviceError::NoLibrary`] if cuBLAS is to be timed and is not there.
    pub fn time(&self, request: &TimeRequest<'_>) -> Result<TimeReply, DeviceError> {
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
        match self.ask(&Job::Time(job), request.limit)? {
            Done::Timed { mut reply, stored, differing_kept } => {
                let take = |side| take_stored(&buffers, &folder_name, side, &stored);
                // What starts out poisoned cannot be as it was: a worker that says so is not believed.
                let is_missing =
                    |(spec, stored): (&BufferSpec, &bool)| spec.read_back && spec.file.is_none() && !stored;
                if stored.len() != buffers.len() || buffers.iter().zip(&stored).any(is_missing) {
                    return Err(DeviceError::Transfer("an output is missing".into()));
                }
                reply.outputs = take(Side::Output)?;
                let kept = 0..differing_kept.min(DIFFERING_KEPT);
                reply.differing_outputs =
                    kept.map(|nth| take(Side::Differing(nth))).collect::<Result<_, _>>()?;
                Ok(reply)
            }
            other => Err(unexpected(&other)),
        }
    }

    /// Measures what the GPU reaches at best, in about a second.
    ///
    /// # Errors
    ///
    /// As [`Session::probe`].
    pub fn ceilings(&self, ordinal: u32) -> Result<Ceilings, DeviceError> {
        match self.ask(&Job::Ceilings { ordinal }, CEILINGS)? {
            Done::Ceilings(ceilings) => Ok(ceilings),
            other => Err(unexpected(&other)),
        }
    }

    fn ask(&self, job: &Job, limit: Duration) -> Result<Done, DeviceError> {
        let mut place = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
        // The worker notices a hung kernel itself and says which; this limit is for a worker that hangs.
        let wall = limit.saturating_add(START_UP);
        let mut answered = None;
        let kept = place.take().and_then(|mut session| session.is_ready().then_some(session));
        if let Some(mut session) = kept {
            match session.ask::<_, Reply>(job, wall) {
                // A worker of long ago may be on its way out; what a new one makes of the job counts.
                Err(WorkerError::Died { .. }) => {}
                reply => answered = Some((session, reply)),
            }
        }
        let (session, reply) = match answered {
            Some(answered) => answered,
            None => {
                let mut session = start(&self.command).map_err(failed)?;
                let reply = session.ask::<_, Reply>(job, wall);
                (session, reply)
            }
        };
        let reply = reply.map_err(failed)?;
        // What answers with an error is not asked again: dropping it ends it.
        let done = reply?;
        *place = Some(session);
        Ok(done)
    }
}

fn start(command: &Command) -> Result<worker::Session, WorkerError> {
    let env = environment();
    let call = Call { task: TASK, wall: START_UP, reply_bytes: 64 << 20, log_bytes: 64 << 10, env: &env };
    worker::Session::start(command, &call)
}

fn failed(error: WorkerError) -> DeviceError {
    match error {
        WorkerError::Timeout { seconds } => DeviceError::Timeout { label: None, seconds },
        WorkerError::Died { how, stderr } => {
            let last = stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
            DeviceError::Worker(format!("the GPU's worker process ended without an answer ({how}): {last}"))
        }
        other => DeviceError::Worker(other.to_string()),
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
        Work::CopyWithin { buffer } => check_args(&[Arg::Buffer(*buffer)], buffers),
        Work::MatrixProduct { a, b, c, size: [m, n, k], tf32: _ } => {
            check_args(&[Arg::Buffer(*a), Arg::Buffer(*b), Arg::Buffer(*c)], buffers)?;
            for (buffer, rows, columns) in [(*a, *m, *k), (*b, *k, *n), (*c, *m, *n)] {
                let bytes = u128::from(rows) * u128::from(columns) * 4;
                if u128::from(buffers[buffer].init.len()) < bytes {
                    return Err(DeviceError::BadRequest(format!(
                        "buffer {buffer} is too short for a matrix of {rows} x {columns}"
                    )));
                }
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

fn private_folder() -> Result<Scratch, DeviceError> {
    Scratch::new().map_err(|error| DeviceError::Transfer(format!("no temporary folder: {error}")))
}

/// What the driver is told: where to find itself, which GPUs to show, and to load code at once instead of in the
/// middle of a measurement.
fn environment() -> Vec<(String, OsString)> {
    let passed = ["CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES"];
    let libraries = std::env::join_paths(program::folders("LD_LIBRARY_PATH")).ok();
    let libraries =
        libraries.filter(|list| !list.is_empty()).map(|list| ("LD_LIBRARY_PATH".to_owned(), list));
    let fixed = [("CUDA_MODULE_LOADING", "EAGER"), ("CUDA_CACHE_DISABLE", "1")];
    passed
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), std::env::var_os(name)?)))
        .chain(libraries)
        .chain(fixed.map(|(name, value)| (name.to_owned(), value.into())))
        .collect()
}

fn unexpected(done: &Done) -> DeviceError {
    DeviceError::Worker(format!("the GPU's worker process answered another question: {done:?}"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::device::{Image, Init, Launch};
    use crate::worker::fake;

    fn launch(args: Vec<Arg>) -> Launch {
        Launch {
            label: "yours".into(),
            image: Image::Cubin(vec![1]),
            kernel: "k".into(),
            grid_dim: [1; 3],
            block_dim: [1; 3],
            dynamic_shared_bytes: 0,
            args,
        }
    }

    const OUTPUT: Buffer<'_> = Buffer { init: Init::Poison(4), read_back: true };

    fn run_request<'a>(args: Vec<Arg>, buffers: &'a [Buffer<'a>]) -> RunRequest<'a> {
        RunRequest {
            ordinal: 0,
            launch: launch(args),
            buffers,
            relaunch: false,
            limit: Duration::from_secs(1),
        }
    }

    #[test]
    fn the_workers_errors_arrive_typed() {
        let error = DeviceError::OutOfMemory { needed_bytes: 5 << 30, free_bytes: 1 << 30 };
        let worker = fake::answering(&Reply::Err(error.clone()));
        assert_eq!(Session::with_command(worker.command()).probe().unwrap_err(), error);
        assert_eq!(error.to_string(), "the GPU has 1024 MiB free and 5120 MiB are needed");
    }

    #[test]
    fn one_worker_serves_until_it_ends_and_is_replaced() {
        let worker = fake::answering_often(3, 1, &Reply::Ok(Done::Devices(vec![fake::device()])));
        let session = Session::with_command(worker.command());
        for _ in 0..3 {
            assert_eq!(session.probe().unwrap().len(), 1);
        }
        assert_eq!(worker.starts(), 1);
        // Whether or not its end is seen before the next request.
        assert_eq!(session.probe().unwrap().len(), 1);
        assert_eq!(worker.starts(), 2);
    }

    #[test]
    fn a_worker_that_met_an_error_is_not_asked_again() {
        let worker = fake::answering_often(9, 1, &Reply::Err(DeviceError::Busy));
        let session = Session::with_command(worker.command());
        for starts in 1..=3 {
            assert_eq!(session.probe().unwrap_err(), DeviceError::Busy);
            assert_eq!(worker.starts(), starts);
        }
    }

    #[test]
    fn an_answer_to_another_question_is_an_error() {
        let worker = fake::answering(&Reply::Ok(Done::Devices(vec![])));
        let error = Session::with_command(worker.command())
            .run(&run_request(vec![Arg::Buffer(0)], &[OUTPUT]))
            .unwrap_err();
        assert!(matches!(error, DeviceError::Worker(_)), "{error:?}");
    }

    #[test]
    fn a_worker_that_claims_success_without_outputs_is_not_believed() {
        let device = fake::device();
        let worker =
            fake::answering(&Reply::Ok(Done::Ran { device, milliseconds: 1.0, again_differs: false }));
        let error = Session::with_command(worker.command())
            .run(&run_request(vec![Arg::Buffer(0)], &[OUTPUT]))
            .unwrap_err();
        assert!(matches!(error, DeviceError::Transfer(_)), "{error:?}");
    }

    #[test]
    fn a_worker_that_dies_is_reported_with_its_last_words() {
        let worker = fake::script("echo 'driver says no' >&2; kill -SEGV $$");
        let error = Session::with_command(worker.command()).probe().unwrap_err();
        let DeviceError::Worker(text) = &error else { panic!("{error:?}") };
        assert!(text.contains("segmentation fault") && text.contains("driver says no"), "{text}");
        assert!(!error.is_kernels_fault());
    }

    #[test]
    fn requests_that_make_no_sense_start_no_worker() {
        let none = Session::with_command(Command::new("/no/such/worker"));
        let error = none.run(&run_request(vec![Arg::I32(1), Arg::Buffer(1)], &[OUTPUT])).unwrap_err();
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
        let error = none.time(&request).unwrap_err();
        assert!(matches!(error, DeviceError::BadRequest(_)), "{error:?}");
        let error = none.time(&TimeRequest { works: vec![], ..request }).unwrap_err();
        assert!(matches!(error, DeviceError::BadRequest(_)), "{error:?}");
    }
}
