//! A measurement, in the worker.
//!
//! Everything up to the timed launch is queued without waiting: the flush keeps the GPU busy while the host queues
//! the launch behind it, so the events see the kernel and not the host's delay.

use std::time::{Duration, Instant};

use super::driver::{self, Gpu, Kernel, Memory};
use super::job::{BufferSpec, Done, Side, TimeJob};
use super::nvml::Nvml;
use super::run_task::{POISON, enqueue, place, store};
use super::schedule::{self, Bench};
use super::{DIFFERING_KEPT, DeviceError, HostCheck, TimeReply, Work};

/// PTX for kernels of this crate's own; see `helper.cu`.
const HELPER: &str = concat!(include_str!("helper.ptx"), "\0");

/// Empty launches that are timed.
const EMPTY_LAUNCHES: usize = 30;

/// Threads per block of the helper kernels.
const HELPER_BLOCK: u32 = 256;

pub(super) fn time(job: &TimeJob) -> Result<Done, DeviceError> {
    let mut bench = GpuBench::new(job)?;
    let management = Nvml::open(&bench.gpu.info.pci_bus_id);
    let mut clocks = Vec::new();
    let mut note_clocks = || clocks.extend(management.as_ref().and_then(Nvml::clocks));

    let works = job.works.len();
    schedule::measure(&mut bench, works, job.warmups, 0, job.seed)?;
    note_clocks();
    let rounds = schedule::measure(&mut bench, works, 0, job.rounds, job.seed.wrapping_add(1))?;
    note_clocks();
    let empty_launches = (0..EMPTY_LAUNCHES).map(|_| bench.empty_launch()).collect::<Result<_, _>>()?;
    let host_checks = (0..works).map(|work| bench.host_check(work)).collect::<Result<_, _>>()?;

    let differing_kept = bench.differing_rounds.len().min(DIFFERING_KEPT);
    let reply = TimeReply {
        device: bench.gpu.info,
        rounds,
        empty_launches,
        host_checks,
        clocks,
        outputs: Vec::new(),
        differing_rounds: bench.differing_rounds,
        differing_outputs: Vec::new(),
    };
    Ok(Done::Timed { reply, differing_kept })
}

struct GpuBench<'a> {
    job: &'a TimeJob,
    gpu: Gpu,
    helper: Helper,
    /// What the kernels work on.
    memory: Vec<Memory>,
    /// What the buffers hold before each launch; `None` for poison.
    pristine: Vec<Option<Memory>>,
    /// Outputs of the checked work's first timed launch.
    first: Vec<Option<Memory>>,
    has_first: bool,
    differing_rounds: Vec<u32>,
    deadline: Instant,
}

struct Helper {
    empty: Kernel,
    read: Kernel,
    compare: Kernel,
    /// Twice the L2 cache.
    flush: Memory,
    /// A counter of differing bytes.
    counter: Memory,
}

impl<'a> GpuBench<'a> {
    fn new(job: &'a TimeJob) -> Result<Self, DeviceError> {
        let deadline = Instant::now() + job.limit;
        let gpu = Gpu::open(job.ordinal)?;
        // Some virtual GPUs report no cache; a multiple of 16 for the reading kernel.
        let flush_bytes = (2 * gpu.info.l2_bytes).max(32 << 20).next_multiple_of(16);
        let bytes_of = |wanted: fn(&BufferSpec) -> bool| -> u64 {
            job.buffers.iter().filter(|spec| wanted(spec)).map(|spec| spec.bytes).sum()
        };
        gpu.reserve(bytes_of(|_| true) + bytes_of(|b| b.in_file) + bytes_of(|b| b.read_back) + flush_bytes)?;
        let memory = place(&gpu, &job.buffers, &job.folder)?;
        let second = |wanted: fn(&BufferSpec) -> bool| {
            let one = |spec: &BufferSpec| wanted(spec).then(|| gpu.allocate(spec.bytes)).transpose();
            job.buffers.iter().map(one).collect::<Result<Vec<_>, _>>()
        };
        let (pristine, first) = (second(|spec| spec.in_file)?, second(|spec| spec.read_back)?);
        for (from, to) in memory.iter().zip(&pristine) {
            if let Some(to) = to {
                gpu.copy(*from, *to)?;
            }
        }
        let load = |name: &str| {
            gpu.load_image(HELPER.as_bytes(), name)
                .map_err(|error| driver::explain(error, "loading the timing kernels"))
        };
        let helper = Helper {
            empty: load("warplings_empty")?,
            read: load("warplings_read")?,
            compare: load("warplings_compare")?,
            flush: gpu.allocate(flush_bytes)?,
            counter: gpu.allocate(8)?,
        };
        gpu.synchronize("preparing the measurement")?;
        Ok(Self {
            job,
            gpu,
            helper,
            memory,
            pristine,
            first,
            has_first: false,
            differing_rounds: Vec::new(),
            deadline,
        })
    }

