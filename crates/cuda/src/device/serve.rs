//! The device task, in the worker: what stays open from one job to the next, and who does which job.

use std::cell::OnceCell;
use std::panic::{self, AssertUnwindSafe};

use super::cublas::Cublas;
use super::driver::{self, Gpu};
use super::helper::Helper;
use super::job::{Done, Job, Reply};
use super::nvml::Nvml;
use super::{DeviceError, ceiling_task, run_task, time_task};

/// The task's name.
pub(crate) const TASK: &str = "device";

/// Serves one job after another, as long as all goes well.
#[derive(Default)]
pub(crate) struct Server {
    opened: Option<Opened>,
}

/// A GPU, and what is needed of libraries and kernels, each from its first use on.
pub(super) struct Opened {
    pub(super) gpu: Gpu,
    /// `None` within if the management library does not know the GPU.
    management: OnceCell<Option<Nvml>>,
    helper: OnceCell<Helper>,
    cublas: OnceCell<Cublas>,
}

impl Server {
    pub(crate) fn serve(&mut self, request: &[u8]) -> Result<Vec<u8>, postcard::Error> {
        let job: Job = postcard::from_bytes(request)?;
        // cudarc panics on a function that an old driver lacks; that is an answer too, and the parent ends a worker
        // that gave it.
        let reply: Reply =
            panic::catch_unwind(AssertUnwindSafe(|| self.answer(&job))).unwrap_or_else(|cause| {
                let text = cause.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or("no message");
                Err(DeviceError::Worker(format!("the driver could not be used: {text}")))
            });
        postcard::to_stdvec(&reply)
    }

    fn answer(&mut self, job: &Job) -> Reply {
        match job {
            Job::Probe => driver::devices().map(Done::Devices),
            Job::Run(job) => run_task::run(self.open(job.ordinal)?, job),
            Job::Time(job) => time_task::time(self.open(job.ordinal)?, job),
            Job::Ceilings { ordinal } => ceiling_task::measure(self.open(*ordinal)?),
        }
    }

    fn open(&mut self, ordinal: u32) -> Result<&Opened, DeviceError> {
        let opened = match self.opened.take() {
            Some(opened) if opened.gpu.info.ordinal == ordinal => opened,
            _ => Opened {
                gpu: Gpu::open(ordinal)?,
                management: OnceCell::new(),
                helper: OnceCell::new(),
                cublas: OnceCell::new(),
            },
        };
        Ok(self.opened.insert(opened))
    }
}

impl Opened {
    pub(super) fn management(&self) -> Option<&Nvml> {
        self.management.get_or_init(|| Nvml::open(&self.gpu.info.pci_bus_id)).as_ref()
    }

    pub(super) fn helper(&self) -> Result<&Helper, DeviceError> {
        get_or_try(&self.helper, || Helper::load(&self.gpu))
    }

    pub(super) fn cublas(&self) -> Result<&Cublas, DeviceError> {
        get_or_try(&self.cublas, Cublas::open)
    }
}

fn get_or_try<T>(
    cell: &OnceCell<T>,
    make: impl FnOnce() -> Result<T, DeviceError>,
) -> Result<&T, DeviceError> {
    if let Some(made) = cell.get() {
        return Ok(made);
    }
    let made = make()?;
    Ok(cell.get_or_init(|| made))
}
