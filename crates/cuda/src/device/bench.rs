//! The timed launches of a measurement.
//!
//! Everything up to the timed launch is queued without waiting: the flush keeps the GPU busy while the host queues
//! the launch behind it, so the events see the kernel and not the host's delay.

use std::time::{Duration, Instant};

use super::driver::{Gpu, Memory};
use super::helper::Helper;
use super::job::{BufferSpec, Side, TimeJob};
use super::run_task::{POISON, enqueue, place};
use super::schedule::Bench;
use super::serve::Opened;
use super::{DIFFERING_KEPT, DeviceError, HostCheck, Work};

pub(super) struct GpuBench<'a> {
    job: &'a TimeJob,
    opened: &'a Opened,
    gpu: &'a Gpu,
    helper: &'a Helper,
    /// What the kernels work on.
    memory: Vec<Memory>,
    /// What the buffers hold before each launch; `None` for poison.
    pristine: Vec<Option<Memory>>,
    /// What the checked work's first timed launch left in each buffer that is wanted; empty before it.
    first: Vec<First>,
    differing_rounds: Vec<u32>,
    /// Twice the L2 cache.
    flush: Memory,
    /// A counter of differing words.
    counter: Memory,
    deadline: Instant,
}

/// A buffer after the first timed launch.
enum First {
    NotWanted,
    /// It held what it was given.
    Unchanged(Memory),
    /// It held this, and so does a file.
    Stored(Memory),
}

impl<'a> GpuBench<'a> {
    pub(super) fn new(opened: &'a Opened, job: &'a TimeJob) -> Result<Self, DeviceError> {
        let deadline = Instant::now() + job.limit;
        let gpu = &opened.gpu;
        if job.works.iter().any(|work| matches!(work, Work::MatrixProduct { .. })) {
            opened.cublas()?;
        }
        // Some virtual GPUs report no cache; a multiple of 16 for the reading kernel.
        let flush_bytes = (2 * gpu.info.l2_bytes).max(32 << 20).next_multiple_of(16);
        let needed: u64 = job
            .buffers
            .iter()
            .map(|spec| spec.bytes * if spec.file.is_some() || spec.read_back { 2 } else { 1 })
            .sum();
        gpu.reserve(needed + flush_bytes)?;
        let memory = place(gpu, &job.buffers)?;
        let second = |(spec, from): (&BufferSpec, &Memory)| {
            if spec.file.is_none() {
                return Ok(None);
            }
            let to = gpu.allocate(spec.bytes)?;
            gpu.copy(*from, to).map(|()| Some(to))
        };
        let pristine = job.buffers.iter().zip(&memory).map(second).collect::<Result<_, _>>()?;
        let bench = Self {
            job,
            opened,
            gpu,
            helper: opened.helper()?,
            memory,
            pristine,
            first: Vec::new(),
            differing_rounds: Vec::new(),
            flush: gpu.allocate(flush_bytes)?,
            counter: gpu.allocate(8)?,
            deadline,
        };
        gpu.synchronize("preparing the measurement")?;
        Ok(bench)
    }

    /// For each buffer, whether what the first timed launch left in it lies in the folder.
    pub(super) fn stored(&self) -> Vec<bool> {
        self.first.iter().map(|first| matches!(first, First::Stored(_))).collect()
    }

