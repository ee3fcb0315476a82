//! The quantities that requirements are stated in, made of the simulator's counters.

use exercise::{BlockResources, Metric, occupancy};
use warpsim::Counters;

use crate::compile::Resources;

/// A run, as far as requirements see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) counters: Counters,
    /// Blocks in the grid.
    pub(crate) blocks: u64,
    /// Threads per block.
    pub(crate) threads: u32,
    /// Dynamic shared memory per block, in bytes.
    pub(crate) dynamic_shared_bytes: u32,
    pub(crate) resources: Resources,
    /// Elements of output.
    pub(crate) elements: u64,
    /// Floating-point operations that the task needs, however they are made.
    pub(crate) flops: u64,
}

/// Bytes of a DRAM sector.
const SECTOR_BYTES: u64 = 32;

impl Measured {
    /// The value of `metric`. A ratio to nothing is 0: no waste, and no work done either.
    pub(crate) fn value(&self, metric: Metric) -> f64 {
        let c = &self.counters;
        match metric {
            Metric::LoadSectorOverhead => ratio(c.global_load_sectors * SECTOR_BYTES, c.global_load_bytes),
            Metric::StoreSectorOverhead => ratio(c.global_store_sectors * SECTOR_BYTES, c.global_store_bytes),
            Metric::FlopsPerLoadedByte => ratio(self.flops, c.global_load_bytes),
            Metric::FlopsPerSharedWavefront => ratio(self.flops, c.shared_load_wavefronts),
            Metric::BankConflictsPerRequest => ratio(
                c.shared_load_bank_conflicts + c.shared_store_bank_conflicts,
                c.shared_load_requests + c.shared_store_requests,
            ),
            Metric::DivergentBranchesPerBlock => ratio(c.divergent_branches, self.blocks),
            Metric::GlobalRequestsPerElement => {
                ratio(c.global_load_requests + c.global_store_requests, self.elements)
            }
            Metric::BytesPerGlobalRequest => ratio(
                c.global_load_bytes + c.global_store_bytes,
                c.global_load_requests + c.global_store_requests,
            ),
            Metric::ActiveLanes => ratio(c.thread_instructions, c.warp_instructions),
            Metric::MultiplyAddsPerInstruction => ratio(self.flops / 2, c.warp_instructions),
            Metric::Occupancy => occupancy(BlockResources {
                threads: self.threads,
                registers_per_thread: self.resources.registers_per_thread,
                shared_bytes: self.resources.static_shared_bytes + self.dynamic_shared_bytes,
            })
            .percent(),
        }
    }
}

#[cfg(test)]
impl Measured {
    /// A kernel of 4 blocks of 256 threads for 128 elements that did nothing.
    pub(super) fn of_nothing() -> Measured {
        Measured {
            counters: Counters::default(),
            blocks: 4,
            threads: 256,
            dynamic_shared_bytes: 0,
            resources: Resources::default(),
            elements: 128,
            flops: 4096,
        }
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(change: impl FnOnce(&mut Counters)) -> Measured {
        let mut counters = Counters::default();
        change(&mut counters);
        Measured { counters, ..Measured::of_nothing() }
    }

    #[test]
    fn coalesced_float_loads_have_an_overhead_of_one_and_strided_ones_of_eight() {
        let loads = |sectors| {
            measured(|c| {
                (c.global_load_requests, c.global_load_sectors, c.global_load_bytes) = (1, sectors, 128)
            })
        };
        assert_eq!(loads(4).value(Metric::LoadSectorOverhead), 1.0);
        assert_eq!(loads(32).value(Metric::LoadSectorOverhead), 8.0);
    }

    #[test]
    fn what_never_happens_costs_nothing_and_earns_nothing() {
        assert_eq!(measured(|_| {}).value(Metric::LoadSectorOverhead), 0.0);
        let no_loads = measured(|_| {});
        assert_eq!(no_loads.value(Metric::FlopsPerLoadedByte), 0.0);
    }

    #[test]
    fn totals_are_divided_by_what_they_are_named_for() {
        let m = measured(|c| {
            c.divergent_branches = 6;
            (c.global_load_requests, c.global_store_requests) = (24, 8);
            (c.shared_load_requests, c.shared_store_requests) = (3, 1);
            (c.shared_load_bank_conflicts, c.shared_store_bank_conflicts) = (93, 31);
        });
        assert_eq!(m.value(Metric::DivergentBranchesPerBlock), 1.5);
        assert_eq!(m.value(Metric::GlobalRequestsPerElement), 0.25);
        assert_eq!(m.value(Metric::BankConflictsPerRequest), 31.0);
    }

    #[test]
    fn work_for_nothing_does_not_raise_a_figure() {
        let useful = measured(|c| (c.fp32_flops, c.global_load_bytes) = (4096, 1024));
        let padded = measured(|c| (c.fp32_flops, c.global_load_bytes) = (65_536, 1024));
        assert_eq!(useful.value(Metric::FlopsPerLoadedByte), padded.value(Metric::FlopsPerLoadedByte));
    }

    #[test]
    fn multiply_adds_are_those_of_the_task_whoever_makes_them() {
        assert_eq!(measured(|c| c.warp_instructions = 64).value(Metric::MultiplyAddsPerInstruction), 32.0);
        let on_tensor_cores = measured(|c| (c.warp_instructions, c.fp32_flops) = (2, 0));
        assert_eq!(on_tensor_cores.value(Metric::MultiplyAddsPerInstruction), 1024.0);
    }

    #[test]
    fn dynamic_shared_memory_lowers_occupancy_like_static() {
        let with = |fixed, dynamic| Measured {
            resources: Resources { registers_per_thread: 32, static_shared_bytes: fixed, spill_bytes: 0 },
            dynamic_shared_bytes: dynamic,
            ..measured(|_| {})
        };
        assert_eq!(with(0, 0).value(Metric::Occupancy), 100.0);
        assert_eq!(with(20 << 10, 20 << 10).value(Metric::Occupancy), 50.0);
    }
}
