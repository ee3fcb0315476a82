//! Ceilings of well-known GPUs, from their makers' data sheets, and of the one that was measured here.

use std::borrow::Cow;

use crate::ceiling;
use crate::message;

/// The two ceilings of a roofline.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Gpu {
    /// What to call it on the command line.
    pub(crate) key: &'static str,
    pub(crate) name: Cow<'static, str>,
    /// Single-precision operations per second, without tensor cores.
    pub(crate) peak_flops: f64,
    /// Memory bandwidth, in bytes per second.
    pub(crate) bandwidth: f64,
    /// Where the numbers are from.
    pub(crate) source: Cow<'static, str>,
}

/// The name on the command line of the GPU whose ceilings `checker probe` has measured.
pub(crate) const THIS: &str = "this";

impl Gpu {
    /// The GPU that was probed last on this machine.
    pub(crate) fn probed() -> Option<Gpu> {
        let probed = ceiling::latest()?;
        Some(Gpu {
            key: THIS,
            name: probed.device.name.into(),
            peak_flops: probed.ceilings.fma_flops_per_second,
            bandwidth: probed.ceilings.copy_bytes_per_second,
            source: format!("measured on this machine by `{}`", message::command("probe")).into(),
        })
    }

    /// The most operations per second at `intensity` FLOP per byte (Williams, Waterman and Patterson, 2009).
    pub(crate) fn roof(&self, intensity: f64) -> f64 {
        (self.bandwidth * intensity).min(self.peak_flops)
    }

    /// The intensity at which memory stops being the limit, in FLOP per byte.
    pub(crate) fn ridge(&self) -> f64 {
        self.peak_flops / self.bandwidth
    }
}

macro_rules! gpus {
    ($($key:literal $name:literal $tera_flops:literal $giga_bytes:literal $source:literal),* $(,)?) => {
        &[$(Gpu {
            key: $key,
            name: Cow::Borrowed($name),
            peak_flops: $tera_flops * 1e12,
            bandwidth: $giga_bytes * 1e9,
            source: Cow::Borrowed($source),
        }),*]
    };
}

/// TFLOP/s, then GB/s.
pub(crate) static GPUS: &[Gpu] = gpus![
    "h200" "NVIDIA H200 (SXM)" 67.0 4800.0 "NVIDIA H200 Tensor Core GPU data sheet",
    "h100" "NVIDIA H100 (SXM)" 67.0 3350.0 "NVIDIA H100 Tensor Core GPU data sheet",
    "a100" "NVIDIA A100 (SXM, 80 GB)" 19.5 2039.0 "NVIDIA A100 Tensor Core GPU data sheet",
    "a100-40" "NVIDIA A100 (40 GB)" 19.5 1555.0 "NVIDIA A100 Tensor Core GPU data sheet",
    "v100" "NVIDIA V100 (SXM2)" 15.7 900.0 "NVIDIA V100 data sheet",
    "l40s" "NVIDIA L40S" 91.6 864.0 "NVIDIA L40S data sheet",
    "l4" "NVIDIA L4" 30.3 300.0 "NVIDIA L4 data sheet",
    "t4" "NVIDIA T4" 8.1 320.0 "NVIDIA T4 data sheet",
    "rtx4090" "NVIDIA GeForce RTX 4090" 82.6 1008.0 "NVIDIA Ada GPU architecture white paper",
    "rtx3090" "NVIDIA GeForce RTX 3090" 35.6 936.0 "NVIDIA Ampere GA102 GPU architecture white paper",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_roof_rises_to_the_ridge_and_is_flat_after_it() {
        for gpu in GPUS {
            assert!((gpu.roof(gpu.ridge()) - gpu.peak_flops).abs() < 1.0, "{}", gpu.key);
            assert_eq!(gpu.roof(2.0 * gpu.ridge()), gpu.peak_flops);
            assert!((gpu.roof(gpu.ridge() / 2.0) - gpu.peak_flops / 2.0).abs() < 1.0);
            assert!((4.0..120.0).contains(&gpu.ridge()), "{} has an odd ridge", gpu.key);
        }
    }
}
