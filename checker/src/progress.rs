//! Which exercises were passed, in a small text file. It only remembers: losing it loses nothing, since every
//! kernel can be judged again.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

use sha2::{Digest, Sha256};
use trust::file::{self, Patience, Readers};

use crate::registry::{self, Entry};
use crate::submission::Submission;
use crate::workspace::Workspace;

/// How far an exercise is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// There is no kernel yet, or it is the stub.
    Untouched,
    /// The kernel was edited, and has not passed.
    Started,
    /// A kernel passed, and the file holds another one now.
    Edited,
    /// The kernel passed as it is now.
    Passed,
}

impl State {
    /// Whether a kernel for the exercise has passed. What is tried afterwards takes nothing away.
    pub(crate) fn has_passed(self) -> bool {
        matches!(self, State::Passed | State::Edited)
    }
}

/// The kernels that passed, by folder, as the hash of their text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    passed: BTreeMap<String, String>,
}

/// The folder in the workspace.
const FOLDER: &str = ".warplings";

/// Longer than the file ever is, in bytes.
const MOST_BYTES: u64 = 1 << 20;

const HEADER: &str =
    "# Exercises that passed, with the SHA-256 of the kernel. Kept by `checker`; safe to delete.\n";

impl Progress {
    /// What was remembered. Of a damaged file, every line that can be read.
    pub(crate) fn load(workspace: &Workspace) -> Progress {
        Progress::parse(&file::read(&path(workspace), MOST_BYTES).unwrap_or_default()).0
    }

    /// What a file says, and whether all of it could be read.
    fn parse(bytes: &[u8]) -> (Progress, bool) {
        let mut progress = Progress::default();
        let mut is_whole = true;
        let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        for line in lines.filter(|line| !line.is_empty() && !line.starts_with(b"#")) {
            match std::str::from_utf8(line).ok().and_then(|line| line.split_once(' ')) {
                Some((folder, hash)) if hash.len() == 64 && hash.bytes().all(|c| c.is_ascii_hexdigit()) => {
                    progress.passed.insert(folder.to_owned(), hash.to_owned());
                }
                _ => is_whole = false,
            }
        }
        (progress, is_whole)
    }

    /// How far `entry` is, by the file that is there now.
    pub(crate) fn state(&self, workspace: &Workspace, entry: &Entry) -> State {
        match (Submission::read(&workspace.kernel(entry)), self.passed.get(entry.folder)) {
            (Ok(submission), Some(passed)) if *passed == hash(&submission.text) => State::Passed,
            (_, Some(_)) => State::Edited,
            (Ok(submission), None) if submission.text != entry.exercise.stub => State::Started,
            (Ok(_) | Err(_), None) => State::Untouched,
        }
    }

    /// The first exercise, in the order of the book, that has not passed.
    pub(crate) fn next(&self, workspace: &Workspace) -> Option<&'static Entry> {
        let order = registry::in_teaching_order();
        order.into_iter().find(|entry| !self.state(workspace, entry).has_passed())
    }

    /// Whether the exercise was ever passed, by whatever text.
    pub(crate) fn has_passed(&self, entry: &Entry) -> bool {
        self.passed.contains_key(entry.folder)
    }

    /// Remembers that `text` passed or did not. What others remember at the same time is kept too; a damaged file is kept as
    /// `progress.txt.bak`.
    ///
    /// # Errors
    /// If the file can't be written, as in a read-only checkout.
    pub(crate) fn record(workspace: &Workspace, entry: &Entry, text: &str, passed: bool) -> io::Result<()> {
        let path = path(workspace);
        // Nothing is written where nothing is to be remembered.
        if !passed && !Progress::load(workspace).has_passed(entry) {
            return Ok(());
        }
        let folder = workspace.root().join(FOLDER);
        file::create_private_folder(&folder)?;
        let lock = file::open_to_append(&folder.join("lock"))?;
        // A file system without locks is used without: a pass that is lost can be had again.
        let _ = file::lock(&lock, Patience::Endless);
        file::clean(&path);
        let bytes = file::read(&path, MOST_BYTES).unwrap_or_default();
        let (mut progress, is_whole) = Progress::parse(&bytes);
        if !is_whole {
            file::replace(&path.with_extension("txt.bak"), &bytes, Readers::Umask)?;
        }
        let before = progress.clone();
        if passed {
            progress.passed.insert(entry.folder.to_owned(), hash(text));
        } else if progress.passed.get(entry.folder) == Some(&hash(text)) {
            progress.passed.remove(entry.folder);
        }
        if progress == before && is_whole {
            return Ok(());
        }
        // The folder keeps itself out of the repository.
        file::create(&folder.join(".gitignore"), b"*\n", Readers::Umask)?;
        let mut text = HEADER.to_owned();
        for (folder, hash) in &progress.passed {
            let _ = writeln!(text, "{folder} {hash}");
        }
        file::replace(&path, text.as_bytes(), Readers::Umask)
    }
}

