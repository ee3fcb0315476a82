//! What a good kernel keeps to on the simulator.

/// A quantity made of the simulator's counters that does not depend on the technique used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Global load sectors x 32 / bytes the lanes asked for: 1.0 is perfectly coalesced, 8.0 the worst for floats.
    LoadSectorOverhead,
    /// The same for global stores.
    StoreSectorOverhead,
    /// Single-precision operations per byte loaded from global memory by the lanes.
    FlopsPerLoadedByte,
    /// Single-precision operations per shared-memory wavefront of loads.
    FlopsPerSharedWavefront,
    /// Bank conflicts per shared-memory request, loads and stores together.
    BankConflictsPerRequest,
    /// Divergent branches per block.
    DivergentBranchesPerBlock,
    /// Warp-level global load and store requests per element of output.
    GlobalRequestsPerElement,
}

/// Which way a requirement goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// At most.
    AtMost(f64),
    /// At least.
    AtLeast(f64),
}

/// One requirement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Requirement {
    /// A short key for programs and for `mistakes/`: `sectors`.
    pub key: &'static str,
    /// What is measured.
    pub metric: Metric,
    /// The bound.
    pub bound: Bound,
    /// Said when the requirement is not met: what it means and what to look at.
    pub advice: &'static str,
}
