//! What crosses the pipe between parent and worker. Buffers do not: they lie in files of a private folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Buffer, DeviceError, DeviceInfo, Init, Launch, TimeReply, Work};

/// One request to the worker.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Job {
    Probe,
    Run(RunJob),
    Time(TimeJob),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RunJob {
    pub(super) ordinal: u32,
    pub(super) launch: Launch,
    pub(super) buffers: Vec<BufferSpec>,
    pub(super) folder: Folder,
    pub(super) limit: Duration,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TimeJob {
    pub(super) ordinal: u32,
    pub(super) works: Vec<Work>,
    pub(super) checked: usize,
    pub(super) buffers: Vec<BufferSpec>,
    pub(super) folder: Folder,
    pub(super) rounds: u32,
    pub(super) warmups: u32,
    pub(super) seed: u64,
    pub(super) launch_limit: Duration,
    pub(super) limit: Duration,
}

/// A buffer without its contents.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct BufferSpec {
    pub(super) bytes: u64,
    /// Its contents lie in the folder; else it starts poisoned.
    pub(super) in_file: bool,
    pub(super) read_back: bool,
}

/// The worker's answer.
pub(super) type Reply = Result<Done, DeviceError>;

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Done {
    Devices(Vec<DeviceInfo>),
    Ran {
        device: DeviceInfo,
        milliseconds: f64,
    },
    /// The outputs lie in the folder.
    Timed {
        reply: TimeReply,
        differing_kept: usize,
    },
}

/// The folder in which buffers are handed over.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Folder(pub(super) PathBuf);

/// Which contents of a buffer a file holds.
#[derive(Debug, Clone, Copy)]
pub(super) enum Side {
    /// Before the launch.
    Input,
    /// After the launch; of several, after the first.
    Output,
    /// After the n-th launch whose outputs differed.
    Differing(usize),
}

impl Folder {
    fn file(&self, side: Side, index: usize) -> PathBuf {
        self.0.join(match side {
            Side::Input => format!("in-{index}"),
            Side::Output => format!("out-{index}"),
            Side::Differing(nth) => format!("differing-{nth}-{index}"),
        })
    }

    pub(super) fn read(&self, side: Side, index: usize, bytes: u64) -> Result<Vec<u8>, DeviceError> {
        let contents = fs::read(self.file(side, index)).map_err(|error| transfer(&error))?;
        if contents.len() as u64 == bytes {
            Ok(contents)
        } else {
            Err(DeviceError::Transfer(format!("{} of {bytes} bytes arrived", contents.len())))
        }
    }

    pub(super) fn write(&self, side: Side, index: usize, contents: &[u8]) -> Result<(), DeviceError> {
        fs::write(self.file(side, index), contents).map_err(|error| transfer(&error))
    }
}

fn transfer(error: &io::Error) -> DeviceError {
    DeviceError::Transfer(error.to_string())
}

/// Puts the buffers' contents into `folder`.
pub(super) fn hand_over(
    buffers: &[Buffer<'_>],
    folder: &Path,
) -> Result<(Vec<BufferSpec>, Folder), DeviceError> {
    let folder = Folder(folder.to_path_buf());
    let specs = buffers.iter().enumerate().map(|(index, buffer)| {
        let in_file = match buffer.init {
            Init::Bytes(bytes) => folder.write(Side::Input, index, bytes).map(|()| true)?,
            Init::Poison(_) => false,
        };
        Ok(BufferSpec { bytes: buffer.init.len(), in_file, read_back: buffer.read_back })
    });
    Ok((specs.collect::<Result<_, _>>()?, folder))
}

/// Takes the contents of all buffers that were to be read back.
pub(super) fn take_back(
    specs: &[BufferSpec],
    folder: &Folder,
    side: Side,
) -> Result<Vec<Vec<u8>>, DeviceError> {
    let take = |(index, spec): (usize, &BufferSpec)| match spec.read_back {
        true => folder.read(side, index, spec.bytes),
        false => Ok(Vec::new()),
    };
    specs.iter().enumerate().map(take).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_cross_over_and_come_back() {
        let root = tempfile::tempdir().unwrap();
        let buffers = [
            Buffer { init: Init::Bytes(&[1, 2, 3]), read_back: false },
            Buffer { init: Init::Poison(4), read_back: true },
        ];
        let (specs, folder) = hand_over(&buffers, root.path()).unwrap();
        assert_eq!(folder.read(Side::Input, 0, 3).unwrap(), [1, 2, 3]);
        assert!(!specs[1].in_file);
        folder.write(Side::Output, 1, &[9, 8, 7, 6]).unwrap();
        assert_eq!(take_back(&specs, &folder, Side::Output).unwrap(), [vec![], vec![9, 8, 7, 6]]);
    }

    #[test]
    fn what_is_missing_or_short_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        let folder = Folder(root.path().to_path_buf());
        assert!(matches!(folder.read(Side::Output, 0, 1), Err(DeviceError::Transfer(_))));
        folder.write(Side::Output, 0, &[1]).unwrap();
        assert!(matches!(folder.read(Side::Output, 0, 2), Err(DeviceError::Transfer(_))));
    }
}
