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
    /// Warps per SM.
    Warps,
    /// Blocks per SM.
    Blocks,
    /// The SM's 65,536 registers.
    Registers,
    /// The SM's shared memory.
    SharedMemory,
}

/// How full an SM gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Resident blocks per SM; 0 if not even one fits.
    pub blocks_per_sm: u32,
    /// Resident warps per SM.
    pub warps_per_sm: u32,
    /// The most warps that an SM can hold.
    pub most_warps: u32,
    /// The resource that runs out first (of equals, the first in the order of [`Limit`]).
    pub limit: Limit,
}

impl Occupancy {
    /// Resident warps in percent of the most an SM can hold.
    pub fn percent(self) -> f64 {
        100.0 * f64::from(self.warps_per_sm) / f64::from(self.most_warps)
    }
}

/// What an SM of one compute capability has: CUDA C++ Programming Guide, table "Technical Specifications per Compute
/// Capability". The allocation units, the register files and the memory that the system keeps are those of
/// `cuda_occupancy.h`, which comes with the CUDA Toolkit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sm {
    /// Compute capability, major and minor.
    pub capability: (u32, u32),
    /// Resident warps.
    pub warps: u32,
    /// Resident blocks.
    pub blocks: u32,
    /// Shared memory, in bytes.
    pub shared_bytes: u32,
    /// The most that a block may ask for, in bytes.
    pub block_shared_bytes: u32,
    /// Shared memory is handed out in units of this many bytes.
    shared_unit: u32,
    /// Shared memory that the system keeps for itself in every block, in bytes.
    shared_reserved: u32,
    /// Register files; a warp lives in one of them.
    partitions: u32,
}

/// Registers are handed out to warps in units of this many.
const REGISTER_UNIT: u32 = 256;

/// An SM before compute capability 8.0, which keeps no shared memory for the system.
const fn early(capability: (u32, u32), warps: u32, blocks: u32, shared: u32, block_shared: u32) -> Sm {
    Sm {
        capability,
        warps,
        blocks,
        shared_bytes: shared << 10,
        block_shared_bytes: block_shared << 10,
        shared_unit: 256,
        shared_reserved: 0,
        partitions: if capability.0 == 6 && capability.1 == 0 { 2 } else { 4 },
    }
}

/// An SM since then.
const fn late(capability: (u32, u32), warps: u32, blocks: u32, shared: u32) -> Sm {
    Sm {
        capability,
        warps,
        blocks,
        shared_bytes: shared << 10,
        block_shared_bytes: (shared - 1) << 10,
        shared_unit: 128,
        shared_reserved: 1 << 10,
        partitions: 4,
    }
}

impl Sm {
    /// Registers of 32 bits per SM, and per block: since compute capability 5.0.
    pub const REGISTERS: u32 = 65_536;
    /// Compute capability 6.0 (P100).
    pub const SM_60: Sm = early((6, 0), 64, 32, 64, 48);
    /// 7.0 (V100).
    pub const SM_70: Sm = early((7, 0), 64, 32, 96, 96);
    /// 7.5 (T4, RTX 20).
    pub const SM_75: Sm = early((7, 5), 32, 16, 64, 64);
    /// 8.0 (A100), which the simulator emulates.
    pub const SM_80: Sm = late((8, 0), 64, 32, 164);
    /// 8.6 (RTX 30).
    pub const SM_86: Sm = late((8, 6), 48, 16, 100);
    /// 8.9 (RTX 40, L4, L40S).
    pub const SM_89: Sm = late((8, 9), 48, 24, 100);
    /// 9.0 (H100, H200).
    pub const SM_90: Sm = late((9, 0), 64, 32, 228);
    /// 10.0 (B200).
    pub const SM_100: Sm = late((10, 0), 64, 32, 228);
    /// 12.0 (RTX 50).
    pub const SM_120: Sm = late((12, 0), 48, 24, 100);

    /// The SM of a compute capability; for one that is not listed, that of the nearest lower one of the same major version.
    pub fn of_capability(capability: (u32, u32)) -> Option<Sm> {
        let all = [
            Sm::SM_60,
            Sm::SM_70,
            Sm::SM_75,
            Sm::SM_80,
            Sm::SM_86,
            Sm::SM_89,
            Sm::SM_90,
            Sm::SM_100,
            Sm::SM_120,
        ];
        let fits = |sm: &Sm| sm.capability.0 == capability.0 && sm.capability <= capability;
        all.into_iter().rfind(fits)
    }

