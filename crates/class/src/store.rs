//! Files that are there whole or not at all.

use std::io::Write;
use std::path::{Path, PathBuf};

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
        let mut temporary = temporary_beside(path)?;
        temporary.write_all(bytes)?;
        if durability == Durability::Now {
            temporary.as_file().sync_all()?;
        }
        #[cfg(unix)]
        {
            // A temporary file is its owner's alone; the finished one is for whom the folder is.
            use std::os::unix::fs::PermissionsExt;
            temporary.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))?;
        }
        temporary.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(StoreError::io(path))
}

fn temporary_beside(path: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    tempfile::Builder::new().prefix(".writing-").tempfile_in(folder)
}

/// Writes a file that only its owner may read.
pub(crate) fn write_secret(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let write = || {
        // Temporary files have mode 0600.
        let mut temporary = temporary_beside(path)?;
        temporary.write_all(bytes)?;
        temporary.as_file().sync_all()?;
        temporary.persist_noclobber(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(StoreError::io(path))
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
