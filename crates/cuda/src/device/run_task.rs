//! One launch, or two in the same module, in the worker.

use super::code;
use super::driver::{self, Gpu, Memory};
use super::job::{BufferSpec, Done, Folder, RunJob, Side};
use super::serve::Opened;
use super::{DeviceError, Launch};

pub(super) fn run(opened: &Opened, job: &RunJob) -> Result<Done, DeviceError> {
    let gpu = &opened.gpu;
    gpu.reserve(job.buffers.iter().map(|spec| spec.bytes).sum())?;
    let memory = place(gpu, &job.buffers)?;
    let kernel = gpu.load(&job.launch)?;
    let label = &job.launch.label;
    let milliseconds = gpu.timed(label, job.limit, || enqueue(gpu, &kernel, &job.launch, &memory))?;
    store(gpu, &job.buffers, &memory, &job.folder, Side::Output)?;
    let mut again_differs = false;
    if job.relaunch {
        let first = read_back(gpu, &job.buffers, &memory)?;
        fill(gpu, &job.buffers, &memory)?;
        let again = format!("{label}, launched a second time");
        gpu.timed(&again, job.limit, || enqueue(gpu, &kernel, &job.launch, &memory))?;
        again_differs = read_back(gpu, &job.buffers, &memory)? != first;
        if again_differs {
            store(gpu, &job.buffers, &memory, &job.folder, Side::Again)?;
        }
    }
    gpu.unload(&kernel)?;
    gpu.release()?;
    Ok(Done::Ran { device: gpu.info.clone(), milliseconds, again_differs })
}

/// Allocates all buffers and gives them their first contents.
pub(super) fn place(gpu: &Gpu, specs: &[BufferSpec]) -> Result<Vec<Memory>, DeviceError> {
    let memory: Vec<Memory> = specs.iter().map(|spec| gpu.allocate(spec.bytes)).collect::<Result<_, _>>()?;
    fill(gpu, specs, &memory)?;
    Ok(memory)
}

fn fill(gpu: &Gpu, specs: &[BufferSpec], memory: &[Memory]) -> Result<(), DeviceError> {
    for (spec, memory) in specs.iter().zip(memory) {
        match &spec.file {
            Some(file) => gpu.upload(*memory, file)?,
            None => gpu.fill(*memory, POISON)?,
        }
    }
    Ok(())
}

/// What outputs hold before a launch.
pub(super) const POISON: u8 = 0xff;

fn read_back(gpu: &Gpu, specs: &[BufferSpec], memory: &[Memory]) -> Result<Vec<Vec<u8>>, DeviceError> {
    let wanted = specs.iter().zip(memory).filter(|(spec, _)| spec.read_back);
    wanted.map(|(_, memory)| gpu.download(*memory)).collect()
}

/// Writes the contents of all buffers that are wanted into the folder.
fn store(
    gpu: &Gpu,
    specs: &[BufferSpec],
    memory: &[Memory],
    folder: &Folder,
    side: Side,
) -> Result<(), DeviceError> {
    for (index, (spec, memory)) in specs.iter().zip(memory).enumerate() {
        if spec.read_back {
            gpu.download_to(*memory, folder.create(side, index)?)?;
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
        .map_err(|error| code::refused(error, &launch.label))
}
