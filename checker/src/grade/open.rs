//! Opening what others put into a folder: no link is followed, nothing but a regular file is read.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::submission::{MOST_BYTES, Submission, SubmissionError};

/// Reads `relative` in the folder `root`.
///
/// # Errors
/// [`SubmissionError`], with what is wrong with the file.
pub(crate) fn read(root: &Path, relative: &Path) -> Result<Submission, SubmissionError> {
    let file = open(root, relative)?;
    let mut bytes = Vec::new();
    let unreadable = |error| SubmissionError::Unreadable { path: relative.to_owned(), error };
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    Submission::from_bytes(relative, bytes)
}

/// Goes down one folder at a time, each from the one before, so that nobody can put a link in between.
#[cfg(unix)]
fn open(root: &Path, relative: &Path) -> Result<File, SubmissionError> {
    use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, open, openat, statat};
    use rustix::io::Errno;

    let failed = |error: Errno| match error {
        // What a link gives where a folder is asked for.
        Errno::LOOP | Errno::NOTDIR => SubmissionError::Link(relative.to_owned()),
        Errno::NOENT => SubmissionError::Missing(relative.to_owned()),
        error => SubmissionError::Unreadable { path: relative.to_owned(), error: io::Error::from(error) },
    };
    let check = |kind| match kind {
        FileType::RegularFile => Ok(()),
        FileType::Symlink => Err(SubmissionError::Link(relative.to_owned())),
        FileType::Directory => Err(SubmissionError::Folder(relative.to_owned())),
        _ => Err(SubmissionError::NotAFile(relative.to_owned())),
    };
    let folder_flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut folder = open(root, folder_flags, Mode::empty()).map_err(failed)?;
    for name in relative.parent().unwrap_or(Path::new("")) {
        folder = openat(&folder, name, folder_flags | OFlags::NOFOLLOW, Mode::empty()).map_err(failed)?;
    }
    let name = relative.file_name().unwrap_or_default();
    let kind = |mode| FileType::from_raw_mode(mode);
    // Opening a device can have effects of its own, so look first; a pipe put there since must not block.
    check(kind(statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?.st_mode))?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = openat(&folder, name, flags, Mode::empty()).map_err(failed)?;
    check(kind(fstat(&file).map_err(failed)?.st_mode))?;
    Ok(File::from(file))
}

#[cfg(not(unix))]
fn open(root: &Path, relative: &Path) -> Result<File, SubmissionError> {
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => SubmissionError::Missing(relative.to_owned()),
        _ => SubmissionError::Unreadable { path: relative.to_owned(), error },
    };
    let mut path = root.to_owned();
    for name in relative {
        path.push(name);
        if path.symlink_metadata().map_err(unreadable)?.is_symlink() {
            return Err(SubmissionError::Link(relative.to_owned()));
        }
    }
    let metadata = path.symlink_metadata().map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(SubmissionError::Folder(relative.to_owned()));
    }
    if !metadata.is_file() {
        return Err(SubmissionError::NotAFile(relative.to_owned()));
    }
    File::open(path).map_err(unreadable)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_pipes_and_folders_are_refused_at_once() {
        let outside = tempfile::tempdir().expect("a folder");
        std::fs::write(outside.path().join("secret.cu"), "secret").expect("written");
        let class = tempfile::tempdir().expect("a folder");
        let root = class.path();
        std::fs::create_dir_all(root.join("kim/05/folder.cu")).expect("created");
        std::fs::write(root.join("kim/05/real.cu"), "real").expect("written");
        symlink(outside.path().join("secret.cu"), root.join("kim/05/link.cu")).expect("linked");
        symlink(outside.path(), root.join("kim/06")).expect("linked");
        symlink("real.cu", root.join("kim/05/inside.cu")).expect("linked");
        let pipe = root.join("kim/05/pipe.cu");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .expect("made");
        let error = |path: &str| read(root, Path::new(path)).expect_err(path);
        for path in ["kim/05/link.cu", "kim/06/secret.cu", "kim/05/inside.cu"] {
            assert!(matches!(error(path), SubmissionError::Link(_)), "{path}");
        }
        assert!(matches!(error("kim/05/pipe.cu"), SubmissionError::NotAFile(_)));
        assert!(matches!(error("kim/05/folder.cu"), SubmissionError::Folder(_)));
        assert!(matches!(error("kim/05/none.cu"), SubmissionError::Missing(_)));
        assert_eq!(read(root, Path::new("kim/05/real.cu")).expect("a file").text, "real");
    }
}
