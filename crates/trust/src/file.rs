//! Reading and writing files that decide something: results, progress, what a learner wrote.
//!
//! In the place of a file there may be a link that leads elsewhere, a pipe that blocks for ever, or a device. None is
//! followed, waited for or written to. What is written is there as a whole or not at all, also after a loss of power.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// Who may read what is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// This user alone.
    Owner,
    /// Whoever the user's `umask` lets.
    Umask,
}

/// Opens a file to read it.
///
/// # Errors
///
/// As the system says; `InvalidInput` if it is a link, a pipe, a device or a folder.
pub fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    regular(path, &mut options)
}

/// Reads a file of at most `most` bytes.
///
/// # Errors
///
/// As [`open`]; `FileTooLarge` if there is more.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {most} bytes")));
    }
    Ok(bytes)
}

/// Opens a file that this user alone may read, to read it and to add to its end. It is made if it is not there.
///
/// # Errors
///
/// As [`open`].
pub fn open_to_append(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = regular(path, &mut options)?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    Ok(file)
}

/// Puts `bytes` in the place of whatever file or link is at `path`, which is itself never opened: all of it or, on a
/// full disk for one, nothing.
///
/// # Errors
///
/// As the system says. What was there is there still.
pub fn replace(path: &Path, bytes: &[u8], readers: Readers) -> io::Result<()> {
    let mut file = prepare(path, readers)?;
    file.write_all(bytes)?;
    complete(file, path)
}

/// As [`replace`], but never over anything: `false` if there is something at `path` already.
///
/// # Errors
///
/// As [`replace`].
pub fn create(path: &Path, bytes: &[u8], readers: Readers) -> io::Result<bool> {
    let mut file = prepare(path, readers)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Ok(_) => sync_folder(path).map(|()| true),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error.error),
    }
}

/// A new file beside `path`, which [`complete`] gives that name. It goes away if it is dropped before.
///
/// # Errors
///
/// If the folder can't be written to.
pub fn prepare(path: &Path, readers: Readers) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    if readers == Readers::Umask {
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    }
    let _ = readers;
    builder.prefix(&prefix(path)).suffix(SUFFIX).tempfile_in(folder_of(path))
}

/// Gives a file of [`prepare`] its name, once all of it is on the disk.
///
/// # Errors
///
/// As the system says, a full disk for one. What was at `path` is there still.
pub fn complete(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    sync_folder(path)
}

/// Removes what a process that was killed in the middle of [`replace`] left beside `path`. Nobody else may be writing.
pub fn clean(path: &Path) {
    let prefix = prefix(path);
    for entry in fs::read_dir(folder_of(path)).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(&prefix) && name.ends_with(SUFFIX) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Makes a folder that this user alone may look into, if it is not there.
///
/// # Errors
///
/// As the system says; `InvalidInput` if something else has that name, a link for one.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(metadata) => Err(refused(metadata.file_type())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => builder.create(path),
        Err(error) => Err(error),
    }
}

/// Keeps every other process that asks for the same out, for as long as the file is open.
///
/// # Errors
///
/// `WouldBlock` if another process has it; otherwise the file system knows no locks.
#[cfg(unix)]
pub fn lock(file: &File, patience: Patience) -> io::Result<()> {
    use rustix::fs::{FlockOperation, flock};
    let operation = match patience {
        Patience::None => FlockOperation::NonBlockingLockExclusive,
        Patience::Endless => FlockOperation::LockExclusive,
    };
    loop {
        match flock(file, operation) {
            Err(rustix::io::Errno::INTR) => {}
            result => return result.map_err(Into::into),
        }
    }
}

/// Elsewhere a file that is open is locked by the system.
///
/// # Errors
///
/// None.
#[cfg(not(unix))]
pub fn lock(_: &File, _: Patience) -> io::Result<()> {
    Ok(())
}

/// What to do where another process holds a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Give up.
    None,
    /// Wait.
    Endless,
}

const SUFFIX: &str = ".tmp";

/// What the names of files that become `path` begin with.
fn prefix(path: &Path) -> String {
    format!(".{}.", path.file_name().unwrap_or_default().to_string_lossy())
}

fn folder_of(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).to_owned()
}

