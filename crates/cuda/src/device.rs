//! Kernels on a real GPU.
//!
//! The calling process never touches CUDA: a [`Session`] does, in a worker process that opens the driver once and
//! then serves one request after another. A kernel that hangs is killed with its worker, and an error that poisons the
//! CUDA context ends with it too: after any error the next request gets a new worker.
//!
//! - [`Session::probe`] says which GPUs there are,
//! - [`Session::run`] launches one kernel and gives back its buffers,
//! - [`Session::time`] times several kernels against each other in interleaved rounds,
//! - [`Session::ceilings`] measures what the GPU can do at best.
//!
//! Numbers come out raw. What they mean is the caller's business.

mod bench;
mod ceiling_task;
mod code;
mod cublas;
mod driver;
mod error;
mod helper;
mod job;
mod nvml;
mod parent;
mod run_task;
mod schedule;
mod serve;
mod time_task;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use error::{DeviceError, FaultKind};
pub use job::InputFile;
pub use parent::{Session, probe};
pub(crate) use serve::{Server, TASK};

use crate::nvrtc::Arch;

/// One GPU, as the driver describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// The driver's number for it, from 0.
    pub ordinal: u32,
    /// Its name, `NVIDIA H200`.
    pub name: String,
    /// Compute capability: major, minor.
    pub compute_capability: (u32, u32),
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// L2 cache, in bytes.
    pub l2_bytes: u64,
    /// Global memory, in bytes.
    pub memory_bytes: u64,
    /// Highest clock of the multiprocessors, in kHz.
    pub clock_khz: u32,
    /// Highest clock of the memory, in kHz.
    pub memory_clock_khz: u32,
    /// Width of the memory bus, in bits.
    pub memory_bus_bits: u32,
    /// Shared memory that one block can have when it asks for more than 48 KiB, in bytes.
    pub shared_bytes_per_block_optin: u32,
    /// Shared memory of one multiprocessor, in bytes.
    pub shared_bytes_per_multiprocessor: u32,
    /// Registers of one multiprocessor.
    pub registers_per_multiprocessor: u32,
    /// Threads that one multiprocessor holds at a time.
    pub threads_per_multiprocessor: u32,
    /// Version of CUDA that the driver supports: major, minor.
    pub driver_version: (u32, u32),
    /// PCI address, `0000:1b:00.0`.
    pub pci_bus_id: String,
}

impl DeviceInfo {
    /// The architecture to compile for.
    pub fn arch(&self) -> Arch {
        Arch::new(self.compute_capability.0, self.compute_capability.1)
    }

    /// Bandwidth that memory clock and bus width allow, in bytes per second: two transfers per clock. 0 where the
    /// driver does not tell.
    pub fn peak_bandwidth(&self) -> f64 {
        2.0 * f64::from(self.memory_clock_khz) * 1e3 * f64::from(self.memory_bus_bits) / 8.0
    }

    /// Single-precision operations per second, tensor cores aside, that the FP32 cores allow at the highest clock: a
    /// fused multiply-add is two. 0 where the driver does not tell the clock.
    ///
    /// Cores per multiprocessor: 64 on compute capability 6.0, 7.x and 8.0, 128 on every other (CUDA C++ Programming
    /// Guide, "Compute Capabilities").
    pub fn peak_flops(&self) -> f64 {
        let cores = match self.compute_capability {
            (6, 0) | (7, _) | (8, 0) => 64.0,
            _ => 128.0,
        };
        2.0 * cores * f64::from(self.multiprocessors) * f64::from(self.clock_khz) * 1e3
    }
}

/// Code for a GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Image {
    /// Machine code, for one architecture.
    Cubin(Vec<u8>),
    /// PTX, which the driver compiles for the GPU it finds.
    Ptx(String),
}

/// One launch: code, entry point, geometry and arguments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// Name used in errors: `yours`, `baseline`.
    pub label: String,
    /// The code.
    pub image: Image,
    /// The kernel's symbol, mangled unless `extern "C"`.
    pub kernel: String,
    /// Blocks in x, y, z.
    pub grid_dim: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block_dim: [u32; 3],
    /// Dynamic shared memory per block, in bytes.
    pub dynamic_shared_bytes: u32,
    /// Arguments, in the order and with the types of the kernel's parameters.
    pub args: Vec<Arg>,
}

/// One argument of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Arg {
    /// The address of a buffer: its index in the request.
    Buffer(usize),
    /// 32-bit signed integer.
    I32(i32),
    /// 32-bit unsigned integer.
    U32(u32),
    /// 64-bit signed integer.
    I64(i64),
    /// 64-bit unsigned integer.
    U64(u64),
    /// Single precision.
    F32(f32),
    /// Double precision.
    F64(f64),
}

/// What a buffer holds before a launch.
#[derive(Debug, Clone, Copy)]
pub enum Init<'a> {
    /// These bytes.
    Bytes(&'a [u8]),
    /// What lies in this file: for several requests with the same input.
    File(&'a InputFile),
    /// This many bytes of 0xFF: as floats NaN, as indices far outside.
    Poison(u64),
}

impl Init<'_> {
    /// Length in bytes.
    pub fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File(file) => file.bytes(),
            Self::Poison(bytes) => *bytes,
        }
    }

    /// Whether the buffer has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A buffer in global memory.