    /// Blocks and warps of one kernel that fit at a time.
    pub fn occupancy(&self, block: BlockResources) -> Occupancy {
        let warps = block.threads.div_ceil(limits::WARP_SIZE).max(1);
        let registers = block.registers_per_thread.max(1).saturating_mul(limits::WARP_SIZE);
        let registers_per_warp = registers.checked_next_multiple_of(REGISTER_UNIT).unwrap_or(u32::MAX);
        let warps_by_registers = Sm::REGISTERS / self.partitions / registers_per_warp * self.partitions;
        let shared = block.shared_bytes.saturating_add(self.shared_reserved);
        let shared = shared.checked_next_multiple_of(self.shared_unit).unwrap_or(u32::MAX).max(1);
        let blocks_by_shared =
            if block.shared_bytes > self.block_shared_bytes { 0 } else { self.shared_bytes / shared };
        let candidates = [
            (self.warps / warps, Limit::Warps),
            (self.blocks, Limit::Blocks),
            (warps_by_registers / warps, Limit::Registers),
            (blocks_by_shared, Limit::SharedMemory),
        ];
        let (blocks_per_sm, limit) =
            candidates.into_iter().min_by_key(|(blocks, _)| *blocks).expect("there are four limits");
        Occupancy { blocks_per_sm, warps_per_sm: blocks_per_sm * warps, most_warps: self.warps, limit }
    }
}

/// A GPU whose occupancy can be asked for by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuModel {
    /// Its name, without the maker's.
    pub name: &'static str,
    /// Its SMs.
    pub sm: Sm,
}

impl GpuModel {
    /// Those that are known.
    pub const ALL: [GpuModel; 14] = [
        GpuModel { name: "P100", sm: Sm::SM_60 },
        GpuModel { name: "V100", sm: Sm::SM_70 },
        GpuModel { name: "T4", sm: Sm::SM_75 },
        GpuModel { name: "RTX 2080", sm: Sm::SM_75 },
        GpuModel { name: "A100", sm: Sm::SM_80 },
        GpuModel { name: "RTX 3090", sm: Sm::SM_86 },
        GpuModel { name: "RTX 4090", sm: Sm::SM_89 },
        GpuModel { name: "L4", sm: Sm::SM_89 },
        GpuModel { name: "L40S", sm: Sm::SM_89 },
        GpuModel { name: "H100", sm: Sm::SM_90 },
        GpuModel { name: "H200", sm: Sm::SM_90 },
        GpuModel { name: "B200", sm: Sm::SM_100 },
        GpuModel { name: "RTX 5080", sm: Sm::SM_120 },
        GpuModel { name: "RTX 5090", sm: Sm::SM_120 },
    ];

    /// The GPU of this name, however it is spaced and capitalised: `RTX 4090`, `rtx4090`.
    pub fn named(name: &str) -> Option<GpuModel> {
        let plain = |name: &str| -> String {
            name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
        };
        let wanted = plain(name);
        GpuModel::ALL.into_iter().find(|gpu| plain(gpu.name) == wanted)
    }
}

/// Blocks and warps of one kernel that fit an SM of compute capability 8.0 at a time.
pub fn occupancy(block: BlockResources) -> Occupancy {
    Sm::SM_80.occupancy(block)
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
    fn a_gpu_is_found_however_its_name_is_written() {
        for name in ["RTX 4090", "rtx4090", "Rtx-4090"] {
            assert_eq!(GpuModel::named(name).map(|gpu| gpu.sm.capability), Some((8, 9)));
        }
        assert_eq!(GpuModel::named("4090"), None);
        assert_eq!(GpuModel::named(""), None);
    }

    #[test]
    fn a_capability_between_two_is_the_lower_one() {
        let of = |major, minor| Sm::of_capability((major, minor)).map(|sm| sm.capability);
        assert_eq!((of(9, 0), of(8, 7), of(8, 9)), (Some((9, 0)), Some((8, 6)), Some((8, 9))));
        assert_eq!((of(5, 2), of(11, 0)), (None, None));
    }

    #[test]
    fn absurd_resources_fit_nothing_and_do_not_overflow() {
        assert_eq!(of(1, 1, u32::MAX), (0, 0, Limit::SharedMemory));
        assert_eq!(of(1, u32::MAX, 0), (0, 0, Limit::Registers));
        assert_eq!(of(u32::MAX, 1, 0), (0, 0, Limit::Warps));
    }
}
