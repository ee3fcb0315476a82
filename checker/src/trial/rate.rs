//! How much a timed kernel moves and computes per second, beside what the GPU reaches at best.

use cuda::device::Ceilings;
use exercise::{Exercise, Precision, Size, Yardstick};

use crate::engine::gpu::Gpu;
use crate::judge::timing::median;

/// The work of one launch, and what to hold its speed against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rates {
    /// Bytes that the task must move at least: every input read once, every output written once.
    pub(crate) bytes: u64,
    /// Floating-point operations that the task needs.
    pub(crate) flops: u64,
    /// What the GPU reaches; zeros where that is not known.
    pub(crate) ceilings: Ceilings,
    /// Whether `checker probe` measured that, or it follows from clocks and widths.
    pub(crate) is_measured: bool,
    pub(crate) beside: Option<Beside>,
}

/// A library's time in the same rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Beside {
    /// `cuBLAS`, `device copy`.
    pub(crate) name: &'static str,
    /// The median.
    pub(crate) milliseconds: f64,
    /// What it moves, if it is a copy.
    pub(crate) bytes: u64,
    /// What it computes.
    pub(crate) flops: u64,
}

impl Rates {
    pub(super) fn new(
        gpu: &Gpu,
        exercise: &Exercise,
        size: Size,
        yardstick: Option<&Yardstick>,
        times: Vec<f64>,
    ) -> Rates {
        let (bytes, flops) = (exercise.problem.bytes(size), exercise.problem.flops(size));
        let beside = yardstick.filter(|_| !times.is_empty()).map(|yardstick| {
            let (name, bytes, flops) = match *yardstick {
                Yardstick::MatrixProduct { precision: Precision::Single, .. } => ("cuBLAS", 0, flops),
                Yardstick::MatrixProduct { precision: Precision::Tf32, .. } => ("cuBLAS in TF32", 0, flops),
                // Each byte is read and written; within a buffer that is one half and the other.
                Yardstick::Copy { bytes, .. } => ("device copy", 2 * bytes, 0),
                Yardstick::CopyWithin { bytes, .. } => ("device copy", bytes, 0),
            };
            Beside { name, milliseconds: median(times), bytes, flops }
        });
        let peaks = Ceilings {
            copy_bytes_per_second: gpu.info.peak_bandwidth(),
            fma_flops_per_second: gpu.info.peak_flops(),
        };
        let ceilings = gpu.ceilings.unwrap_or(peaks);
        Rates { bytes, flops, ceilings, is_measured: gpu.ceilings.is_some(), beside }
    }

    /// Whether the task is nearer to the limit of arithmetic than to that of memory.
    pub(crate) fn is_arithmetic(&self) -> bool {
        let Ceilings { copy_bytes_per_second, fma_flops_per_second } = self.ceilings;
        self.flops as f64 * copy_bytes_per_second > self.bytes as f64 * fma_flops_per_second
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ridge_parts_memory_from_arithmetic() {
        let rates = |bytes, flops| Rates {
            bytes,
            flops,
            ceilings: Ceilings { copy_bytes_per_second: 4e12, fma_flops_per_second: 60e12 },
            is_measured: true,
            beside: None,
        };
        assert!(!rates(100, 1499).is_arithmetic() && rates(100, 1501).is_arithmetic());
        assert!(!rates(100, 0).is_arithmetic());
    }
}
