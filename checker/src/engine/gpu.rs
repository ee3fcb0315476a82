//! A real GPU, through a worker process.

use std::time::Duration;

use cuda::device::{self, Buffer, DeviceError, DeviceInfo, Init, Launch, RunRequest};
use warpsim::Counters;

use super::{Arg, Contents, Observation, Outcome, Task};
use crate::compile::Rejection;
use crate::finding::Finding;

/// Longest run of a kernel before it is taken for one that hangs.
const LIMIT: Duration = Duration::from_secs(10);

/// A kernel in machine code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Code<'a> {
    pub(crate) cubin: &'a [u8],
    pub(crate) symbol: &'a str,
}

/// The first GPU of this machine.
///
/// # Errors
/// Why there is none to use.
pub(crate) fn first() -> anyhow::Result<DeviceInfo> {
    device::probe()?.into_iter().next().ok_or_else(|| DeviceError::NoDevice.into())
}

/// Runs `task` on `device`. A GPU looks for nothing: of faults it only knows those that kill the kernel.
///
/// # Errors
/// The outer one if the machine is to blame, the inner one if the launch is refused.
pub(crate) fn run(
    device: &DeviceInfo,
    code: Code<'_>,
    task: &Task,
) -> anyhow::Result<Result<Observation, Rejection>> {
    let buffers = buffers(task);
    let request = RunRequest {
        ordinal: device.ordinal,
        launch: launch("the kernel", code, task),
        buffers: &buffers,
        limit: LIMIT,
    };
    match device::run(&request) {
        Ok(reply) => Ok(Ok(Observation {
            outcome: Outcome::Completed,
            buffers: in_order(task, reply.buffers.into_iter().map(contents)),
            findings: Vec::new(),
            counters: Counters::default(),
            worst: Vec::new(),
            printed: String::new(),
            seconds: reply.milliseconds / 1e3,
        })),
        Err(DeviceError::Refused { text, .. }) => Ok(Err(Rejection::Launch(text))),
        Err(error) if error.is_kernels_fault() => Ok(Ok(killed(task, &error))),
        Err(error) => Err(error.into()),
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
        cubin: code.cubin.to_owned(),
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

/// Spreads what was read back over the arguments.
pub(crate) fn in_order(task: &Task, contents: impl Iterator<Item = Contents>) -> Vec<Option<Contents>> {
    let mut contents = contents;
    let is_buffer = |arg: &Arg| matches!(arg, Arg::Buffer { .. });
    task.args.iter().map(|arg| if is_buffer(arg) { contents.next() } else { None }).collect()
}

/// A word that still holds the poison is taken as never written: as a float it is a NaN, wrong in any case.
pub(crate) fn contents(bytes: Vec<u8>) -> Contents {
    let written =
        bytes.chunks(4).flat_map(|word| vec![word.iter().any(|byte| *byte != 0xff); word.len()]).collect();
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
pub(crate) fn killed(task: &Task, error: &DeviceError) -> Observation {
    let is_timeout = matches!(error, DeviceError::Timeout { .. });
    Observation {
        outcome: if is_timeout { Outcome::Timeout } else { Outcome::Aborted },
        buffers: task.args.iter().map(|_| None).collect(),
        findings: vec![Finding {
            kind: if is_timeout { "timeout" } else { "gpu_fault" },
            is_error: true,
            message: format!("{error}; --engine sim finds the line"),
            space: None,
            site: None,
            other: None,
            count: 1,
        }],
        counters: Counters::default(),
        worst: Vec::new(),
        printed: String::new(),
        seconds: 0.0,
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
        }
    }

    #[test]
    fn buffers_are_numbered_without_the_values_between_them() {
        let launch = launch("x", Code { cubin: &[], symbol: "k" }, &task());
        let wanted =
            [device::Arg::Buffer(0), device::Arg::U32(2), device::Arg::Buffer(1), device::Arg::U64(u64::MAX)];
        assert_eq!(launch.args, wanted);
        let read_back = [contents(vec![1; 8]), contents(vec![0xff; 8])].into_iter();
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
