//! The folder of exercises, and the one file in it that belongs to the learner.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use trust::file::{self, Readers};

use crate::registry::Entry;

/// A checkout of the course.
#[derive(Clone, Debug)]
pub(crate) struct Workspace {
    root: PathBuf,
    /// Whether the current folder lies in it.
    is_here: bool,
}

/// What `reset` did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reset {
    /// There was no kernel yet, or it was the stub.
    NothingToDo,
    /// The stub is back, and the former kernel is kept here.
    Done { backup: PathBuf },
}

impl Workspace {
    /// The workspace of the current folder, else the one that this program was built in.
    ///
    /// # Errors
    /// If neither exists.
    pub(crate) fn find() -> Result<Workspace> {
        let here = std::env::current_dir().ok();
        let here = here.as_deref().and_then(|here| here.ancestors().find(|folder| is_workspace(folder)));
        let built = Path::new(env!("CARGO_MANIFEST_DIR")).parent().filter(|folder| is_workspace(folder));
        let elsewhere = || built.map(|root| Workspace { is_here: false, ..Workspace::at(root) });
        here.map(Workspace::at)
            .or_else(elsewhere)
            .context("there is no Warplings workspace here: go to the folder that has `exercises` in it")
    }

    /// The workspace in `root`.
    pub(crate) fn at(root: &Path) -> Workspace {
        Workspace { root: root.to_owned(), is_here: true }
    }

    /// Its folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Whether the current folder lies in it; else it is the one that this program was built in.
    pub(crate) fn is_here(&self) -> bool {
        self.is_here
    }

    /// The folder of an exercise.
    pub(crate) fn folder(&self, entry: &Entry) -> PathBuf {
        self.root.join("exercises").join(entry.folder)
    }

    /// The learner's file.
    pub(crate) fn kernel(&self, entry: &Entry) -> PathBuf {
        self.folder(entry).join("kernel.cu")
    }

    /// Puts the stub in the learner's file if there is none, and says whether it did. Nothing is ever overwritten.
    ///
    /// # Errors
    /// If the folder can't be written to.
    pub(crate) fn ensure_kernel(&self, entry: &Entry) -> Result<bool> {
        let path = self.kernel(entry);
        // A dangling link is somebody's file too.
        if path.symlink_metadata().is_ok() {
            return Ok(false);
        }
        let folder = self.folder(entry);
        let written = std::fs::create_dir_all(&folder)
            // Another checker may be faster; nothing is written over.
            .and_then(|()| file::create(&path, entry.exercise.stub.as_bytes(), Readers::Umask));
        written.with_context(|| format!("{} cannot be created", path.display()))
    }

    /// Brings the stub back. The former kernel is kept as `kernel.cu.1.bak` (or the first free number).
    ///
    /// # Errors
    /// If something can't be read or written; the kernel is unchanged then.
    pub(crate) fn reset(&self, entry: &Entry) -> Result<Reset> {
        let path = self.kernel(entry);
        if self.ensure_kernel(entry)? {
            return Ok(Reset::NothingToDo);
        }
        match path.metadata() {
            Ok(metadata) if metadata.is_dir() => bail!("{} is a folder; move it away first", path.display()),
            Ok(metadata) if !metadata.is_file() => bail!("{} is no file; move it away first", path.display()),
            _ => {}
        }
        let old = std::fs::read(&path).with_context(|| format!("{} cannot be read", path.display()))?;
        if old == entry.exercise.stub.as_bytes() {
            return Ok(Reset::NothingToDo);
        }
        let backup = keep(&path, &old).with_context(|| format!("{} cannot be backed up", path.display()))?;
        file::replace(&path, entry.exercise.stub.as_bytes(), Readers::Umask)
            .with_context(|| format!("{} cannot be replaced", path.display()))?;
        Ok(Reset::Done { backup })
    }

    /// A path for people: relative to the current folder where that is shorter.
    pub(crate) fn shown(path: &Path) -> String {
        let here = std::env::current_dir().ok();
        here.and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path).display().to_string()
    }
}

/// Whether a folder is a course that is used when somebody is in it or below. One that somebody else put there, in `/tmp` for
/// one, is none: passes and kernels would go to them.
fn is_workspace(folder: &Path) -> bool {
    trust::owner::is_ours(folder)
        && folder.join("exercises").is_dir()
        && folder.join("kernels").is_dir()
        && folder.join("Cargo.toml").is_file()
}

/// Writes `contents` beside `path`, under the first name that is free.
fn keep(path: &Path, contents: &[u8]) -> io::Result<PathBuf> {
    let mut number = 1;
    loop {
        let backup = PathBuf::from(format!("{}.{number}.bak", path.display()));
        match File::create_new(&backup) {
            Ok(mut file) => {
                file.write_all(contents)?;
                file.sync_all()?;
                return Ok(backup);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;

    fn scratch() -> (tempfile::TempDir, Workspace, &'static Entry) {
        let folder = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::at(folder.path());
        (folder, workspace, registry::all().first().expect("an exercise"))
    }

    #[test]
    fn the_stub_is_put_there_once_and_never_over_an_edit() {
        let (_folder, workspace, entry) = scratch();
        assert!(workspace.ensure_kernel(entry).expect("created"));
        assert_eq!(std::fs::read_to_string(workspace.kernel(entry)).expect("there"), entry.exercise.stub);
        std::fs::write(workspace.kernel(entry), "mine").expect("edited");
        assert!(!workspace.ensure_kernel(entry).expect("left alone"));
        assert_eq!(std::fs::read(workspace.kernel(entry)).expect("there"), b"mine");
    }

    #[test]
    fn every_reset_keeps_what_was_there() {
        let (_folder, workspace, entry) = scratch();
        assert_eq!(workspace.reset(entry).expect("reset"), Reset::NothingToDo);
        assert_eq!(workspace.reset(entry).expect("reset"), Reset::NothingToDo);
        let kernel = workspace.kernel(entry);
        for (number, text) in [(1, &b"first"[..]), (2, b"not \xff UTF-8")] {
            std::fs::write(&kernel, text).expect("edited");
            let backup = PathBuf::from(format!("{}.{number}.bak", kernel.display()));
            assert_eq!(workspace.reset(entry).expect("reset"), Reset::Done { backup });
            assert_eq!(std::fs::read_to_string(&kernel).expect("there"), entry.exercise.stub);
        }
        let kept = |number| std::fs::read(format!("{}.{number}.bak", kernel.display())).expect("kept");
        assert_eq!((kept(1), kept(2)), (b"first".to_vec(), b"not \xff UTF-8".to_vec()));
        let left = std::fs::read_dir(workspace.folder(entry)).expect("a folder").count();
        assert_eq!(left, 3, "no temporary file is left behind");
    }

    #[test]
    fn a_folder_in_the_place_of_the_kernel_is_left_alone() {
        let (_folder, workspace, entry) = scratch();
        std::fs::create_dir_all(workspace.kernel(entry)).expect("created");
        assert!(workspace.reset(entry).expect_err("refused").to_string().contains("is a folder"));
    }
}
