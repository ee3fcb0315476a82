//! What the GPU reaches at best, in the worker: a copy of memory and nothing but fused multiply-adds.

use std::time::{Duration, Instant};

use super::job::Done;
use super::serve::Opened;
use super::{Ceilings, DeviceError};

/// How long each of the two runs before it counts: clocks rise under load.
const WARM_UP: Duration = Duration::from_millis(300);

/// Launches that count; their median is taken.
const LAUNCHES: usize = 15;

/// No single launch takes nearly as long.
const LIMIT: Duration = Duration::from_secs(10);

/// Most that is copied at a time, in bytes: many times any L2 cache.
const COPY_BYTES: u64 = 1 << 30;

/// Turns of the FMA kernel: some milliseconds, against which a launch costs nothing.
const TURNS: u32 = 1500;

pub(super) fn measure(opened: &Opened) -> Result<Done, DeviceError> {
    let gpu = &opened.gpu;
    let helper = opened.helper()?;
    let bytes = COPY_BYTES.min(gpu.info.memory_bytes / 8).max(1 << 20);
    gpu.reserve(2 * bytes)?;
    let (from, to) = (gpu.allocate(bytes)?, gpu.allocate(bytes)?);
    gpu.fill(from, 1)?;
    let copy_ms = median_ms(|| gpu.timed("the copy", LIMIT, || gpu.copy(from, to)))?;
    let mut flops = 0.0;
    let fma_ms = median_ms(|| {
        gpu.timed("the multiply-adds", LIMIT, || {
            flops = helper.multiply_add(gpu, TURNS, to)?;
            Ok(())
        })
    })?;
    gpu.release()?;
    Ok(Done::Ceilings(Ceilings {
        copy_bytes_per_second: 2.0 * bytes as f64 / (copy_ms * 1e-3),
        fma_flops_per_second: flops / (fma_ms * 1e-3),
    }))
}

fn median_ms(mut once: impl FnMut() -> Result<f64, DeviceError>) -> Result<f64, DeviceError> {
    let started = Instant::now();
    while started.elapsed() < WARM_UP {
        once()?;
    }
    let mut times = (0..LAUNCHES).map(|_| once()).collect::<Result<Vec<_>, _>>()?;
    times.sort_by(f64::total_cmp);
    Ok(times[LAUNCHES / 2])
}
