//! What there is to judge on.

use anyhow::Result;
use cuda::device::{DeviceError, DeviceInfo};

use crate::engine::gpu;
use crate::message;
use crate::trial::Engine;

/// What this machine judges with.
pub(crate) enum Machine {
    /// The simulator; why there is no GPU, if one was looked for.
    Sim(Option<DeviceError>),
    SimThenGpu(DeviceInfo),
    Gpu(DeviceInfo),
}

impl Machine {
    /// The machine that an `--engine` of `auto`, `sim` or `gpu` means here.
    ///
    /// # Errors
    /// If a GPU is demanded and there is none to use.
    pub(crate) fn choose(engine: &str) -> Result<Machine> {
        match engine {
            "sim" => Ok(Machine::Sim(None)),
            "gpu" => Ok(Machine::Gpu(gpu::first()?)),
            _ => Ok(match cuda::device::probe() {
                Ok(devices) => devices.into_iter().next().map_or(Machine::Sim(None), Machine::SimThenGpu),
                Err(error) => Machine::Sim(Some(error)),
            }),
        }
    }

    /// What runs kernels on it.
    pub(crate) fn engine(&self) -> Engine<'_> {
        match self {
            Machine::Sim(_) => Engine::Sim,
            Machine::SimThenGpu(device) => Engine::SimThenGpu(device),
            Machine::Gpu(device) => Engine::Gpu(device),
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
            Machine::SimThenGpu(device) => message::simulated_then_timed(&device.name),
            Machine::Gpu(device) => device.name.clone(),
        }
    }
}
