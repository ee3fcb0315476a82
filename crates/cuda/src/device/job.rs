//! What crosses the pipe between parent and worker. Buffers do not: they lie in files of a private folder.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Buffer, Ceilings, DeviceError, DeviceInfo, Init, Launch, TimeReply, Work};

/// One request to the worker.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Job {
    Probe,
    Run(RunJob),
    Time(TimeJob),
    Ceilings { ordinal: u32 },
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RunJob {
    pub(super) ordinal: u32,
    pub(super) launch: Launch,
    pub(super) buffers: Vec<BufferSpec>,
    pub(super) folder: Folder,
    pub(super) relaunch: bool,
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
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct BufferSpec {
    pub(super) bytes: u64,
    /// Where its contents lie; without a file it starts poisoned.
    pub(super) file: Option<PathBuf>,
    pub(super) read_back: bool,
}

/// The worker's answer.
pub(super) type Reply = Result<Done, DeviceError>;

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Done {
    Devices(Vec<DeviceInfo>),
    /// The outputs lie in the folder.
    Ran {
        device: DeviceInfo,
        milliseconds: f64,
        again_differs: bool,
    },
    /// As above, those of inputs that have changed with them.
    Timed {
        reply: TimeReply,
        /// For each buffer, whether its contents lie in the folder.
        stored: Vec<bool>,
        differing_kept: usize,
    },
    Ceilings(Ceilings),
}

/// The contents of a buffer in a private file, handed to the worker as often as it is needed.
#[derive(Debug)]
pub struct InputFile {
    file: tempfile::NamedTempFile,
    bytes: u64,
}

impl InputFile {
    /// Puts `contents` into a file, which goes when this does.
    ///
    /// # Errors
    ///
    /// [`DeviceError::Transfer`] if it cannot be written.
    pub fn new(contents: &[u8]) -> Result<Self, DeviceError> {
        let made = tempfile::Builder::new().prefix("warplings-").tempfile();
        let mut file = made.map_err(|error| transfer(&error))?;
        file.write_all(contents).map_err(|error| transfer(&error))?;
        Ok(Self { file, bytes: contents.len() as u64 })
    }

    /// Length in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
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
    /// After a second launch in the same module.
    Again,
    /// After the n-th launch whose outputs differed.
    Differing(usize),
}

impl Folder {
    fn file(&self, side: Side, index: usize) -> PathBuf {
        self.0.join(match side {
            Side::Input => format!("in-{index}"),
            Side::Output => format!("out-{index}"),
            Side::Again => format!("again-{index}"),
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

    pub(super) fn create(&self, side: Side, index: usize) -> Result<File, DeviceError> {
        File::create(self.file(side, index)).map_err(|error| transfer(&error))
    }
}

pub(super) fn transfer(error: &io::Error) -> DeviceError {
    DeviceError::Transfer(error.to_string())
}

/// Puts the buffers' contents into `folder`.
pub(super) fn hand_over(
    buffers: &[Buffer<'_>],
    folder: &Path,
) -> Result<(Vec<BufferSpec>, Folder), DeviceError> {
    let folder = Folder(folder.to_path_buf());
    let specs = buffers.iter().enumerate().map(|(index, buffer)| {
        let file = match buffer.init {
            Init::Bytes(bytes) => {
                folder.write(Side::Input, index, bytes)?;
                Some(folder.file(Side::Input, index))
            }
            Init::File(input) => Some(input.file.path().to_path_buf()),
            Init::Poison(_) => None,
        };
        Ok(BufferSpec { bytes: buffer.init.len(), file, read_back: buffer.read_back })
    });
    Ok((specs.collect::<Result<_, _>>()?, folder))
}

/// Takes the contents of all buffers that were to be read back.
pub(super) fn take_back(
    specs: &[BufferSpec],
    folder: &Folder,
    side: Side,
) -> Result<Vec<Vec<u8>>, DeviceError> {
    let stored: Vec<bool> = specs.iter().map(|spec| spec.read_back).collect();
    let taken = take_stored(specs, folder, side, &stored)?;
    Ok(taken.into_iter().map(Option::unwrap_or_default).collect())
}

/// Takes the contents of all buffers that `stored` says are there.
pub(super) fn take_stored(
    specs: &[BufferSpec],
    folder: &Folder,
    side: Side,
    stored: &[bool],
) -> Result<Vec<Option<Vec<u8>>>, DeviceError> {
    let take = |(index, (spec, stored)): (usize, (&BufferSpec, &bool))| {
        stored.then(|| folder.read(side, index, spec.bytes)).transpose()
    };
    specs.iter().zip(stored).enumerate().map(take).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_cross_over_and_come_back() {
        let root = tempfile::tempdir().unwrap();
        let shared = InputFile::new(&[5, 6]).unwrap();
        let buffers = [
            Buffer { init: Init::Bytes(&[1, 2, 3]), read_back: false },
            Buffer { init: Init::Poison(4), read_back: true },
            Buffer { init: Init::File(&shared), read_back: false },
        ];
        let (specs, folder) = hand_over(&buffers, root.path()).unwrap();
        assert_eq!(fs::read(specs[0].file.as_ref().unwrap()).unwrap(), [1, 2, 3]);
        assert_eq!(specs[1].file, None);
        assert_eq!((fs::read(specs[2].file.as_ref().unwrap()).unwrap(), specs[2].bytes), (vec![5, 6], 2));
        folder.write(Side::Output, 1, &[9, 8, 7, 6]).unwrap();
        assert_eq!(take_back(&specs, &folder, Side::Output).unwrap(), [vec![], vec![9, 8, 7, 6], vec![]]);
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
