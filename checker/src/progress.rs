//! Which exercises were passed, in a small text file. It only remembers: losing it loses nothing, since every
//! kernel can be judged again.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

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

const HEADER: &str =
    "# Exercises that passed, with the SHA-256 of the kernel. Kept by `checker`; safe to delete.\n";

impl Progress {
    /// What was remembered. An unreadable or damaged file is an empty one.
    pub(crate) fn load(workspace: &Workspace) -> Progress {
        let text = std::fs::read_to_string(file(workspace)).unwrap_or_default();
        let passed = text.lines().filter_map(|line| {
            let (folder, hash) = line.split_once(' ')?;
            Some((folder.to_owned(), hash.trim().to_owned()))
        });
        Progress { passed: passed.filter(|(folder, _)| !folder.starts_with('#')).collect() }
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

    /// Remembers that `text` passed or did not.
    ///
    /// # Errors
    /// If the file can't be written, as in a read-only checkout.
    pub(crate) fn record(workspace: &Workspace, entry: &Entry, text: &str, passed: bool) -> io::Result<()> {
        let mut progress = Progress::load(workspace);
        let before = progress.clone();
        if passed {
            progress.passed.insert(entry.folder.to_owned(), hash(text));
        } else if progress.passed.get(entry.folder) == Some(&hash(text)) {
            progress.passed.remove(entry.folder);
        }
        if progress == before { Ok(()) } else { progress.save(workspace) }
    }

    fn save(&self, workspace: &Workspace) -> io::Result<()> {
        let path = file(workspace);
        let folder = path.parent().unwrap_or(workspace.root());
        std::fs::create_dir_all(folder)?;
        // The folder keeps itself out of the repository.
        std::fs::write(folder.join(".gitignore"), "*\n")?;
        let mut text = HEADER.to_owned();
        for (folder, hash) in &self.passed {
            let _ = writeln!(text, "{folder} {hash}");
        }
        let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
        io::Write::write_all(&mut temporary, text.as_bytes())?;
        temporary.persist(path)?;
        Ok(())
    }
}

fn file(workspace: &Workspace) -> PathBuf {
    workspace.root().join(".warplings").join("progress.txt")
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
    fn a_damaged_file_is_an_empty_one() {
        let (_folder, workspace, entry) = scratch();
        Progress::record(&workspace, entry, "good", true).expect("recorded");
        std::fs::write(file(&workspace), b"\xff\xfe nonsense\n\n05").expect("written");
        assert_eq!(Progress::load(&workspace), Progress::default());
        assert_eq!(Progress::load(&workspace).next(&workspace).map(|next| next.folder), Some(entry.folder));
    }
}