/// Opens a regular file, without waiting for anything.
fn regular(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    // Opening a device can have effects of its own, so look first; what is put there since does not block.
    match path.symlink_metadata() {
        Ok(metadata) if !metadata.is_file() => return Err(refused(metadata.file_type())),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags.bits() as i32);
    }
    let file = options.open(path)?;
    match file.metadata()?.file_type() {
        kind if kind.is_file() => Ok(file),
        kind => Err(refused(kind)),
    }
}

fn refused(kind: fs::FileType) -> io::Error {
    let what = if kind.is_symlink() {
        "it is a link, and links are not followed here"
    } else if kind.is_dir() {
        "it is a folder"
    } else {
        "it is not a regular file"
    };
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    // Some file systems can't sync a folder; the file itself is safe by then.
    let _ = File::open(folder_of(path))?.sync_all();
    Ok(())
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a b.txt");
        replace(&path, b"one", Readers::Umask).expect("written");
        replace(&path, b"two", Readers::Umask).expect("written");
        assert_eq!(read(&path, 3).expect("read"), b"two");
        assert_eq!(read(&path, 2).expect_err("too large").kind(), io::ErrorKind::FileTooLarge);
        assert!(!create(&path, b"three", Readers::Umask).expect("looked"));
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
        // As a kill leaves it.
        std::mem::forget(prepare(&path, Readers::Umask).expect("made"));
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2);
        clean(&path);
        assert_eq!(read(&path, 3).expect("read"), b"two");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }

    #[cfg(unix)]
    mod unix {
        use std::os::unix::fs::{PermissionsExt, symlink};

        use super::*;

        fn mode(path: &Path) -> u32 {
            path.metadata().expect("there").permissions().mode() & 0o777
        }

        #[test]
        fn links_pipes_and_devices_are_neither_followed_nor_waited_for() {
            let root = tempfile::tempdir().expect("a folder");
            let at = |name: &str| root.path().join(name);
            fs::write(at("target"), "mine").expect("written");
            symlink(at("target"), at("link")).expect("linked");
            symlink(at("nowhere"), at("dangling")).expect("linked");
            rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0)
                .expect("made");
            fs::create_dir(at("folder")).expect("created");
            for name in ["link", "dangling", "pipe", "folder"] {
                for error in [open(&at(name)).err(), open_to_append(&at(name)).err()] {
                    assert_eq!(error.expect(name).kind(), io::ErrorKind::InvalidInput, "{name}");
                }
            }
            assert!(open(Path::new("/dev/zero")).is_err());
            assert!(create_private_folder(&at("link")).is_err());
            for name in ["link", "dangling", "pipe"] {
                replace(&at(name), b"new", Readers::Owner).expect(name);
                assert_eq!(read(&at(name), 9).expect(name), b"new");
            }
            assert_eq!(fs::read(at("target")).expect("there"), b"mine");
            assert!(!at("nowhere").exists());
            assert!(replace(&at("folder"), b"new", Readers::Owner).is_err());
        }

        #[test]
        fn what_is_private_is_for_its_owner_alone() {
            let root = tempfile::tempdir().expect("a folder");
            let folder = root.path().join("out/deep");
            create_private_folder(&folder).expect("created");
            assert_eq!((mode(&folder), mode(&root.path().join("out"))), (0o700, 0o700));
            let (log, whole) = (folder.join("log"), folder.join("whole"));
            fs::write(&log, "").expect("written");
            fs::set_permissions(&log, fs::Permissions::from_mode(0o664)).expect("changed");
            open_to_append(&log).expect("opened").write_all(b"x").expect("written");
            replace(&whole, b"x", Readers::Owner).expect("written");
            assert_eq!((mode(&log), mode(&whole)), (0o600, 0o600));
        }

        #[test]
        fn a_lock_is_for_one_at_a_time() {
            let folder = tempfile::tempdir().expect("a folder");
            let open = || open_to_append(&folder.path().join("log")).expect("opened");
            let (first, second) = (open(), open());
            lock(&first, Patience::Endless).expect("locked");
            let error = lock(&second, Patience::None).expect_err("taken");
            assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
            drop(first);
            lock(&second, Patience::None).expect("free again");
        }
    }
}