    /// Gives the memory back, and the rounds whose outputs differed from the first.
    pub(super) fn finish(self) -> Result<Vec<u32>, DeviceError> {
        self.gpu.release()?;
        Ok(self.differing_rounds)
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
        self.gpu.fill(self.flush, 0)?;
        self.helper.read(self.gpu, self.flush, self.counter)
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
        let at = |index: &usize| self.memory[*index];
        match &self.job.works[work] {
            Work::Launch(launch) => {
                let kernel = self.gpu.load(launch)?;
                let times = self.bracket(&launch.label, limit, settle, || {
                    enqueue(self.gpu, &kernel, launch, &self.memory)
                })?;
                self.gpu.unload(&kernel)?;
                Ok(times)
            }
            Work::Copy { from, to } => {
                self.bracket("copy", limit, settle, || self.gpu.copy(at(from), at(to)))
            }
            Work::CopyWithin { buffer } => {
                let [from, to] = at(buffer).halves();
                self.bracket("copy", limit, settle, || self.gpu.copy(from, to))
            }
            Work::MatrixProduct { a, b, c, size, tf32 } => {
                let cublas = self.opened.cublas()?;
                cublas.allow_tf32(*tf32)?;
                let factors = [at(a), at(b), at(c)];
                self.bracket("cuBLAS", limit, settle, || cublas.multiply(factors, *size))
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

    pub(super) fn host_check(&mut self, work: usize) -> Result<HostCheck, DeviceError> {
        let (event_ms, host_ms) = self.launch_once(work, true)?;
        Ok(HostCheck { event_ms, host_ms })
    }

    pub(super) fn empty_launch(&self) -> Result<f64, DeviceError> {
        let launch = || self.helper.do_nothing(self.gpu);
        self.bracket("empty", self.limit()?, false, launch).map(|(event_ms, _)| event_ms)
    }

    /// Whether each pair differs in any bit, told by the GPU, so that nothing has to cross the bus.
    fn differ(&self, pairs: impl Iterator<Item = (Memory, Memory)>) -> Result<bool, DeviceError> {
        self.gpu.fill(self.counter, 0)?;
        for (a, b) in pairs {
            self.helper.compare(self.gpu, a, b, self.counter)?;
        }
        Ok(self.gpu.download(self.counter)?.iter().any(|&byte| byte != 0))
    }

    /// Keeps the first outputs, compares all later ones with them on the GPU, and keeps the first few that differ.
    fn check_outputs(&mut self, round: u32) -> Result<(), DeviceError> {
        if self.first.is_empty() {
            for index in 0..self.memory.len() {
                let first = self.keep(index)?;
                self.first.push(first);
            }
            return Ok(());
        }
        let pairs = self.memory.iter().zip(&self.first).filter_map(|(memory, first)| match first {
            First::NotWanted => None,
            First::Unchanged(first) | First::Stored(first) => Some((*memory, *first)),
        });
        if self.differ(pairs)? {
            let nth = self.differing_rounds.len();
            self.differing_rounds.push(round);
            if nth < DIFFERING_KEPT {
                self.store_differing(nth)?;
            }
        }
        Ok(())
    }

    fn keep(&self, index: usize) -> Result<First, DeviceError> {
        let memory = self.memory[index];
        if !self.job.buffers[index].read_back {
            return Ok(First::NotWanted);
        }
        if let Some(pristine) = self.pristine[index]
            && !self.differ([(memory, pristine)].into_iter())?
        {
            return Ok(First::Unchanged(pristine));
        }
        let kept = self.gpu.allocate(memory.bytes)?;
        self.gpu.copy(memory, kept)?;
        self.gpu.download_to(memory, self.job.folder.create(Side::Output, index)?)?;
        Ok(First::Stored(kept))
    }

    /// An input that only a later launch has changed counts as stored from then on: its first contents are those it
    /// was given.
    fn store_differing(&mut self, nth: usize) -> Result<(), DeviceError> {
        for index in 0..self.memory.len() {
            let memory = self.memory[index];
            if let First::Unchanged(pristine) = self.first[index]
                && self.differ([(memory, pristine)].into_iter())?
            {
                let folder = &self.job.folder;
                self.gpu.download_to(pristine, folder.create(Side::Output, index)?)?;
                for earlier in 0..nth {
                    self.gpu.download_to(pristine, folder.create(Side::Differing(earlier), index)?)?;
                }
                self.first[index] = First::Stored(pristine);
            }
            if let First::Stored(_) = self.first[index] {
                self.gpu.download_to(memory, self.job.folder.create(Side::Differing(nth), index)?)?;
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
