//! This crate's own kernels; see `helper.cu`.

use super::DeviceError;
use super::code;
use super::driver::{Gpu, Kernel, Memory};

/// What NVRTC makes of `helper.cu`. The driver compiles it for the GPU that is there.
const PTX: &str = include_str!("helper.ptx");

/// Threads per block.
const BLOCK: u32 = 256;

/// Blocks per multiprocessor: as many as fit, since a multiprocessor holds up to 2,048 threads.
const BLOCKS_PER_MULTIPROCESSOR: u32 = 8;

/// Operations of one thread in one turn of the FMA kernel: 16 chains of 16 fused multiply-adds.
const FLOPS_PER_TURN: f64 = 2.0 * 16.0 * 16.0;

/// The kernels, loaded.
pub(super) struct Helper {
    empty: Kernel,
    read: Kernel,
    compare: Kernel,
    fma: Kernel,
}

impl Helper {
    pub(super) fn load(gpu: &Gpu) -> Result<Self, DeviceError> {
        let load = |name: &str| {
            gpu.load_ptx(PTX, name).0.map_err(|error| code::explain(error, "loading the timing kernels"))
        };
        Ok(Self {
            empty: load("warplings_empty")?,
            read: load("warplings_read")?,
            compare: load("warplings_compare")?,
            fma: load("warplings_fma")?,
        })
    }

    /// Launches nothing.
    pub(super) fn do_nothing(&self, gpu: &Gpu) -> Result<(), DeviceError> {
        gpu.enqueue(&self.empty, [1; 3], [32, 1, 1], 0, &mut [])
            .map_err(|error| code::explain(error, "timing an empty launch"))
    }

    /// Reads all of `memory`, whose length is a multiple of 16, so that the L2 cache holds it. `never` is not written
    /// if it holds zeros.
    pub(super) fn read(&self, gpu: &Gpu, memory: Memory, never: Memory) -> Result<(), DeviceError> {
        launch(gpu, &self.read, &mut [memory.address, memory.bytes / 16, never.address])
    }

    /// Adds the number of 16-byte words, and of bytes after the last one, in which `a` and `b` differ to the 64-bit
    /// counter.
    pub(super) fn compare(
        &self,
        gpu: &Gpu,
        a: Memory,
        b: Memory,
        counter: Memory,
    ) -> Result<(), DeviceError> {
        launch(gpu, &self.compare, &mut [a.address, b.address, a.bytes.min(b.bytes), counter.address])
    }

    /// Does fused multiply-adds in every thread that the GPU holds, `turns` turns each. Gives back how many operations
    /// that makes. `never` is not written.
    pub(super) fn multiply_add(&self, gpu: &Gpu, turns: u32, never: Memory) -> Result<f64, DeviceError> {
        launch(gpu, &self.fma, &mut [never.address, turns.into()])?;
        Ok(FLOPS_PER_TURN * f64::from(turns) * f64::from(BLOCK) * f64::from(blocks(gpu)))
    }
}

fn blocks(gpu: &Gpu) -> u32 {
    gpu.info.multiprocessors.max(1) * BLOCKS_PER_MULTIPROCESSOR
}

fn launch(gpu: &Gpu, kernel: &Kernel, args: &mut [u64]) -> Result<(), DeviceError> {
    gpu.enqueue(kernel, [blocks(gpu), 1, 1], [BLOCK, 1, 1], 0, args)
        .map_err(|error| code::explain(error, "running the timing kernels"))
}
