//! From one SM to the whole grid: which blocks to sample, how many of them an SM gets, and how the time of a few waves becomes
//! that of all.

use exercise::BlockResources;
use foldhash::{HashMap, HashMapExt as _};

use crate::gpu::Gpu;
use crate::prediction::Obstacle;
use crate::sm::{Footprint, Replay, Replayed};
use crate::trace::Trace;
use crate::work::Work;

/// The most blocks that are sampled.
const SAMPLED: u64 = 4;
/// A grid of more than so many blocks an SM has a middle that is like all the rest.
const MANY: u64 = 8;
/// The most waves of blocks that are replayed.
const WAVES: usize = 12;
/// The least part of a wave that a tail takes.
const LEAST_TAIL: f64 = 0.5;
/// Bytes of shared memory that the system keeps in each block, and the sizes that an SM's share can have, in KiB.
const RESERVED_SHARED: u64 = 1024;
const CARVE_OUTS: [u64; 10] = [0, 8, 16, 32, 64, 100, 132, 164, 196, 228];

/// How a grid lies on the SMs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    pub(crate) blocks: u64,
    /// Blocks that the SM with most of them gets.
    pub(crate) per_sm: usize,
    /// Blocks that an SM holds at a time.
    pub(crate) resident: usize,
    /// Bytes of an SM's memory that are left for L1.
    pub(crate) l1_bytes: u64,
}

impl Grid {
    pub(crate) fn new(work: &Work<'_>, gpu: &Gpu) -> Result<Grid, Obstacle> {
        let shared_bytes = work.shared_bytes();
        let most = gpu.sm.block_shared_bytes;
        if shared_bytes > most {
            return Err(Obstacle::TooMuchShared { needs: shared_bytes, most });
        }
        let (threads, registers_per_thread) = (work.threads_per_block(), work.resources.registers_per_thread);
        let fit = gpu.sm.occupancy(BlockResources { threads, registers_per_thread, shared_bytes });
        if fit.blocks_per_sm == 0 {
            return Err(Obstacle::NoRoom { registers_per_thread, threads });
        }
        let per_sm = work.blocks().div_ceil(gpu.sms as u64).max(1) as usize;
        let resident = (fit.blocks_per_sm as usize).min(per_sm);
        let used = (u64::from(shared_bytes) + RESERVED_SHARED) * resident as u64;
        let carved = CARVE_OUTS.iter().map(|kib| kib << 10).find(|bytes| *bytes >= used).unwrap_or(used);
        let l1_bytes = (gpu.l1_bytes as u64).saturating_sub(carved).max(16 << 10);
        Ok(Grid { blocks: work.blocks(), per_sm, resident, l1_bytes })
    }

    /// Blocks that one SM has at a time, from the middle of the grid: neighbours in time are as far apart as there are SMs.
    pub(crate) fn sample(&self, work: &Work<'_>, gpu: &Gpu) -> Vec<u64> {
        let (sms, row) = (gpu.sms as u64, u64::from(work.grid[0].max(1)));
        let is_large = self.blocks > MANY * sms;
        let first = if is_large { self.blocks / 2 / row * row + row / 2 } else { 0 };
        let count = (self.resident as u64).clamp(1, SAMPLED);
        (0..count).map(|number| (first + number * sms).min(self.blocks - 1)).collect()
    }

    /// Which share of each buffer's sectors comes from DRAM: what several blocks read, L2 keeps.
    pub(crate) fn footprint(&self, trace: &Trace) -> Footprint {
        let mut touched: Vec<HashMap<u64, u8>> = vec![HashMap::new(); trace.buffers.len()];
        let of = |line: u64| {
            let address = line * 128;
            trace.buffers.iter().position(|(at, bytes)| (*at..at + bytes + 128).contains(&address))
        };
        for &(line, sectors) in &trace.lines {
            if let Some(buffer) = of(line) {
                *touched[buffer].entry(line).or_default() |= sectors;
            }
        }
        let sampled = trace.blocks.len().max(1) as f64;
        let share = |((at, bytes), lines): (&(u64, u64), &HashMap<u64, u8>)| {
            let sectors: u32 = lines.values().map(|sectors| sectors.count_ones()).sum();
            let by_all = 32.0 * f64::from(sectors) / sampled * self.blocks as f64;
            (*at, *bytes, (*bytes as f64 / by_all).min(1.0))
        };
        Footprint { buffers: trace.buffers.iter().zip(&touched).map(share).collect() }
    }

    /// Cycles for all blocks of an SM, and what was replayed to find them. `ops` are the instructions of a block.
    pub(crate) fn time(&self, replay: &Replay<'_>, ops: u64) -> (f64, Replayed) {
        let (resident, per_sm) = (self.resident, self.per_sm);
        let all = ops.saturating_mul(per_sm as u64);
        let by_progress = |replayed: &Replayed| replayed.end * all as f64 / replayed.issued.max(1) as f64;
        if per_sm <= 2 * resident || all < replay.most_issued {
            let replayed = replay.play(per_sm);
            let cycles = if replayed.is_cut { by_progress(&replayed) } else { replayed.end };
            return (cycles, replayed);
        }
        let wave = ops.saturating_mul(resident as u64).max(1);
        let waves = (replay.most_issued / wave).clamp(1, WAVES as u64) as usize;
        let rest = per_sm % resident;
        if waves < 2 {
            let replayed = replay.play(resident);
            let share = wave as f64 / replayed.issued.max(1) as f64;
            let cycles = if replayed.is_cut { replayed.end * share } else { replayed.end };
            let tail = if rest == 0 { 0.0 } else { (rest as f64 / resident as f64).max(LEAST_TAIL) };
            return (cycles * ((per_sm / resident) as f64 + tail), replayed);
        }
        let played = (rest + resident * waves).min(per_sm);
        let replayed = replay.play(played);
        let ends = &replayed.ends;
        if replayed.is_cut || ends.len() < 2 * resident {
            return (by_progress(&replayed), replayed);
        }
        // What the last waves took, so will the others.
        let back = resident * (ends.len() / resident - 1).min(waves - 1).max(1);
        let from = ends.len() - back;
        let each = (ends[ends.len() - 1] - ends[from - 1]) / back as f64;
        (replayed.end + each * (per_sm - played) as f64, replayed)
    }
}
