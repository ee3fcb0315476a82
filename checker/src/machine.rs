//! What there is to judge on.

use anyhow::Result;
use cuda::device::{DeviceError, DeviceInfo};

use crate::engine::gpu::Gpu;
use crate::message;
use crate::trial::Engine;

/// What this machine judges with.
pub(crate) enum Machine {
    /// The simulator; why there is no GPU, if one was looked for.
    Sim(Option<DeviceError>),
    SimThenGpu(Gpu),
    Gpu(Gpu),
}

impl Machine {
    /// The machine that an `--engine` of `auto`, `sim` or `gpu` means here.
    ///
    /// # Errors
    /// If a GPU is demanded and there is none to use.
    pub(crate) fn choose(engine: &str) -> Result<Machine> {
        match engine {
            "sim" => Ok(Machine::Sim(None)),
            "gpu" => Ok(Machine::Gpu(Gpu::first()?)),
            _ => Ok(match Gpu::first() {
                Ok(gpu) => Machine::SimThenGpu(gpu),
                Err(error) => Machine::Sim(Some(error)),
            }),
        }
    }

    /// What runs kernels on it.
    pub(crate) fn engine(&self) -> Engine<'_> {
        match self {
            Machine::Sim(_) => Engine::Sim,
            Machine::SimThenGpu(gpu) => Engine::SimThenGpu(gpu),
            Machine::Gpu(gpu) => Engine::Gpu(gpu),
        }
    }

    /// The GPU, if there is one to judge on.
    pub(crate) fn gpu(&self) -> Option<&DeviceInfo> {
        match self {
            Machine::Sim(_) => None,
            Machine::SimThenGpu(gpu) | Machine::Gpu(gpu) => Some(&gpu.info),
        }
    }

    /// Its name for programs: `sim`, `sim+gpu` or `gpu`.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Machine::Sim(_) => "sim",
            Machine::SimThenGpu(_) => "sim+gpu",
            Machine::Gpu(_) => "gpu",
        }
    }

    /// Its description for people.
    pub(crate) fn description(&self) -> String {
        match self {
            Machine::Sim(None) => message::SIMULATED.to_owned(),
            Machine::Sim(Some(why)) => message::simulated_because(why),
            Machine::SimThenGpu(gpu) => message::simulated_then_timed(&gpu.info.name),
            Machine::Gpu(gpu) => gpu.info.name.clone(),
        }
    }
}
