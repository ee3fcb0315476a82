//! A real GPU, through worker processes.

use std::time::Duration;

use cuda::device::{
    self, Buffer, Ceilings, DeviceError, DeviceInfo, Image, Init, Launch, RunRequest, Session, TimeReply,
    TimeRequest,
};
use rayon::iter::{IndexedParallelIterator, ParallelIterator};
use rayon::slice::{ParallelSlice, ParallelSliceMut};

use super::{Again, Arg, Contents, Observation, Outcome, Task};
use crate::ceiling;
use crate::compile::Rejection;
use crate::finding::Finding;

/// Longest run of any kernel before it is taken for one that hangs.
pub(crate) const LIMIT: Duration = Duration::from_secs(10);

/// Workers for kernels that are run for their results and may share the GPU.
const WORKERS: usize = 4;

/// A GPU of this machine and the workers that use it.
#[derive(Debug)]
pub(crate) struct Gpu {
    pub(crate) info: DeviceInfo,
    /// What it reaches at best, if `checker probe` has measured that.
    pub(crate) ceilings: Option<Ceilings>,
    /// Started when they are first needed. What is timed always goes to the first, which has found the GPU.
    sessions: Vec<Session>,
}

/// Code for a GPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Code<'a> {
    pub(crate) image: &'a Image,
    pub(crate) symbol: &'a str,
}

impl Gpu {
    /// The first GPU of this machine.
    ///
    /// # Errors
    /// Why there is none to use.
    pub(crate) fn first() -> Result<Gpu, DeviceError> {
        let sessions: Vec<Session> = (0..WORKERS).map(|_| Session::new()).collect();
        let info = sessions[0].probe()?.into_iter().next().ok_or(DeviceError::NoDevice)?;
        Ok(Gpu { ceilings: ceiling::load(&info), info, sessions })
    }

    /// Runs `task`. A GPU looks for nothing: of faults it only knows those that kill the kernel. `variables` are the
    /// module's own; after `limit` the kernel is taken for one that hangs.
    ///
    /// # Errors
    /// The outer one if the machine is to blame, the inner one if the code or the launch is refused.
    pub(crate) fn run(
        &self,
        code: Code<'_>,
        task: &Task,
        variables: &[String],
        limit: Duration,
    ) -> anyhow::Result<Result<Observation, Rejection>> {
        let buffers = buffers(task);
        let request = RunRequest {
            ordinal: self.info.ordinal,
            launch: launch("the kernel", code, task),
            buffers: &buffers,
            relaunch: task.relaunch,
            limit,
        };
        // Each thread of the pool has its worker.
        let session = &self.sessions[rayon::current_thread_index().unwrap_or(0) % WORKERS];
        match session.run(&request) {
            Ok(reply) => {
                let observation = |buffers: Vec<Vec<u8>>| {
                    let contents = buffers.into_iter().map(|bytes| Some(contents(bytes)));
                    Observation::of_buffers(in_order(task, contents))
                };
                let again = reply.again.map(|buffers| Again {
                    variables: variables.to_vec(),
                    observation: Box::new(observation(buffers)),
                });
                let seconds = reply.milliseconds / 1e3;
                Ok(Ok(Observation { seconds, again, ..observation(reply.buffers) }))
            }
            Err(DeviceError::Refused { text, .. }) => Ok(Err(Rejection::Launch(text))),
            Err(error @ DeviceError::BadPtx { .. }) => {
                Ok(Err(Rejection::Refused { line: None, message: error.to_string() }))
            }
            Err(error) if error.is_kernels_fault() => Ok(Ok(killed(task.args.len(), &error))),
            Err(error) => Err(error.into()),
        }
    }

    /// Times kernels against each other. Nothing else may use the GPU meanwhile.
    ///
    /// # Errors
    /// As [`Session::time`].
    pub(crate) fn time(&self, request: &TimeRequest<'_>) -> Result<TimeReply, DeviceError> {
        self.sessions[0].time(request)
    }

    /// Measures what the GPU reaches at best.
    ///
    /// # Errors
    /// As [`Session::ceilings`].
    pub(crate) fn measure_ceilings(&self) -> Result<Ceilings, DeviceError> {
        self.sessions[0].ceilings(self.info.ordinal)
    }
}

/// A launch of `code` as `task` describes it, called `label` in errors.
pub(crate) fn launch(label: &str, code: Code<'_>, task: &Task) -> Launch {
    let mut next_buffer = 0..;
    let argument = |arg: &Arg| match arg {
        Arg::Buffer { .. } => device::Arg::Buffer(next_buffer.next().unwrap_or_default()),
        Arg::Value(bytes) => value(bytes),
    };
    Launch {
        label: label.to_owned(),
        image: code.image.clone(),
        kernel: code.symbol.to_owned(),
        grid_dim: task.grid,
        block_dim: task.block,
        dynamic_shared_bytes: task.shared_bytes,
        args: task.args.iter().map(argument).collect(),
    }
}

