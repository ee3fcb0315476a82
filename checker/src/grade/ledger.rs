//! Results on disk, one line of JSON each, appended as they come: whatever ends a run, the next one goes on from there.
//!
//! ```text
//! {"seal":"HEX","record":{"key":"HEX","student":"kim",...}}
//! ```
//!
//! The key names all that decides the result; the seal covers the record, byte by byte. Both are made under the salt of the
//! run ([`Secret`]), so that neither tells the seed, and a line that anybody else wrote or changed counts for nothing.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use trust::file::{self, Patience};
use trust::owner;

use super::{Record, Secret, Terms};
use crate::registry::Entry;

/// The file in the folder of results.
const FILE: &str = "results.jsonl";

/// What a key is sealed for.
const KEY: &str = "key";
/// What a line is sealed for.
const LINE: &str = "line";

/// Names what decides a result: whose it is, for which exercise, the text, the seed of the inputs, and how it is judged.
pub(crate) fn key(secret: &Secret, terms: &Terms, student: &str, entry: &Entry, text: &str) -> String {
    let (seed, terms) = (secret.seed().to_le_bytes(), terms.digest(&entry.exercise));
    secret.seal(KEY, &[student.as_bytes(), entry.folder.as_bytes(), text.as_bytes(), &seed, &terms])
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
struct Line<'a> {
    seal: String,
    #[serde(borrow)]
    record: &'a RawValue,
}

/// The results so far.
#[derive(Debug)]
pub(crate) struct Ledger {
    file: File,
    secret: Secret,
    done: BTreeMap<String, Record>,
    /// Lines that are whole and not of this run: written by somebody else, or changed since.
    strange: usize,
}

