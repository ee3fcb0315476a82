//! How many warps an SM can hold.

use crate::launch::limits;

/// What one block of a kernel takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockResources {
    /// Threads per block.
    pub threads: u32,
    /// Registers per thread.
    pub registers_per_thread: u32,
    /// Static and dynamic shared memory, in bytes.
    pub shared_bytes: u32,
}

/// What decides how many blocks fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// 64 warps per SM.
    Warps,
    /// 32 blocks per SM.
    Blocks,
    /// 65,536 registers per SM.
    Registers,
    /// 164 KB of shared memory per SM.
    SharedMemory,
}

/// How full an SM gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Resident blocks per SM; 0 if not even one fits.
    pub blocks_per_sm: u32,
    /// Resident warps per SM.
    pub warps_per_sm: u32,
    /// The resource that runs out first (of equals, the first in the order of [`Limit`]).
    pub limit: Limit,
}

impl Occupancy {
    /// Resident warps in percent of the most an SM can hold.
    pub fn percent(self) -> f64 {
        100.0 * f64::from(self.warps_per_sm) / f64::from(sm::WARPS)
    }
}

/// An SM of compute capability 8.0 (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; the
/// allocation units are those of NVIDIA's occupancy calculator).
mod sm {
    pub(super) const WARPS: u32 = 64;
    pub(super) const BLOCKS: u32 = 32;
    pub(super) const REGISTERS: u32 = 65_536;
    /// Registers are handed out to warps in units of this many.
    pub(super) const REGISTER_UNIT: u32 = 256;
    /// An SM has four register files; a warp lives in one of them.
    pub(super) const PARTITIONS: u32 = 4;
    pub(super) const SHARED_BYTES: u32 = 164 * 1024;
    pub(super) const SHARED_UNIT: u32 = 128;
    /// Shared memory that the system keeps for itself in every block.
    pub(super) const SHARED_RESERVED: u32 = 1024;
}

/// Blocks and warps of one kernel that fit an SM of compute capability 8.0 at a time.
pub fn occupancy(block: BlockResources) -> Occupancy {
    let warps = block.threads.div_ceil(limits::WARP_SIZE).max(1);
    let registers_per_warp =
        (block.registers_per_thread.max(1) * limits::WARP_SIZE).next_multiple_of(sm::REGISTER_UNIT);
    let warps_by_registers = sm::REGISTERS / sm::PARTITIONS / registers_per_warp * sm::PARTITIONS;
    let shared = block.shared_bytes.saturating_add(sm::SHARED_RESERVED);
    let shared = shared.checked_next_multiple_of(sm::SHARED_UNIT).unwrap_or(u32::MAX);
    let candidates = [
        (sm::WARPS / warps, Limit::Warps),
        (sm::BLOCKS, Limit::Blocks),
        (warps_by_registers / warps, Limit::Registers),
        (sm::SHARED_BYTES / shared, Limit::SharedMemory),
    ];
    let (blocks_per_sm, limit) =
        candidates.into_iter().min_by_key(|(blocks, _)| *blocks).expect("there are four limits");
    Occupancy { blocks_per_sm, warps_per_sm: blocks_per_sm * warps, limit }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(threads: u32, registers_per_thread: u32, shared_bytes: u32) -> (u32, u32, Limit) {
        let found = occupancy(BlockResources { threads, registers_per_thread, shared_bytes });
        (found.blocks_per_sm, found.warps_per_sm, found.limit)
    }

    // Expected values from NVIDIA's occupancy calculator for 8.0 with the 164 KB configuration.
    #[test]
    fn each_resource_can_be_the_limit() {
        assert_eq!(of(256, 32, 0), (8, 64, Limit::Warps));
        assert_eq!(of(32, 32, 0), (32, 32, Limit::Blocks));
        assert_eq!(of(256, 64, 0), (4, 32, Limit::Registers));
        assert_eq!(of(256, 32, 40 * 1024), (4, 32, Limit::SharedMemory));
        assert_eq!(of(1024, 255, 0).0, 0);
    }

    #[test]
    fn allocation_units_round_up() {
        // 33 registers take 5 units of 256 per warp: 12 warps in each of four register files.
        assert_eq!(of(128, 33, 0), (12, 48, Limit::Registers));
        // 80 KB and the reserved KB: two blocks do not fit 161 KB, but 164 KB.
        assert_eq!(of(64, 16, 80 * 1024).0, 2);
        assert_eq!(of(64, 16, 82 * 1024).0, 1);
    }

    #[test]
    fn absurd_resources_fit_nothing_and_do_not_overflow() {
        assert_eq!(of(1, 1, u32::MAX), (0, 0, Limit::SharedMemory));
    }
}