    /// Gives every buffer its first contents again, in stream order.
    fn restore(&self) -> Result<(), DeviceError> {
        for (memory, pristine) in self.memory.iter().zip(&self.pristine) {
            match pristine {
                Some(pristine) => self.gpu.copy(*pristine, *memory)?,
                None => self.gpu.fill(*memory, POISON)?,
            }
        }
        Ok(())
    }

    /// Fills the L2 cache with clean lines of other data: writing evicts what is there, reading writes that back.
    fn flush(&self) -> Result<(), DeviceError> {
        let flush = self.helper.flush;
        self.gpu.fill(flush, 0)?;
        self.launch_helper(
            &self.helper.read,
            &mut [flush.address, flush.bytes / 16, self.helper.counter.address],
        )
    }

    fn launch_helper(&self, kernel: &Kernel, args: &mut [u64]) -> Result<(), DeviceError> {
        let blocks = self.gpu.info.multiprocessors.max(1) * 8;
        self.gpu
            .enqueue(kernel, [blocks, 1, 1], [HELPER_BLOCK, 1, 1], 0, args)
            .map_err(|error| driver::explain(error, "running the timing kernels"))
    }

    /// How long the next launch may take: its own limit, or what is left of the whole.
    fn limit(&self) -> Result<Duration, DeviceError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(DeviceError::Timeout { label: None, seconds: self.job.limit.as_secs_f64() });
        }
        Ok(left.min(self.job.launch_limit))
    }

    /// Restores, flushes and launches. With `settle` the GPU is idle before the launch, so that the host's clock can
    /// time it too; the second figure is that time in milliseconds.
    fn launch_once(&self, work: usize, settle: bool) -> Result<(f64, f64), DeviceError> {
        let limit = self.limit()?;
        self.restore()?;
        match &self.job.works[work] {
            Work::Launch(launch) => {
                let kernel = self.gpu.load(launch)?;
                let times = self.bracket(&launch.label, limit, settle, || {
                    enqueue(&self.gpu, &kernel, launch, &self.memory)
                })?;
                self.gpu.unload(&kernel)?;
                Ok(times)
            }
            Work::Copy { from, to } => {
                self.bracket("copy", limit, settle, || self.gpu.copy(self.memory[*from], self.memory[*to]))
            }
        }
    }

    fn bracket(
        &self,
        label: &str,
        limit: Duration,
        settle: bool,
        work: impl FnOnce() -> Result<(), DeviceError>,
    ) -> Result<(f64, f64), DeviceError> {
        self.flush()?;
        if settle {
            self.gpu.synchronize("flushing the cache")?;
        }
        let started = Instant::now();
        let event_ms = self.gpu.timed(label, limit, work)?;
        Ok((event_ms, started.elapsed().as_secs_f64() * 1e3))
    }

    fn host_check(&mut self, work: usize) -> Result<HostCheck, DeviceError> {
        let (event_ms, host_ms) = self.launch_once(work, true)?;
        Ok(HostCheck { event_ms, host_ms })
    }

    fn empty_launch(&self) -> Result<f64, DeviceError> {
        let launch = || {
            self.gpu
                .enqueue(&self.helper.empty, [1; 3], [32, 1, 1], 0, &mut [])
                .map_err(|error| driver::explain(error, "timing an empty launch"))
        };
        self.bracket("empty", self.limit()?, false, launch).map(|(event_ms, _)| event_ms)
    }

    /// Keeps the first outputs, compares all later ones with them on the GPU, and keeps the first few that differ.
    fn check_outputs(&mut self, round: u32) -> Result<(), DeviceError> {
        let (specs, folder) = (&self.job.buffers, &self.job.folder);
        if !self.has_first {
            self.has_first = true;
            for (memory, first) in self.memory.iter().zip(&self.first) {
                if let Some(first) = first {
                    self.gpu.copy(*memory, *first)?;
                }
            }
            return store(&self.gpu, specs, &self.memory, folder, Side::Output);
        }
        let counter = self.helper.counter;
        self.gpu.fill(counter, 0)?;
        for (memory, first) in self.memory.iter().zip(&self.first) {
            if let Some(first) = first {
                let mut args = [memory.address, first.address, memory.bytes, counter.address];
                self.launch_helper(&self.helper.compare, &mut args)?;
            }
        }
        if self.gpu.download(counter)?.iter().any(|&byte| byte != 0) {
            let nth = self.differing_rounds.len();
            self.differing_rounds.push(round);
            if nth < DIFFERING_KEPT {
                store(&self.gpu, specs, &self.memory, folder, Side::Differing(nth))?;
            }
        }
        Ok(())
    }
}

impl Bench for GpuBench<'_> {
    fn launch(&mut self, work: usize, round: Option<u32>) -> Result<f64, DeviceError> {
        let (event_ms, _) = self.launch_once(work, false)?;
        if let (Some(round), true) = (round, work == self.job.checked) {
            self.check_outputs(round)?;
        }
        Ok(event_ms)
    }
}