fn path(workspace: &Workspace) -> PathBuf {
    workspace.root().join(FOLDER).join("progress.txt")
}

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch() -> (tempfile::TempDir, Workspace, &'static Entry) {
        let folder = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::at(folder.path());
        (folder, workspace, &registry::all()[0])
    }

    #[test]
    fn a_pass_outlasts_what_is_tried_next() {
        let (_folder, workspace, entry) = scratch();
        let state = || Progress::load(&workspace).state(&workspace, entry);
        assert_eq!(state(), State::Untouched);
        workspace.ensure_kernel(entry).expect("created");
        assert_eq!(state(), State::Untouched);
        std::fs::write(workspace.kernel(entry), "good").expect("written");
        assert_eq!(state(), State::Started);
        Progress::record(&workspace, entry, "good", true).expect("recorded");
        assert_eq!(state(), State::Passed);
        std::fs::write(workspace.kernel(entry), "better").expect("written");
        assert_eq!(state(), State::Edited);
        Progress::record(&workspace, entry, "better", false).expect("recorded");
        assert_eq!(state(), State::Edited);
        let next = Progress::load(&workspace).next(&workspace).map(|next| next.folder);
        assert_eq!(next, Some(registry::all()[1].folder));
        std::fs::write(workspace.kernel(entry), entry.exercise.stub).expect("written");
        assert_eq!(state(), State::Edited);
        std::fs::write(workspace.kernel(entry), "good").expect("written");
        assert_eq!(state(), State::Passed);
        Progress::record(&workspace, entry, "good", false).expect("recorded");
        assert_eq!(state(), State::Started);
    }

    #[test]
    fn of_a_damaged_file_what_can_be_read_is_kept_and_the_rest_backed_up() {
        let (_folder, workspace, entry) = scratch();
        let others = &registry::all()[1..3];
        for entry in others {
            Progress::record(&workspace, entry, "good", true).expect("recorded");
        }
        let file = path(&workspace);
        let mut bytes = std::fs::read(&file).expect("there");
        bytes.extend(b"\xff\xfe nonsense\n\n05");
        std::fs::write(&file, &bytes).expect("written");
        assert!(others.iter().all(|entry| Progress::load(&workspace).has_passed(entry)));
        Progress::record(&workspace, entry, "good", true).expect("recorded");
        let progress = Progress::load(&workspace);
        assert!(progress.has_passed(entry) && others.iter().all(|entry| progress.has_passed(entry)));
        assert_eq!(std::fs::read(file.with_extension("txt.bak")).expect("kept"), bytes);
        // A whole file is not backed up again.
        std::fs::remove_file(file.with_extension("txt.bak")).expect("removed");
        Progress::record(&workspace, entry, "better", true).expect("recorded");
        assert!(!file.with_extension("txt.bak").exists());
    }

    #[test]
    fn passes_at_the_same_time_are_all_remembered() {
        let (_folder, workspace, _) = scratch();
        let entries = registry::all();
        std::thread::scope(|scope| {
            for entry in entries {
                let workspace = &workspace;
                scope.spawn(move || Progress::record(workspace, entry, "good", true).expect("recorded"));
            }
        });
        let progress = Progress::load(&workspace);
        assert!(entries.iter().all(|entry| progress.has_passed(entry)), "{progress:?}");
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_through_a_link_and_no_pipe_is_waited_for() {
        use std::os::unix::fs::symlink;
        let (folder, workspace, entry) = scratch();
        let (mine, own) = (folder.path().join("mine"), folder.path().join(FOLDER));
        std::fs::write(&mine, "mine").expect("written");
        std::fs::create_dir(&own).expect("created");
        symlink(&mine, own.join("progress.txt")).expect("linked");
        symlink(&mine, own.join(".gitignore")).expect("linked");
        Progress::record(&workspace, entry, "good", true).expect("recorded");
        assert!(Progress::load(&workspace).has_passed(entry));
        assert_eq!(std::fs::read(&mine).expect("there"), b"mine");
        std::fs::remove_file(own.join("progress.txt")).expect("removed");
        let pipe = own.join("progress.txt");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .expect("made");
        assert_eq!(Progress::load(&workspace), Progress::default());
        Progress::record(&workspace, entry, "good", true).expect("recorded");
        assert!(Progress::load(&workspace).has_passed(entry));
        // The whole folder is a link.
        std::fs::rename(&own, folder.path().join("elsewhere")).expect("moved");
        symlink(folder.path().join("elsewhere"), &own).expect("linked");
        assert!(Progress::record(&workspace, entry, "better", true).is_err());
    }
}
