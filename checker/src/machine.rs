//! What there is to judge on.

use anyhow::Result;
use cuda::device::{DeviceError, DeviceInfo};

use crate::engine::gpu::Gpu;
use crate::exit::UsageError;
use crate::message;
use crate::trial::Engine;

/// The GPU for which times are predicted unless another one is named.
pub(crate) const DEFAULT_GPU: &str = "h200";

/// What this machine judges with.
pub(crate) enum Machine {
    /// The simulator, which predicts times on a GPU; why there is no real one, if one was looked for.
    Sim(Option<DeviceError>, Box<clock::Gpu>),
    SimThenGpu(Gpu),
    Gpu(Gpu),
}

impl Machine {
    /// The machine that an `--engine` of `auto`, `sim` or `gpu` means here, and a `--gpu` for whatever is not timed.
    ///
    /// # Errors
    /// If a GPU is demanded and there is none to use; if no such GPU is known.
    pub(crate) fn choose(engine: &str, gpu: Option<&str>) -> Result<Machine> {
        let predicted_for = || -> Result<Box<clock::Gpu>> {
            let found = clock::Gpu::named(gpu.unwrap_or(DEFAULT_GPU));
            Ok(Box::new(found.map_err(|error| UsageError(format!("--gpu: {error}")))?))
        };
        match engine {
            "sim" => Ok(Machine::Sim(None, predicted_for()?)),
            // Whoever names a GPU wants to know about that one.
            "auto" if gpu.is_some() => Ok(Machine::Sim(None, predicted_for()?)),
            "gpu" => Ok(Machine::Gpu(Gpu::first()?)),
            _ => Ok(match Gpu::first() {
                Ok(gpu) => Machine::SimThenGpu(gpu),
                Err(error) => Machine::Sim(Some(error), predicted_for()?),
            }),
        }
    }

    /// What runs kernels on it.
    pub(crate) fn engine(&self) -> Engine<'_> {
        match self {
            Machine::Sim(..) => Engine::Sim,
            Machine::SimThenGpu(gpu) => Engine::SimThenGpu(gpu),
            Machine::Gpu(gpu) => Engine::Gpu(gpu),
        }
    }

    /// The GPU, if there is one to judge on.
    pub(crate) fn gpu(&self) -> Option<&DeviceInfo> {
        match self {
            Machine::Sim(..) => None,
            Machine::SimThenGpu(gpu) | Machine::Gpu(gpu) => Some(&gpu.info),
        }
    }

    /// The GPU for which times are predicted, where none are measured.
    pub(crate) fn predicted_for(&self) -> Option<&clock::Gpu> {
        match self {
            Machine::Sim(_, gpu) => Some(gpu),
            Machine::SimThenGpu(_) | Machine::Gpu(_) => None,
        }
    }

    /// Its name for programs: `sim`, `sim+gpu` or `gpu`.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Machine::Sim(..) => "sim",
            Machine::SimThenGpu(_) => "sim+gpu",
            Machine::Gpu(_) => "gpu",
        }
    }

    /// Its description for people.
    pub(crate) fn description(&self) -> String {
        match self {
            Machine::Sim(None, _) => message::SIMULATED.to_owned(),
            Machine::Sim(Some(why), _) => message::simulated_because(why),
            Machine::SimThenGpu(gpu) => message::simulated_then_timed(&gpu.info.name),
            Machine::Gpu(gpu) => gpu.info.name.clone(),
        }
    }
}
