//! The load/store unit of an SM, and its share of what lies after it: L2 and DRAM.
//!
//! Each is a queue with a rate: a request begins when the one before is through, and what it waits for longest is told as the
//! cause. All SMs do alike, so that an SM has its share of L2 and of DRAM for itself.

use super::Cause;
use super::cache::{Arrival, Cache};
use crate::gpu::Gpu;
use crate::trace::Request;

/// Bytes of a sector.
const SECTOR: f64 = 32.0;
/// Of a request's sectors so many may be written in part before it counts as one of partial writes.
const PARTIAL_SHARE: f64 = 0.25;

/// Turns after a wait for stores that are still put down to it.
const HELD: f64 = 64.0;

/// How much of each buffer's traffic goes to DRAM: the rest finds in L2 what another block has read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Footprint {
    /// First byte, bytes, and the share of sectors that come from DRAM.
    pub(crate) buffers: Vec<(u64, u64, f64)>,
}

impl Footprint {
    /// The buffer that a line is in, and its share. What is in none of them comes from DRAM.
    fn of(&self, line: u64) -> (usize, f64) {
        let address = line * 128;
        let is_inside =
            |(start, bytes, _): &(u64, u64, f64)| (*start..start + bytes + 128).contains(&address);
        let found = self.buffers.iter().position(is_inside);
        found.map_or((self.buffers.len(), 1.0), |at| (at, self.buffers[at].2))
    }
}

/// What went through.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Traffic {
    /// Cycles for which the load/store unit was busy.
    pub(crate) unit_cycles: f64,
    /// Sectors that L1 had, and that it had not.
    pub(crate) hits: u64,
    pub(crate) misses: u64,
    /// Bytes between L1 and L2, in sectors.
    pub(crate) l2_bytes: f64,
    pub(crate) dram_bytes: f64,
}

/// The memory system as one SM sees it.
#[derive(Debug)]
pub(super) struct Memory<'a> {
    gpu: &'a Gpu,
    footprint: &'a Footprint,
    l1: Cache,
    /// Until when the unit is busy.
    unit: f64,
    /// Until when it was made to wait by stores that L2 or DRAM had not taken, and by which of them.
    held: f64,
    holder: Cause,
    port: f64,
    l2: f64,
    dram: f64,
    dram_read: f64,
    dram_write: f64,
    /// For each buffer, the part of a sector from DRAM that has gathered.
    due: Vec<f64>,
    pub(super) traffic: Traffic,
}

/// An access to global or local memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access<'a> {
    pub(super) request: Request,
    pub(super) lines: &'a [(u64, u8)],
    /// Added to lines: blocks that repeat a sampled one touch other memory.
    pub(super) moved: u64,
    pub(super) skips_l1: bool,
}

