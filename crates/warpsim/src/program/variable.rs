//! Parameters and variables of a module.

use super::Constant;

/// A kernel parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Param {
    pub(crate) name: String,
    pub(crate) offset: usize,
    pub(crate) bytes: usize,
}

/// A variable in shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SharedVariable {
    pub(crate) name: String,
    pub(crate) offset: u64,
    /// 0 for `extern` arrays, which take the rest.
    pub(crate) bytes: u64,
}

impl SharedVariable {
    /// Where it ends in a block that has `shared_bytes` bytes of shared memory.
    pub(crate) fn end(&self, shared_bytes: u64) -> u64 {
        if self.bytes == 0 { shared_bytes.max(self.offset) } else { self.offset + self.bytes }
    }
}

/// A `.global` variable of the module; becomes a buffer for the launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GlobalVariable {
    pub(crate) name: String,
    /// Size in bytes.
    pub(crate) bytes: usize,
    /// What it begins with; the rest is zero.
    pub(crate) data: Vec<u8>,
    /// Places to patch with addresses.
    pub(crate) relocations: Vec<Relocation>,
    /// Nothing has written it: what `malloc` hands out.
    pub(crate) is_heap: bool,
}

/// `bytes` bytes at `at` become the address of a variable or the number of a function: its bits from `shift` on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Relocation {
    pub(crate) at: usize,
    pub(crate) bytes: usize,
    pub(crate) shift: u32,
    pub(crate) target: Constant,
}
