//! Describing a launch, checking it against the device's limits, and running it.

use std::time::Duration;

use crate::memory::{BufferId, Device};
use crate::observer::Observer;
use crate::program::Program;
use crate::report::Report;
use crate::run;

/// Limits of the emulated device: compute capability 8.0 (CUDA C++ Programming Guide, table "Technical
/// Specifications per Compute Capability").
pub mod limits {
    /// Threads per block.
    pub const THREADS_PER_BLOCK: u32 = 1024;
    /// Largest block in x, y and z.
    pub const BLOCK_DIM: [u32; 3] = [1024, 1024, 64];
    /// Largest grid in x, y and z.
    pub const GRID_DIM: [u32; 3] = [0x7fff_ffff, 65_535, 65_535];
    /// Static shared memory per block, in bytes.
    pub const STATIC_SHARED_BYTES: u32 = 48 * 1024;
    /// Static and dynamic shared memory per block together, in bytes.
    pub const SHARED_BYTES: u32 = 163 * 1024;
    /// Threads per warp.
    pub const WARP_SIZE: u32 = 32;
    /// Bytes of kernel parameters (since CUDA 12.1; 4096 before).
    pub const PARAM_BYTES: usize = 32_764;
}

/// A kernel argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// A pointer to a buffer.
    Buffer(BufferId),
    /// The raw little-endian bytes of a scalar or a structure passed by value.
    Bytes(Vec<u8>),
}

macro_rules! arg_from {
    ($($ty:ty)*) => {$(
        impl From<$ty> for Arg {
            fn from(value: $ty) -> Arg { Arg::Bytes(value.to_le_bytes().to_vec()) }
        }
    )*};
}
arg_from!(i32 u32 i64 u64 f32 f64);

impl From<BufferId> for Arg {
    fn from(buffer: BufferId) -> Arg {
        Arg::Buffer(buffer)
    }
}

/// What to look for while running. Bounds and alignment are always checked: they keep the simulator safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Find races in shared and global memory.
    pub race: bool,
    /// Find uses of values that nothing wrote.
    pub init: bool,
    /// Find barriers that not all threads reach.
    pub sync: bool,
    /// Fill in [`Counters`](crate::Counters).
    pub counters: bool,
}

impl Checks {
    /// Everything.
    pub const ALL: Checks = Checks { race: true, init: true, sync: true, counters: true };
    /// Nothing beyond bounds and alignment.
    pub const NONE: Checks = Checks { race: false, init: false, sync: false, counters: false };
}

/// One kernel launch.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads per block in x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory, in bytes.
    pub shared_bytes: u32,
    /// Arguments in the order of the kernel's parameters.
    pub args: Vec<Arg>,
    /// What to look for.
    pub checks: Checks,
    /// The most warp instructions to execute.
    pub fuel: u64,
    /// The longest to run.
    pub wall_limit: Duration,
    /// Worker threads; `None` for one per core. Results, faults and counters do not depend on it.
    pub threads: Option<usize>,
    /// A block whose [`Footprint`](crate::Footprint)s to record.
    pub footprint_of: Option<[u32; 3]>,
    /// The blocks to run, by linear index (x fastest), in this order; `None`: all. What the others would have written is
    /// missing, and counters are of these blocks alone.
    pub blocks: Option<Vec<u64>>,
}

impl Launch {
    /// A launch with all checks, 2^32 warp instructions of fuel and 30 seconds.
    pub fn new(grid: [u32; 3], block: [u32; 3]) -> Launch {
        Launch {
            grid,
            block,
            shared_bytes: 0,
            args: Vec::new(),
            checks: Checks::ALL,
            fuel: 1 << 32,
            wall_limit: Duration::from_secs(30),
            threads: None,
            footprint_of: None,
            blocks: None,
        }
    }

    /// Appends an argument.
    pub fn arg(mut self, arg: impl Into<Arg>) -> Launch {
        self.args.push(arg.into());
        self
    }

    /// Runs `program`'s kernel on `device`. Buffers hold what the kernel wrote afterwards, also when it is at fault.
    ///
    /// # Errors
    /// [`LaunchError`] if the device could not start such a launch; nothing has run then.
    pub fn run(&self, program: &Program, device: &mut Device) -> Result<Report, LaunchError> {
        let params = self.check(program, device)?;
        Ok(run::run(self, program, device, params, None))
    }

