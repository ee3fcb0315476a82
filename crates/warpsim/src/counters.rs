//! What the hardware would have counted.

use serde::{Deserialize, Serialize};

/// Totals over one launch, named after the scope and the unit; the Nsight Compute metric each one stands for is
/// given where there is one. Counts are of PTX warp instructions: the assembler may fuse or drop some.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Warp instructions with at least one lane whose guard holds (`smsp__inst_executed.sum`, of PTX instructions).
    pub warp_instructions: u64,
    /// The same, counted per lane (`smsp__thread_inst_executed.sum`).
    pub thread_instructions: u64,
    /// Warp-level loads from global memory (`l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum`).
    pub global_load_requests: u64,
    /// Distinct 32-byte pieces they touch, per request (`l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum`).
    pub global_load_sectors: u64,
    /// Bytes that the lanes asked for.
    pub global_load_bytes: u64,
    /// Warp-level stores to global memory (`l1tex__t_requests_pipe_lsu_mem_global_op_st.sum`).
    pub global_store_requests: u64,
    /// Distinct 32-byte pieces they touch (`l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum`).
    pub global_store_sectors: u64,
    /// Bytes that the lanes wrote.
    pub global_store_bytes: u64,
    /// Atomics and reductions on global memory.
    pub global_atomic_requests: u64,
    /// Atomics and reductions on shared memory.
    pub shared_atomic_requests: u64,
    /// Loads from constant memory.
    pub constant_load_requests: u64,
    /// Warp-level loads from shared memory, as PTX has them: before the assembler joins neighbouring ones to a wider
    /// load, or leaves out the parts of a vector that nobody uses.
    pub shared_load_requests: u64,
    /// Passes they take (`l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum`, where the assembler kept the loads).
    pub shared_load_wavefronts: u64,
    /// Passes beyond the least possible (`l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum`).
    pub shared_load_bank_conflicts: u64,
    /// Warp-level stores to shared memory.
    pub shared_store_requests: u64,
    /// Passes they take (`l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum`).
    pub shared_store_wavefronts: u64,
    /// Passes beyond the least possible (`l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum`).
    pub shared_store_bank_conflicts: u64,
    /// Conditional branches executed by warps.
    pub branches: u64,
    /// Those in which the active lanes went both ways.
    pub divergent_branches: u64,
    /// Arrivals of warps at block barriers.
    pub barriers: u64,
    /// Single-precision operations per lane: add and mul 1, fma 2.
    pub fp32_flops: u64,
    /// Warp instructions in double precision.
    pub fp64_instructions: u64,
}

impl std::ops::AddAssign for Counters {
    fn add_assign(&mut self, other: Counters) {
        self.warp_instructions += other.warp_instructions;
        self.thread_instructions += other.thread_instructions;
        self.global_load_requests += other.global_load_requests;
        self.global_load_sectors += other.global_load_sectors;
        self.global_load_bytes += other.global_load_bytes;
        self.global_store_requests += other.global_store_requests;
        self.global_store_sectors += other.global_store_sectors;
        self.global_store_bytes += other.global_store_bytes;
        self.global_atomic_requests += other.global_atomic_requests;
        self.shared_atomic_requests += other.shared_atomic_requests;
        self.constant_load_requests += other.constant_load_requests;
        self.shared_load_requests += other.shared_load_requests;
        self.shared_load_wavefronts += other.shared_load_wavefronts;
        self.shared_load_bank_conflicts += other.shared_load_bank_conflicts;
        self.shared_store_requests += other.shared_store_requests;
        self.shared_store_wavefronts += other.shared_store_wavefronts;
        self.shared_store_bank_conflicts += other.shared_store_bank_conflicts;
        self.branches += other.branches;
        self.divergent_branches += other.divergent_branches;
        self.barriers += other.barriers;
        self.fp32_flops += other.fp32_flops;
        self.fp64_instructions += other.fp64_instructions;
    }
}
