//! Results on disk, one line of JSON each, appended as they come: whatever ends a run, the next one goes on from there.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use super::Record;
use crate::registry::Entry;

/// Names what decides a result: the student and exercise it is for, the text, and how it is judged. The seed itself
/// cannot be read from it.
pub(crate) fn key(student: &str, entry: &Entry, text: &str, seed: u64, engine: &str) -> String {
    let mut hash = Sha256::new();
    let seed = seed.to_string();
    for part in [student, entry.folder, text, &seed, engine, env!("CARGO_PKG_VERSION")] {
        // With its length, so that no two lists of parts look alike.
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The results so far.
#[derive(Debug)]
pub(crate) struct Ledger {
    file: File,
    done: BTreeMap<String, Record>,
}

impl Ledger {
    /// Opens `results.jsonl` in the folder `out`, which is made if need be. A line that was cut short by a kill is
    /// left out; what it was about is judged again.
    ///
    /// # Errors
    /// If the file cannot be used, or another grader is using it.
    pub(crate) fn open(out: &Path) -> Result<Ledger> {
        let path = out.join("results.jsonl");
        std::fs::create_dir_all(out).with_context(|| format!("{} cannot be created", out.display()))?;
        let opened = OpenOptions::new().read(true).append(true).create(true).open(&path);
        let mut file = opened.with_context(|| format!("{} cannot be written", path.display()))?;
        if !lock(&file) {
            bail!("another `grade` is writing to {}; give this one another --out", path.display());
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).with_context(|| format!("{} cannot be read", path.display()))?;
        if bytes.last().is_some_and(|last| *last != b'\n') {
            file.write_all(b"\n").with_context(|| format!("{} cannot be written", path.display()))?;
        }
        let records = bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
        let done = records.map(|record: Record| (record.key.clone(), record)).collect();
        Ok(Ledger { file, done })
    }

    /// The result of an earlier run.
    pub(crate) fn get(&self, key: &str) -> Option<&Record> {
        self.done.get(key)
    }

    /// Adds a result.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn append(&mut self, record: &Record) -> io::Result<()> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        // One write: a kill leaves a whole line or a torn one, never two mixed.
        self.file.seek(SeekFrom::End(0))?;
        self.file.write_all(&line)?;
        self.file.flush()
    }
}

/// Keeps other graders out until the file is closed.
#[cfg(unix)]
fn lock(file: &File) -> bool {
    use rustix::fs::{FlockOperation, flock};
    use rustix::io::Errno;
    // File systems that know no locks are used without.
    !matches!(flock(file, FlockOperation::NonBlockingLockExclusive), Err(Errno::WOULDBLOCK))
}

#[cfg(not(unix))]
fn lock(_: &File) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;

    fn record(key: &str) -> Record {
        Record { key: key.to_owned(), ..Record::unjudged("passed", None) }
    }

    #[test]
    fn results_outlive_a_torn_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut ledger = Ledger::open(folder.path()).expect("opened");
        ledger.append(&record("a")).expect("written");
        drop(ledger);
        let path = folder.path().join("results.jsonl");
        let mut torn = std::fs::read(&path).expect("there");
        torn.extend(b"{\"key\": \"b\", \"stud");
        std::fs::write(&path, torn).expect("written");
        let mut ledger = Ledger::open(folder.path()).expect("opened");
        assert!(ledger.get("a").is_some() && ledger.get("b").is_none());
        ledger.append(&record("c")).expect("written");
        drop(ledger);
        let ledger = Ledger::open(folder.path()).expect("opened");
        assert!(ledger.get("a").is_some() && ledger.get("c").is_some());
    }

    #[cfg(unix)]
    #[test]
    fn two_graders_do_not_write_to_one_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let _first = Ledger::open(folder.path()).expect("opened");
        let error = Ledger::open(folder.path()).expect_err("refused").to_string();
        assert!(error.contains("another `grade`"), "{error}");
    }

    #[test]
    fn a_result_is_for_one_student_text_and_seed() {
        let entry = &registry::all()[0];
        let keys = [
            key("kim", entry, "text", 1, "sim"),
            key("lee", entry, "text", 1, "sim"),
            key("kim", entry, "text2", 1, "sim"),
            key("kim", entry, "text", 2, "sim"),
            key("kimt", entry, "ext", 1, "sim"),
        ];
        assert_eq!(keys.iter().collect::<std::collections::BTreeSet<_>>().len(), 5);
    }
}