impl<'a> Memory<'a> {
    /// `l1_bytes` is what shared memory leaves.
    pub(super) fn new(gpu: &'a Gpu, footprint: &'a Footprint, l1_bytes: u64) -> Memory<'a> {
        Memory {
            gpu,
            footprint,
            l1: Cache::new(l1_bytes),
            unit: 0.0,
            held: f64::NEG_INFINITY,
            holder: Cause::LoadStore,
            port: 0.0,
            l2: 0.0,
            dram: 0.0,
            dram_read: gpu.share_of(gpu.dram_read_bytes_per_second),
            dram_write: gpu.share_of(gpu.dram_write_bytes_per_second),
            // Half a sector: a single read of a buffer that is mostly shared does not count as none.
            due: vec![0.999_999; footprint.buffers.len() + 1],
            traffic: Traffic::default(),
        }
    }

    /// When everything that was begun is done.
    pub(super) fn end(&self) -> f64 {
        self.unit.max(self.l2).max(self.dram)
    }

    /// Occupies the unit for some turns. Gives back when it is through with them, and how long the request waited.
    fn turns(&mut self, now: f64, turns: f64) -> (f64, f64) {
        let begin = self.unit.max(now);
        self.unit = begin + turns;
        self.traffic.unit_cycles += turns;
        (self.unit, self.unit - now)
    }

    /// What a request waits for that waits for the unit.
    pub(super) fn cause(&self) -> Cause {
        if self.unit - self.held < HELD { self.holder } else { Cause::LoadStore }
    }

    /// Something that takes `turns` in the unit and is there so many cycles after the last.
    pub(super) fn exchange(&mut self, now: f64, turns: f64, latency: f64) -> Arrival {
        let (through, waited) = self.turns(now, turns);
        let cause = if waited > latency { self.cause() } else { Cause::Latency };
        Arrival { at: through + latency - 1.0, cause }
    }

    pub(super) fn load(&mut self, now: f64, access: &Access<'_>) -> Arrival {
        let (through, waited) = self.turns(now, f64::from(access.request.turns.max(1)));
        let latency = self.gpu.l1_latency;
        let cause = if waited > latency { self.cause() } else { Cause::Latency };
        let mut arrival = Arrival { at: through + latency - 1.0, cause };
        for &(line, sectors) in access.lines {
            let missing =
                if access.skips_l1 { sectors } else { self.l1.fetch(line + access.moved, sectors).1 };
            self.traffic.hits += u64::from((sectors & !missing).count_ones());
            let fetched = (missing != 0).then(|| self.fetch(through, line, missing, waited));
            if access.skips_l1 {
                arrival = fetched.map_or(arrival, |fetched| arrival.max(fetched));
                continue;
            }
            let (held, _) = self.l1.fetch(line + access.moved, 0);
            if let Some(fetched) = fetched {
                *held = held.max(fetched);
            }
            arrival = arrival.max(*held);
        }
        arrival
    }

    /// Reads the missing sectors of a line.
    fn fetch(&mut self, now: f64, line: u64, missing: u8, waited: f64) -> Arrival {
        let sectors = f64::from(missing.count_ones());
        let bytes = SECTOR * sectors;
        self.traffic.misses += u64::from(missing.count_ones());
        self.traffic.l2_bytes += bytes;
        self.port = self.port.max(now) + bytes / self.gpu.l2_port_bytes_per_cycle;
        self.l2 = self.l2.max(now) + bytes / self.gpu.l2_read_bytes_per_cycle;
        let served = self.l2.max(self.port);
        let mut waits =
            [(self.cause(), waited), (Cause::L2, served - now), (Cause::Latency, self.gpu.l2_latency)];
        let mut at = served + self.gpu.l2_latency;
        let (buffer, share) = self.footprint.of(line);
        let due = &mut self.due[buffer];
        *due += sectors * share;
        if *due >= 1.0 {
            let whole = due.floor().min(sectors);
            *due -= whole;
            self.dram = self.dram.max(now) + SECTOR * whole / self.dram_read;
            self.traffic.dram_bytes += SECTOR * whole;
            if self.dram + self.gpu.dram_latency > at {
                at = self.dram + self.gpu.dram_latency;
                (waits[1], waits[2]) =
                    ((Cause::Dram, self.dram - now), (Cause::Latency, self.gpu.dram_latency));
            }
        }
        let longest = waits.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        Arrival { at, cause: longest.map_or(Cause::Latency, |(cause, _)| cause) }
    }

    /// Gives back when the copy has arrived in shared memory.
    pub(super) fn copy(&mut self, now: f64, access: &Access<'_>) -> Arrival {
        let arrival = self.load(now, access);
        let turns = f64::from(access.request.bytes) / 128.0;
        self.unit += turns;
        self.traffic.unit_cycles += turns;
        Arrival { at: arrival.at + 10.0, ..arrival }
    }

    /// Writes go to L2. A sector of which a part is written must be put together with the rest.
    pub(super) fn store(&mut self, now: f64, access: &Access<'_>) {
        let (through, _) = self.turns(now, f64::from(access.request.turns.max(1)));
        let sectors = f64::from(access.lines.iter().map(|(_, sectors)| sectors.count_ones()).sum::<u32>());
        let bytes = f64::from(access.request.bytes);
        let is_partial = sectors - bytes / SECTOR > PARTIAL_SHARE * sectors;
        let cost = if is_partial { sectors * self.gpu.partial_sector_cost } else { sectors };
        self.l2 = self.l2.max(through) + SECTOR * cost / self.gpu.l2_write_bytes_per_cycle;
        self.dram = self.dram.max(through) + bytes / self.dram_write;
        self.traffic.l2_bytes += SECTOR * sectors;
        self.traffic.dram_bytes += bytes;
        let taken = self.l2.max(self.dram) - self.gpu.store_window;
        if taken > self.unit {
            (self.unit, self.held) = (taken, taken);
            self.holder = if self.l2 > self.dram { Cause::L2 } else { Cause::Dram };
        }
    }

    /// A store to a thread's own memory: L1 keeps it.
    pub(super) fn store_local(&mut self, now: f64, access: &Access<'_>) {
        self.turns(now, f64::from(access.request.turns.max(1)));
        for &(line, sectors) in access.lines {
            let (held, missing) = self.l1.fetch(line + access.moved, sectors);
            if missing != 0 {
                *held = Arrival { at: now, cause: Cause::Latency };
            }
        }
    }

    /// Until when the unit is busy with what it has.
    pub(super) fn busy_until(&self) -> f64 {
        self.unit
    }
}