impl Ledger {
    /// Opens the results in the folder `out`, which is made if need be, for this user alone. A line that was cut short by a
    /// kill is left out; what it was about is judged again.
    ///
    /// # Errors
    /// If the file cannot be used, if somebody else may have written it, or if another grader is using it.
    pub(crate) fn open(out: &Path) -> Result<Ledger> {
        file::create_private_folder(out).with_context(|| format!("{} cannot be created", out.display()))?;
        owner::check(out).context("results of others would count as this grader's; give another --out")?;
        let path = out.join(FILE);
        let opened = file::open_to_append(&path);
        let mut file = opened.with_context(|| format!("{} cannot be written", path.display()))?;
        owner::check(&path)?;
        match file::lock(&file, Patience::None) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                bail!("another `grade` is writing to {}; give this one another --out", path.display())
            }
            Err(error) => bail!(
                "{} cannot be locked ({error}), so another `grade` might write to it too; \
                 give an --out on a local disk",
                path.display()
            ),
        }
        let secret = Secret::open(out)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).with_context(|| format!("{} cannot be read", path.display()))?;
        if bytes.last().is_some_and(|last| *last != b'\n') {
            file.write_all(b"\n").with_context(|| format!("{} cannot be written", path.display()))?;
        }
        let mut ledger = Ledger { file, secret, done: BTreeMap::new(), strange: 0 };
        bytes.split(|byte| *byte == b'\n').for_each(|line| ledger.take(line));
        Ok(ledger)
    }

    /// Takes a line that was found, if this run wrote it.
    fn take(&mut self, line: &[u8]) {
        let Ok(line) = serde_json::from_slice::<Line<'_>>(line) else {
            // Lines that were cut short are no news; whole ones that are no results are.
            self.strange += usize::from(serde_json::from_slice::<serde_json::Value>(line).is_ok());
            return;
        };
        let text = line.record.get();
        match serde_json::from_str::<Record>(text) {
            Ok(record) if self.secret.seal(LINE, &[text.as_bytes()]) == line.seal => {
                self.done.insert(record.key.clone(), record.with_score());
            }
            _ => self.strange += 1,
        }
    }

    /// The run's secret.
    pub(crate) fn secret(&self) -> &Secret {
        &self.secret
    }

    /// How many lines were left out since this run did not write them.
    pub(crate) fn strange(&self) -> usize {
        self.strange
    }

    /// The result of an earlier run.
    pub(crate) fn get(&self, key: &str) -> Option<&Record> {
        self.done.get(key)
    }

    /// Adds a result, and comes back when it is on the disk.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn append(&mut self, record: &Record) -> io::Result<()> {
        let text = serde_json::to_string(record)?;
        let seal = self.secret.seal(LINE, &[text.as_bytes()]);
        let mut line = serde_json::to_vec(&Line { seal, record: &RawValue::from_string(text)? })?;
        line.push(b'\n');
        // One write: a kill leaves a whole line or a torn one, never two mixed.
        self.file.write_all(&line)?;
        self.file.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::grade::Criterion;
    use crate::registry;

    fn record(key: &str) -> Record {
        let criteria = vec![
            Criterion { key: "correct".into(), met: true, yours: None },
            Criterion { key: "sectors".into(), met: false, yours: Some(2.1) },
        ];
        Record { key: key.to_owned(), criteria, ..Record::unjudged("too_slow", None) }.with_score()
    }

    #[test]
    fn results_outlive_a_torn_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("out");
        let mut ledger = Ledger::open(&out).expect("opened");
        ledger.append(&record("a")).expect("written");
        drop(ledger);
        let path = out.join(FILE);
        let mut torn = std::fs::read(&path).expect("there");
        torn.extend(b"{\"seal\": \"b\", \"rec");
        std::fs::write(&path, torn).expect("written");
        let mut ledger = Ledger::open(&out).expect("opened");
        assert_eq!((ledger.get("a"), ledger.get("b"), ledger.strange()), (Some(&record("a")), None, 0));
        ledger.append(&record("c")).expect("written");
        drop(ledger);
        let ledger = Ledger::open(&out).expect("opened");
        assert!(ledger.get("a").is_some() && ledger.get("c").is_some());
        assert_eq!(ledger.get("a").expect("there").score, 0.5);
    }

    #[test]
    fn what_this_run_did_not_write_counts_for_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let (out, other) = (folder.path().join("out"), folder.path().join("other"));
        let mut ledger = Ledger::open(&out).expect("opened");
        ledger.append(&record("a")).expect("written");
        drop(ledger);
        let mut theirs = Ledger::open(&other).expect("opened");
        theirs.append(&record("b")).expect("written");
        drop(theirs);
        let read = |out: &Path| std::fs::read_to_string(out.join(FILE)).expect("there");
        let own = read(&out);
        let planted = [
            own.replace("\"a\"", "\"c\""),
            own.replace("too_slow", "passed"),
            own.replace("\"score\":0.5", "\"score\":99.0"),
            read(&other),
            serde_json::to_string(&record("d")).expect("JSON") + "\n",
        ];
        std::fs::write(out.join(FILE), own.clone() + &planted.concat()).expect("written");
        let ledger = Ledger::open(&out).expect("opened");
        assert_eq!(ledger.get("a"), Some(&record("a")));
        assert_eq!((ledger.done.len(), ledger.strange()), (1, planted.len()));
    }

    #[cfg(unix)]
    #[test]
    fn results_are_private_and_nobody_elses_are_used() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("out");
        let mode = |path: &Path| path.metadata().expect("there").permissions().mode() & 0o777;
        drop(Ledger::open(&out).expect("opened"));
        assert_eq!((mode(&out), mode(&out.join(FILE))), (0o700, 0o600));
        let set =
            |mode| std::fs::set_permissions(&out, std::fs::Permissions::from_mode(mode)).expect("changed");
        set(0o777);
        let error = format!("{:#}", Ledger::open(&out).expect_err("exposed"));
        assert!(error.contains("can be written to by other users"), "{error}");
        set(0o700);
        let link = folder.path().join("link");
        symlink(&out, &link).expect("linked");
        assert!(Ledger::open(&link).is_err());
        let mine = folder.path().join("mine");
        std::fs::write(&mine, "mine").expect("written");
        std::fs::remove_file(out.join(FILE)).expect("removed");
        symlink(&mine, out.join(FILE)).expect("linked");
        let error = format!("{:#}", Ledger::open(&out).expect_err("a link"));
        assert!(error.contains("links are not followed"), "{error}");
        std::fs::remove_file(out.join(FILE)).expect("removed");
        rustix::fs::mknodat(rustix::fs::CWD, out.join(FILE), rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .expect("made");
        assert!(Ledger::open(&out).is_err(), "a pipe is not waited for");
        assert_eq!(std::fs::read(&mine).expect("there"), b"mine");
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
    fn a_result_is_for_one_student_text_seed_and_machine() {
        let folder = tempfile::tempdir().expect("a folder");
        let secret = Secret::open(folder.path()).expect("drawn");
        let terms = Terms {
            checker: "1".into(),
            compiler: "2".into(),
            engine: "sim",
            gpu: None,
            wall_limit: Duration::from_secs(1),
            memory: None,
        };
        let other_terms = Terms { compiler: "3".into(), ..terms.clone() };
        let other_seed = secret.clone().with_seed(Some(1));
        let (one, two) = (&registry::all()[0], &registry::all()[1]);
        let keys = [
            key(&secret, &terms, "kim", one, "text"),
            key(&secret, &terms, "lee", one, "text"),
            key(&secret, &terms, "kim", two, "text"),
            key(&secret, &terms, "kim", one, "text2"),
            key(&other_seed, &terms, "kim", one, "text"),
            key(&secret, &other_terms, "kim", one, "text"),
            key(&secret, &terms, "kimt", one, "ext"),
        ];
        assert_eq!(keys.iter().collect::<std::collections::BTreeSet<_>>().len(), keys.len());
    }
}
