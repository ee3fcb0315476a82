//! Files that are there whole or not at all.

use std::io::Write;
use std::path::{Path, PathBuf};

use trust::file::{self, Readers};

/// What kept a file of the grading from being written or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The system refused.
    #[error("{}: {error}", path.display())]
    Io {
        /// Of the file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// The file is not what it should be.
    #[error("{} is damaged: {reason}", path.display())]
    Damaged {
        /// Of the file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

impl StoreError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> StoreError + use<> {
        let path = path.to_owned();
        move |error| StoreError::Io { path, error }
    }
}

/// When a file must have reached the disk.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Before its name is there.
    Now,
    /// Whenever the system likes: whoever reads it knows by its hash whether it is whole.
    Later,
}

/// Writes `bytes` beside `path`, makes sure that they are on the disk, and renames. A reader sees the old
/// file or the new one; a full disk leaves the old one.
///
/// # Errors
/// If that fails; the path is in the error.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    replace(path, bytes, Durability::Now)
}

pub(crate) fn replace(path: &Path, bytes: &[u8], durability: Durability) -> Result<(), StoreError> {
    let write = || {
        make_folder_of(path)?;
        let mut temporary = file::prepare(path, Readers::Umask)?;
        temporary.write_all(bytes)?;
        match durability {
            Durability::Now => file::complete(temporary, path),
            Durability::Later => temporary.persist(path).map(drop).map_err(|error| error.error),
        }
    };
    write().map_err(StoreError::io(path))
}

fn make_folder_of(path: &Path) -> std::io::Result<()> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)
}

/// Writes a file that only its owner may read, if there is none.
pub(crate) fn write_secret(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let write = || match file::create(path, bytes, Readers::Owner)? {
        true => Ok(()),
        false => Err(std::io::ErrorKind::AlreadyExists.into()),
    };
    make_folder_of(path).and_then(|()| write()).map_err(StoreError::io(path))
}

/// The SHA-256 of `bytes` in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    hex(&Sha256::digest(bytes))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