#[derive(Debug, Clone, Copy)]
pub struct Buffer<'a> {
    /// What it holds before each launch.
    pub init: Init<'a>,
    /// Whether its contents are wanted afterwards.
    pub read_back: bool,
}

/// A launch whose results are wanted.
#[derive(Debug, Clone)]
pub struct RunRequest<'a> {
    /// Which GPU.
    pub ordinal: u32,
    /// The launch.
    pub launch: Launch,
    /// The buffers that its arguments name.
    pub buffers: &'a [Buffer<'a>],
    /// Whether to launch it a second time, with all buffers as they were before the first launch but with whatever
    /// the first launch left in the module's own variables.
    pub relaunch: bool,
    /// How long the kernel may take.
    pub limit: Duration,
}

/// What a launch left.
#[derive(Debug, Clone)]
pub struct RunReply {
    /// The GPU.
    pub device: DeviceInfo,
    /// Contents of every buffer whose `read_back` is set; the others are empty.
    pub buffers: Vec<Vec<u8>>,
    /// The same after a second launch, if there was one and it left anything else, in any bit.
    pub again: Option<Vec<Vec<u8>>>,
    /// Time of the first launch, in milliseconds, cold. For orientation: [`Session::time`] measures.
    pub milliseconds: f64,
}

/// One thing to time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Work {
    /// A kernel.
    Launch(Launch),
    /// The driver's own copy of one buffer to another, which is what a copy can reach.
    Copy {
        /// Index of the source.
        from: usize,
        /// Index of the destination, at least as long.
        to: usize,
    },
    /// The driver's own copy of the first half of a buffer to its second half, where there is no other of its size.
    CopyWithin {
        /// Index of the buffer.
        buffer: usize,
    },
    /// cuBLAS' product of row-major single-precision matrices.
    MatrixProduct {
        /// Index of the left factor, M x K.
        a: usize,
        /// Index of the right factor, K x N.
        b: usize,
        /// Index of the product, M x N.
        c: usize,
        /// M, N and K.
        size: [u32; 3],
        /// Whether it may multiply in TF32, on tensor cores (`CUBLAS_TF32_TENSOR_OP_MATH`); otherwise it keeps to single
        /// precision (`CUBLAS_PEDANTIC_MATH`).
        tf32: bool,
    },
}

/// Kernels to time against each other on the same data.
///
/// In each round, every one of them is launched once, in random order. Before each launch its module is loaded
/// afresh (so that nothing it stored in its own variables lives on), all buffers are restored, and the L2 cache is
/// filled with other data: twice its size is written, then read, so that no dirty line is billed to the kernel.
#[derive(Debug, Clone)]
pub struct TimeRequest<'a> {
    /// Which GPU.
    pub ordinal: u32,
    /// What to time.
    pub works: Vec<Work>,
    /// Index of the one whose outputs are compared and given back.
    pub checked: usize,
    /// The buffers that all of them use.
    pub buffers: &'a [Buffer<'a>],
    /// Rounds that count.
    pub rounds: u32,
    /// Rounds before them that do not: clocks rise, pages settle.
    pub warmups: u32,
    /// Seed of the random order.
    pub seed: u64,
    /// How long one launch may take.
    pub launch_limit: Duration,
    /// How long all of it may take.
    pub limit: Duration,
}

/// What the clocks said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimeReply {
    /// The GPU.
    pub device: DeviceInfo,
    /// Milliseconds by CUDA events: `rounds[round][work]`.
    pub rounds: Vec<Vec<f64>>,
    /// Milliseconds of launches of an empty kernel, timed in the same way.
    pub empty_launches: Vec<f64>,
    /// For each work, one more launch timed by events and by the host's clock.
    pub host_checks: Vec<HostCheck>,
    /// Clocks before the first and after the last round, where the driver's management library tells.
    pub clocks: Vec<Clocks>,
    /// What the checked work's first timed launch left in buffers with `read_back`; `None` where that is what the buffer
    /// held before.
    pub outputs: Vec<Option<Vec<u8>>>,
    /// Rounds in which its outputs differed, in any bit, from those.
    pub differing_rounds: Vec<u32>,
    /// What they were in the first few of these rounds ([`DIFFERING_KEPT`] at most). A kernel may sum in another
    /// order each time, so look before judging.
    pub differing_outputs: Vec<Vec<Option<Vec<u8>>>>,
}

/// For how many rounds differing outputs are kept.
pub const DIFFERING_KEPT: usize = 4;

/// What a GPU reaches at best, measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ceilings {
    /// The driver's own copy from one place of global memory to another: bytes read plus bytes written, per second.
    pub copy_bytes_per_second: f64,
    /// Single-precision operations per second of independent fused multiply-adds, each of which is two.
    pub fma_flops_per_second: f64,
}

/// One launch, timed twice.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HostCheck {
    /// By CUDA events, in milliseconds.
    pub event_ms: f64,
    /// By the host's clock, from before the launch until the GPU is idle, in milliseconds.
    pub host_ms: f64,
}

/// What the management library says of a moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clocks {
    /// Clock of the multiprocessors, in MHz.
    pub multiprocessor_mhz: u32,
    /// Clock of the memory, in MHz.
    pub memory_mhz: u32,
    /// Why the clocks are held back, in words; empty if they are not.
    pub throttled_by: Vec<String>,
}
