//! What is to be predicted.

use ptx::Module;

/// A kernel and its launch.
#[derive(Clone, Debug)]
pub struct Work<'a> {
    /// Where the kernel is.
    pub module: &'a Module,
    /// Its symbol.
    pub kernel: &'a str,
    /// What the compiler says it takes, for the GPU's architecture or one near it.
    pub resources: Resources,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads per block in x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory per block, in bytes.
    pub dynamic_shared_bytes: u32,
    /// In the order of the kernel's parameters.
    pub arguments: Vec<Argument>,
}

/// What a kernel takes of an SM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Registers per thread.
    pub registers_per_thread: u32,
    /// Static shared memory per block, in bytes.
    pub static_shared_bytes: u32,
    /// Bytes that the compiler writes to and reads from local memory for want of registers, summed over instructions.
    pub spill_bytes: u32,
}

/// A kernel's argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A buffer of so many bytes, which holds zeros.
    Buffer {
        /// Its name, for messages.
        name: String,
        /// Its length.
        bytes: u64,
    },
    /// The little-endian bytes of a value.
    Value(Vec<u8>),
}

impl Work<'_> {
    /// Blocks in all.
    pub(crate) fn blocks(&self) -> u64 {
        self.grid.iter().map(|side| u64::from(*side)).product()
    }

    pub(crate) fn threads_per_block(&self) -> u32 {
        self.block.iter().fold(1, |threads, side| threads.saturating_mul(*side))
    }

    pub(crate) fn warps_per_block(&self) -> u32 {
        self.threads_per_block().div_ceil(32)
    }

    pub(crate) fn shared_bytes(&self) -> u32 {
        self.resources.static_shared_bytes.saturating_add(self.dynamic_shared_bytes)
    }
}
