//! One launch, in the worker.

use super::driver::{self, Gpu, Memory};
use super::job::{BufferSpec, Done, Folder, RunJob, Side};
use super::{DeviceError, Launch};

pub(super) fn run(job: &RunJob) -> Result<Done, DeviceError> {
    let gpu = Gpu::open(job.ordinal)?;
    gpu.reserve(job.buffers.iter().map(|spec| spec.bytes).sum())?;
    let memory = place(&gpu, &job.buffers, &job.folder)?;
    let kernel = gpu.load(&job.launch)?;
    let milliseconds =
        gpu.timed(&job.launch.label, job.limit, || enqueue(&gpu, &kernel, &job.launch, &memory))?;
    store(&gpu, &job.buffers, &memory, &job.folder, Side::Output)?;
    Ok(Done::Ran { device: gpu.info, milliseconds })
}

/// Allocates all buffers and gives them their first contents.
pub(super) fn place(gpu: &Gpu, specs: &[BufferSpec], folder: &Folder) -> Result<Vec<Memory>, DeviceError> {
    let place_one = |(index, spec): (usize, &BufferSpec)| {
        let memory = gpu.allocate(spec.bytes)?;
        if spec.in_file {
            gpu.upload(memory, &folder.read(Side::Input, index, spec.bytes)?)?;
        } else {
            gpu.fill(memory, POISON)?;
        }
        Ok(memory)
    };
    specs.iter().enumerate().map(place_one).collect()
}

/// What outputs hold before a launch.
pub(super) const POISON: u8 = 0xff;

/// Writes the contents of all buffers that are wanted into the folder.
pub(super) fn store(
    gpu: &Gpu,
    specs: &[BufferSpec],
    memory: &[Memory],
    folder: &Folder,
    side: Side,
) -> Result<(), DeviceError> {
    for (index, (spec, memory)) in specs.iter().zip(memory).enumerate() {
        if spec.read_back {
            folder.write(side, index, &gpu.download(*memory)?)?;
        }
    }
    Ok(())
}

pub(super) fn enqueue(
    gpu: &Gpu,
    kernel: &driver::Kernel,
    launch: &Launch,
    memory: &[Memory],
) -> Result<(), DeviceError> {
    let mut args = driver::encode(&launch.args, memory)?;
    gpu.enqueue(kernel, launch.grid_dim, launch.block_dim, launch.dynamic_shared_bytes, &mut args)
        .map_err(|error| driver::refused(error, &launch.label))
}