    /// As [`Self::run`], and reports all that happens to `observer`. Blocks run one after another on this thread, so that
    /// this takes longer; the report is the same but for how often races between blocks were seen.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_with(
        &self,
        program: &Program,
        device: &mut Device,
        observer: &mut dyn Observer,
    ) -> Result<Report, LaunchError> {
        let params = self.check(program, device)?;
        Ok(run::run(self, program, device, params, Some(observer)))
    }

    /// The bytes of the kernel's parameters, if the launch is legal.
    fn check(&self, program: &Program, device: &Device) -> Result<Vec<u8>, LaunchError> {
        self.check_shape(program)?;
        let blocks = self.grid.iter().map(|&d| u64::from(d)).product();
        match self.blocks.iter().flatten().find(|block| **block >= blocks) {
            Some(&block) => Err(LaunchError::NoSuchBlock { block, blocks }),
            None => self.params(program, device),
        }
    }

    fn check_shape(&self, program: &Program) -> Result<(), LaunchError> {
        let fits =
            |dims: [u32; 3], most: [u32; 3]| dims.iter().zip(most).all(|(&d, most)| (1..=most).contains(&d));
        if !fits(self.grid, limits::GRID_DIM) {
            return Err(LaunchError::Grid { grid: self.grid });
        }
        let threads = self.block.iter().fold(1u64, |all, &d| all.saturating_mul(u64::from(d)));
        if self.block.contains(&0) {
            return Err(LaunchError::Block { block: self.block });
        }
        if threads > u64::from(limits::THREADS_PER_BLOCK) {
            return Err(LaunchError::Threads { block: self.block, threads });
        }
        if !fits(self.block, limits::BLOCK_DIM) {
            return Err(LaunchError::Block { block: self.block });
        }
        if let Some(required) = program.required_block.filter(|&required| required != self.block) {
            return Err(LaunchError::RequiredBlock { required });
        }
        if let Some(most) = program.max_threads.filter(|&most| threads > most) {
            return Err(LaunchError::LaunchBounds { most, threads });
        }
        let fixed = program.static_shared;
        if fixed > u64::from(limits::STATIC_SHARED_BYTES) {
            return Err(LaunchError::StaticShared { bytes: fixed });
        }
        let bytes = fixed + u64::from(self.shared_bytes);
        if bytes > u64::from(limits::SHARED_BYTES) {
            return Err(LaunchError::Shared { bytes, fixed });
        }
        Ok(())
    }

    fn params(&self, program: &Program, device: &Device) -> Result<Vec<u8>, LaunchError> {
        let (takes, given) = (program.params.len(), self.args.len());
        if takes != given {
            return Err(LaunchError::ArgumentCount { takes, given });
        }
        let mut params = vec![0; program.params.last().map_or(0, |p| p.offset + p.bytes)];
        for (index, (param, arg)) in program.params.iter().zip(&self.args).enumerate() {
            let bytes = match arg {
                Arg::Bytes(bytes) => bytes.clone(),
                Arg::Buffer(buffer) if buffer.0 < device.buffers.len() => {
                    device.address(*buffer).to_le_bytes().to_vec()
                }
                Arg::Buffer(_) => return Err(LaunchError::UnknownBuffer { index }),
            };
            if bytes.len() != param.bytes {
                return Err(LaunchError::ArgumentSize { index, takes: param.bytes, given: bytes.len() });
            }
            params[param.offset..param.offset + param.bytes].copy_from_slice(&bytes);
        }
        Ok(params)
    }
}

/// A launch that a device of compute capability 8.0 would refuse.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum LaunchError {
    #[error("the grid is {} x {} x {} blocks: every dimension must be at least 1 and at most {} x {} x {}", grid[0], grid[1], grid[2], limits::GRID_DIM[0], limits::GRID_DIM[1], limits::GRID_DIM[2])]
    Grid { grid: [u32; 3] },
    #[error("the block is {} x {} x {} threads: every dimension must be at least 1 and at most {} x {} x {}", block[0], block[1], block[2], limits::BLOCK_DIM[0], limits::BLOCK_DIM[1], limits::BLOCK_DIM[2])]
    Block { block: [u32; 3] },
    #[error("the block has {threads} threads ({} x {} x {}): a block has at most 1024", block[0], block[1], block[2])]
    Threads { block: [u32; 3], threads: u64 },
    #[error(
        "the kernel was compiled for blocks of at most {most} threads (`__launch_bounds__`), and is launched with {threads}"
    )]
    LaunchBounds { most: u64, threads: u64 },
    #[error("the kernel must be launched with a block of {} x {} x {} threads (`.reqntid`)", required[0], required[1], required[2])]
    RequiredBlock { required: [u32; 3] },
    #[error(
        "the kernel needs {bytes} bytes of static shared memory: a block has at most {} (48 KB)",
        limits::STATIC_SHARED_BYTES
    )]
    StaticShared { bytes: u64 },
    #[error(
        "the launch needs {bytes} bytes of shared memory ({fixed} static, the rest dynamic): a block has at most {} (163 KB)",
        limits::SHARED_BYTES
    )]
    Shared { bytes: u64, fixed: u64 },
    #[error("the kernel takes {takes} arguments and was given {given}")]
    ArgumentCount { takes: usize, given: usize },
    #[error("argument {index} is {given} bytes, but the kernel's parameter there has {takes}")]
    ArgumentSize { index: usize, takes: usize, given: usize },
    #[error("argument {index} names a buffer that is not on this device")]
    UnknownBuffer { index: usize },
    #[error("the grid has {blocks} blocks, so it has no block {block}")]
    NoSuchBlock { block: u64, blocks: u64 },
}
