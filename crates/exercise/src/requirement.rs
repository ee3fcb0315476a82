//! What a good kernel keeps to on the simulator.

/// A quantity made of the simulator's counters (or, for [`Occupancy`](Metric::Occupancy), of the compiler's resource
/// report) that does not depend on the technique used.
///
/// A ratio whose denominator is 0 is 0 for the metrics that count waste (no request, no conflict), and 0 for those that
/// count work done per access too: a kernel that reads nothing has not earned its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Global load sectors x 32 / bytes the lanes asked for: 1.0 is perfectly coalesced, 8.0 the worst for floats.
    LoadSectorOverhead,
    /// The same for global stores.
    StoreSectorOverhead,
    /// Operations that the task needs per byte loaded from global memory by the lanes.
    FlopsPerLoadedByte,
    /// Operations that the task needs per shared-memory wavefront of loads.
    FlopsPerSharedWavefront,
    /// Bank conflicts per shared-memory request, loads and stores together.
    BankConflictsPerRequest,
    /// Divergent branches per block.
    DivergentBranchesPerBlock,
    /// Warp-level global load and store requests per element of output.
    GlobalRequestsPerElement,
    /// Bytes that the lanes ask for per warp-level global request, loads and stores together: 128 with 4 bytes for each of 32
    /// lanes, 512 with 16.
    BytesPerGlobalRequest,
    /// Active lanes per warp instruction, 1 to 32: thread instructions / warp instructions.
    ActiveLanes,
    /// Multiply-adds that the task needs (half its operations) per warp instruction of any kind: at most 32 for a kernel of
    /// ordinary multiply-adds, one for each lane, however good it is; 1,024 are made by one `mma.m16n8k8`.
    MultiplyAddsPerInstruction,
    /// Warps that an SM of compute capability 8.0 can hold at once, in percent of its 64, from registers per thread,
    /// static and dynamic shared memory and block size: [`occupancy`](crate::occupancy).
    Occupancy,
}

/// Which way a requirement goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// At most.
    AtMost(f64),
    /// At least.
    AtLeast(f64),
}

impl Bound {
    /// The number alone.
    pub const fn value(self) -> f64 {
        match self {
            Bound::AtMost(value) | Bound::AtLeast(value) => value,
        }
    }

    /// Whether a measured value keeps to it. NaN does not.
    pub const fn is_met_by(self, measured: f64) -> bool {
        match self {
            Bound::AtMost(most) => measured <= most,
            Bound::AtLeast(least) => measured >= least,
        }
    }
}

/// One requirement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Requirement {
    /// A short key for programs and for `mistakes/`: `load_sectors`.
    pub key: &'static str,
    /// What is measured.
    pub metric: Metric,
    /// The bound.
    pub bound: Bound,
    /// Said when the requirement is not met: what it means and what to look at.
    pub advice: &'static str,
    /// Said instead to a kernel that loads from shared memory, where `advice` would ask for what it does already.
    pub advice_with_tile: Option<&'static str>,
}

impl Requirement {
    /// Global loads use the sectors they fetch. 1.1 leaves room for nothing but the odd unaligned start: every kernel whose
    /// warps read runs of at least 8 floats is at 1.0, broadcasts are below, a stride of a row is at 8.0.
    pub const COALESCED_LOADS: Requirement = Requirement {
        key: "load_sectors",
        metric: Metric::LoadSectorOverhead,
        bound: Bound::AtMost(1.1),
        advice: "Memory is read in sectors of 32 bytes, and your warps do not use all of what they fetch. Let neighbouring \
            threads (in x) read neighbouring elements; where they do, make the block at least 8 threads wide, and begin each run \
            of 8 elements at a multiple of 8.",
        advice_with_tile: None,
    };

    /// The same for global stores.
    pub const COALESCED_STORES: Requirement = Requirement {
        key: "store_sectors",
        metric: Metric::StoreSectorOverhead,
        bound: Bound::AtMost(1.1),
        advice: "Memory is written in sectors of 32 bytes, and your warps do not fill those that they touch. Let neighbouring \
            threads (in x) store neighbouring elements; where they do, make the block at least 8 threads wide, and begin each run \
            of 8 elements at a multiple of 8.",
        advice_with_tile: None,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_include_their_value_and_exclude_nan() {
        assert!(Bound::AtMost(1.0).is_met_by(1.0) && !Bound::AtMost(1.0).is_met_by(1.1));
        assert!(Bound::AtLeast(1.0).is_met_by(1.0) && !Bound::AtLeast(1.0).is_met_by(0.9));
        assert!(!Bound::AtMost(1.0).is_met_by(f64::NAN) && !Bound::AtLeast(1.0).is_met_by(f64::NAN));
    }
}
