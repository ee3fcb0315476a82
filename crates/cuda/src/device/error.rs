//! What can go wrong on the way to a GPU, on it, and because of a kernel.

use serde::{Deserialize, Serialize};

/// Why there is no result from the GPU.
#[derive(Debug, Clone, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum DeviceError {
    /// The driver's library is not on this machine.
    #[error("no NVIDIA driver is installed (libcuda was not found)")]
    NoDriver,
    /// The driver is older than this program needs.
    #[error("the NVIDIA driver supports CUDA {}.{}, and {}.{} is needed; install a newer driver", found.0, found.1, needed.0, needed.1)]
    DriverTooOld {
        /// CUDA version of the driver.
        found: (u32, u32),
        /// The oldest that will do.
        needed: (u32, u32),
    },
    /// Half of a driver was updated.
    #[error(
        "the NVIDIA driver's library and kernel module do not fit together ({name}); restarting the machine usually helps"
    )]
    DriverMismatch {
        /// The driver's name for the error.
        name: String,
    },
    /// There is a driver and no GPU.
    #[error("the NVIDIA driver sees no GPU (is CUDA_VISIBLE_DEVICES set?)")]
    NoDevice,
    /// The number is too high.
    #[error("there is no GPU {ordinal}: the driver sees {count}, counted from 0")]
    NoSuchDevice {
        /// What was asked for.
        ordinal: u32,
        /// How many there are.
        count: u32,
    },
    /// Another program has it for itself.
    #[error("the GPU is in use by another program that does not share it")]
    Busy,
    /// Not enough memory is free on the GPU.
    #[error("the GPU has {free} MiB free and {needed} MiB are needed", free = free_bytes >> 20, needed = needed_bytes.div_ceil(1 << 20))]
    OutOfMemory {
        /// What all buffers together need, in bytes.
        needed_bytes: u64,
        /// What was free, in bytes.
        free_bytes: u64,
    },
    /// The cubin is for another GPU.
    #[error("the machine code of `{label}` is not for this GPU ({name})")]
    WrongArchitecture {
        /// Whose.
        label: String,
        /// The driver's name for the error.
        name: String,
    },
    /// The driver could not compile the PTX.
    #[error("the driver cannot compile the PTX of `{label}` for this GPU ({name}){}", with_log(log))]
    BadPtx {
        /// Whose.
        label: String,
        /// The driver's name for the error.
        name: String,
        /// What its compiler said; may be empty.
        log: String,
    },
    /// A library of NVIDIA's that a comparison needs is not on this machine.
    #[error("{library} was not found")]
    NoLibrary {
        /// Its name.
        library: String,
    },
    /// The cubin has no such kernel.
    #[error("`{label}` has no kernel `{kernel}`")]
    NoKernel {
        /// Whose.
        label: String,
        /// The symbol.
        kernel: String,
    },
    /// The driver refused the launch: geometry, shared memory or registers.
    #[error("the GPU refused to launch `{label}`: {text} ({name})")]
    Refused {
        /// Whose launch.
        label: String,
        /// The driver's name for the error.
        name: String,
        /// The driver's explanation.
        text: String,
    },
    /// The kernel did something that the GPU does not survive.
    #[error("`{label}` {kind} on the GPU ({name})")]
    Fault {
        /// Whose kernel.
        label: String,
        /// What it did.
        kind: FaultKind,
        /// The driver's name for the error.
        name: String,
    },
    /// It did not end.
    #[error("{} did not finish within {seconds} s and was stopped", label.as_deref().map_or("the work on the GPU".to_owned(), |label| format!("`{label}`")))]
    Timeout {
        /// Whose kernel, where it is known.
        label: Option<String>,
        /// The limit.
        seconds: f64,
    },
    /// The request itself makes no sense.
    #[error("the request cannot be carried out: {0}")]
    BadRequest(String),
    /// A buffer could not be handed over.
    #[error("buffers could not be handed to the GPU's worker process: {0}")]
    Transfer(String),
    /// Anything else that the driver says.
    #[error("CUDA failed while {during}: {text} ({name})")]
    Driver {
        /// What was being done.
        during: String,
        /// The driver's code.
        code: u32,
        /// The driver's name for the error.
        name: String,
        /// The driver's explanation.
        text: String,
    },
    /// The worker process failed.
    #[error("{0}")]
    Worker(String),
}

fn with_log(log: &str) -> String {
    if log.is_empty() { String::new() } else { format!(": {log}") }
}

impl DeviceError {
    /// Whether the launched kernel is to blame, rather than machine, driver or request.
    pub fn is_kernels_fault(&self) -> bool {
        matches!(self, Self::Refused { .. } | Self::Fault { .. } | Self::Timeout { label: Some(_), .. })
    }
}

/// Errors of a kernel that end its CUDA context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FaultKind {
    /// `CUDA_ERROR_ILLEGAL_ADDRESS`, 700.
    IllegalAddress,
    /// `CUDA_ERROR_MISALIGNED_ADDRESS`, 716.
    MisalignedAddress,
    /// `CUDA_ERROR_ASSERT`, 710.
    Assert,
    /// `CUDA_ERROR_ILLEGAL_INSTRUCTION`, 715: a trap, most often.
    IllegalInstruction,
    /// `CUDA_ERROR_HARDWARE_STACK_ERROR`, 714.
    Stack,
    /// `CUDA_ERROR_LAUNCH_TIMEOUT`, 702: the driver's own watchdog.
    Watchdog,
    /// `CUDA_ERROR_INVALID_ADDRESS_SPACE` and `CUDA_ERROR_INVALID_PC`, 717 and 718.
    InvalidJump,
    /// `CUDA_ERROR_LAUNCH_FAILED`, 719, and whatever else ends a context.
    Other,
}

impl FaultKind {
    /// The kind of a driver's result code, if it is one that ends the context.
    pub(super) fn of(code: u32) -> Option<Self> {
        Some(match code {
            700 => Self::IllegalAddress,
            702 => Self::Watchdog,
            710 => Self::Assert,
            714 => Self::Stack,
            715 => Self::IllegalInstruction,
            716 => Self::MisalignedAddress,
            717 | 718 => Self::InvalidJump,
            719 => Self::Other,
            _ => return None,
        })
    }
}

impl std::fmt::Display for FaultKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::IllegalAddress => "read or wrote an address that belongs to no buffer",
            Self::MisalignedAddress => "read or wrote an address that is not a multiple of the access's size",
            Self::Assert => "failed an assertion",
            Self::IllegalInstruction => "ran into a trap or an illegal instruction",
            Self::Stack => "overran its stack",
            Self::Watchdog => "was stopped by the driver's watchdog",
            Self::InvalidJump => "used an address of the wrong kind",
            Self::Other => "failed",
        })
    }
}
