//! Temporary folders that this user alone may look into, and that go away even after a kill: whoever makes the next one
//! removes those whose process is gone.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::file::{self, Patience};

/// What the names of all of them begin with.
const PREFIX: &str = "warplings-";

/// Younger ones may be about to be locked.
const LEAST_AGE: Duration = Duration::from_secs(60);

/// A temporary folder, for as long as this lives.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
    /// Open, and so locked, until the process ends in whatever way.
    _lock: Option<File>,
}

impl Scratch {
    /// Makes one where the system keeps temporary files.
    ///
    /// # Errors
    ///
    /// If none can be made.
    pub fn new() -> io::Result<Scratch> {
        Scratch::new_in(&std::env::temp_dir())
    }

    fn new_in(parent: &Path) -> io::Result<Scratch> {
        clean(parent, SystemTime::now());
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let folder = builder.prefix(PREFIX).tempdir_in(parent)?;
        let lock = lock(folder.path());
        Ok(Scratch { folder, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes this user's folders that no process holds any more.
fn clean(parent: &Path, now: SystemTime) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let path: PathBuf = entry.path();
        let is_named_so = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let is_plain = || entry.file_type().is_ok_and(|kind| kind.is_dir());
        let is_old = || {
            let made = entry.metadata().and_then(|metadata| metadata.modified());
            made.is_ok_and(|made| now.duration_since(made).is_ok_and(|age| age > LEAST_AGE))
        };
        if is_named_so && is_plain() && is_old() && crate::owner::is_own(&path) && lock(&path).is_some() {
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// `None` if another process holds the folder, or if it can't be told.
fn lock(path: &Path) -> Option<File> {
    let folder = File::open(path).ok()?;
    file::lock(&folder, Patience::None).ok().map(|()| folder)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_is_in_use_is_not() {
        let parent = tempfile::tempdir().expect("a folder");
        let later = SystemTime::now() + 2 * LEAST_AGE;
        let mut left = Scratch::new_in(parent.path()).expect("made");
        left.folder.disable_cleanup(true);
        let left_at = left.path().to_owned();
        fs::write(left_at.join("kernel.cu"), "text").expect("written");
        let used = Scratch::new_in(parent.path()).expect("made");
        assert_eq!(used.path().metadata().expect("there").permissions().mode() & 0o777, 0o700);
        clean(parent.path(), later);
        assert!(left_at.exists() && used.path().exists(), "both are held");
        // A process that is killed gives its locks back, and no more.
        drop(left);
        clean(parent.path(), SystemTime::now());
        assert!(left_at.exists(), "it is young");
        fs::create_dir(parent.path().join("other")).expect("created");
        clean(parent.path(), later);
        assert!(!left_at.exists() && used.path().exists() && parent.path().join("other").exists());
    }
}