/// The buffers of `task`, in the order of its arguments. All are read back: inputs, to see whether they changed.
pub(crate) fn buffers(task: &Task) -> Vec<Buffer<'_>> {
    task.args.iter().filter_map(init).map(|init| Buffer { init, read_back: true }).collect()
}

fn init(arg: &Arg) -> Option<Init<'_>> {
    match arg {
        Arg::Value(_) => None,
        Arg::Buffer { contents: Some(contents), .. } => Some(Init::Bytes(contents)),
        Arg::Buffer { bytes, contents: None, .. } => Some(Init::Poison(*bytes as u64)),
    }
}

/// Spreads what is known of the buffers over the arguments.
pub(crate) fn in_order(
    task: &Task,
    mut contents: impl Iterator<Item = Option<Contents>>,
) -> Vec<Option<Contents>> {
    let is_buffer = |arg: &Arg| matches!(arg, Arg::Buffer { .. });
    task.args.iter().map(|arg| if is_buffer(arg) { contents.next().flatten() } else { None }).collect()
}

/// What outputs hold before a launch.
const POISON: u8 = 0xff;

/// Bytes that one thread looks through at a time; a multiple of a word.
const PIECE: usize = 1 << 20;

/// A word that still holds the poison is taken as never written: as a float it is a NaN, wrong in any case.
pub(crate) fn contents(bytes: Vec<u8>) -> Contents {
    let mut written = vec![false; bytes.len()];
    written.par_chunks_mut(PIECE).zip(bytes.par_chunks(PIECE)).for_each(|(written, bytes)| {
        for (written, word) in written.chunks_mut(4).zip(bytes.chunks(4)) {
            written.fill(word.iter().any(|byte| *byte != POISON));
        }
    });
    Contents { bytes, written }
}

/// A value's bits are all that the driver wants to know.
fn value(bytes: &[u8]) -> device::Arg {
    match *bytes {
        [a, b, c, d] => device::Arg::U32(u32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => device::Arg::U64(u64::from_le_bytes([a, b, c, d, e, f, g, h])),
        _ => device::Arg::U32(0),
    }
}

/// What is left of a launch that the GPU ended.
pub(crate) fn killed(arguments: usize, error: &DeviceError) -> Observation {
    let is_timeout = matches!(error, DeviceError::Timeout { .. });
    Observation {
        outcome: if is_timeout { Outcome::Timeout } else { Outcome::Aborted },
        findings: vec![Finding {
            kind: if is_timeout { "timeout" } else { "gpu_fault" },
            is_error: true,
            message: format!("{error}; --engine sim finds the line"),
            space: None,
            site: None,
            other: None,
            count: 1,
        }],
        ..Observation::of_buffers(vec![None; arguments])
    }
}

#[cfg(test)]
mod tests {
    use warpsim::Checks;

    use super::*;

    fn task() -> Task {
        let buffer = |name: &str, contents| Arg::Buffer { name: name.into(), bytes: 8, contents };
        Task {
            grid: [1; 3],
            block: [32, 1, 1],
            shared_bytes: 0,
            args: vec![
                buffer("a", Some(vec![0; 8])),
                Arg::Value(2_i32.to_le_bytes().to_vec()),
                buffer("c", None),
                Arg::Value((-1_i64).to_le_bytes().to_vec()),
            ],
            checks: Checks::NONE,
            fuel: 0,
            wall_limit: LIMIT,
            relaunch: false,
        }
    }

    #[test]
    fn buffers_are_numbered_without_the_values_between_them() {
        let launch = launch("x", Code { image: &Image::Cubin(Vec::new()), symbol: "k" }, &task());
        let wanted =
            [device::Arg::Buffer(0), device::Arg::U32(2), device::Arg::Buffer(1), device::Arg::U64(u64::MAX)];
        assert_eq!(launch.args, wanted);
        let read_back = [Some(contents(vec![1; 8])), Some(contents(vec![0xff; 8]))].into_iter();
        let spread = in_order(&task(), read_back);
        assert!(spread[1].is_none() && spread[3].is_none());
        assert_eq!(spread[2].as_ref().map(|contents| contents.written.contains(&true)), Some(false));
    }

    #[test]
    fn a_word_with_any_other_byte_was_written() {
        let contents = contents(vec![0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
        assert_eq!(contents.written, [false, false, false, false, true, true, true, true]);
    }
}
