//! Results on disk, for many writers at a time: each appends to a file of its own, so that none needs a lock,
//! and whoever reads merges them by a rule that does not depend on order. A task that runs twice, a line that
//! was written twice or cut short change nothing.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::label::clean;
use crate::outcome::{Outcome, Weight};
use crate::store::StoreError;

/// Appends the results of one process.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    file: File,
    is_torn: bool,
}

impl Writer {
    /// Makes a new file in `folder/results`; `name` must differ from that of any other writer.
    ///
    /// # Errors
    /// If it cannot be made, or is there already.
    pub fn create(folder: &Path, name: &str) -> Result<Writer, StoreError> {
        let path = folder.join("results").join(format!("{name}.jsonl"));
        let open = || {
            std::fs::create_dir_all(folder.join("results"))?;
            OpenOptions::new().append(true).create_new(true).open(&path)
        };
        let file = open().map_err(StoreError::io(&path))?;
        Ok(Writer { path, file, is_torn: false })
    }

    /// Adds a result, and comes back when it is on the disk.
    ///
    /// # Errors
    /// If it could not be written, as when the disk is full. What was written before is there still; the next
    /// one begins a line of its own.
    pub fn append(&mut self, outcome: &Outcome) -> Result<(), StoreError> {
        let mut line = if self.is_torn { b"\n".to_vec() } else { Vec::new() };
        serde_json::to_writer(&mut line, outcome).expect("plain data");
        line.push(b'\n');
        // One write: a kill leaves a whole line or a torn one, never two mixed.
        let write = self.file.write_all(&line).and_then(|()| self.file.sync_data());
        self.is_torn = write.is_err();
        write.map_err(StoreError::io(&self.path))
    }
}

/// All results that there are.
#[derive(Debug, Default)]
pub struct Merged {
    /// By the cell's key.
    pub outcomes: BTreeMap<String, Outcome>,
    /// Lines that are no results: of writers that were killed while they wrote.
    pub torn_lines: usize,
    /// What must not be: the simulator judged the same cell in two ways. Each names both.
    pub alarms: Vec<String>,
}

/// Merges what is in `folder/results`.
///
/// # Errors
/// If a file is there and cannot be read: marks without it might be wrong.
pub fn merge(folder: &Path) -> Result<Merged, StoreError> {
    let results = folder.join("results");
    let mut paths = Vec::new();
    match std::fs::read_dir(&results) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(StoreError::io(&results)(error)),
        Ok(entries) => {
            for entry in entries {
                let path = entry.map_err(StoreError::io(&results))?.path();
                if path.extension().is_some_and(|extension| extension == "jsonl") {
                    paths.push(path);
                }
            }
        }
    }
    let mut merging = Merging::default();
    for path in &paths {
        let bytes = std::fs::read(path).map_err(StoreError::io(path))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            match serde_json::from_slice(line) {
                Ok(outcome) => merging.add(&name, outcome),
                Err(_) => merging.torn_lines += 1,
            }
        }
    }
    Ok(merging.finish())
}

#[derive(Default)]
struct Merging {
    /// For each key, the best so far with its file, and others that contradict it.
    found: BTreeMap<String, Vec<(String, Outcome)>>,
    torn_lines: usize,
}

impl Merging {
    /// Keeps one result of every kind that there is for a key: doubles are normal, and there may be many.
    fn add(&mut self, file: &str, outcome: Outcome) {
        let kept = self.found.entry(outcome.key.clone()).or_default();
        let same = |other: &Outcome| {
            other.weight() == outcome.weight() && other.agrees_with(&outcome) && other.gpu == outcome.gpu
        };
        match kept.iter_mut().find(|(_, other)| same(other)) {
            Some(other) if order(&other.0, &other.1) <= order(file, &outcome) => {}
            Some(other) => *other = (file.to_owned(), outcome),
            None => kept.push((file.to_owned(), outcome)),
        }
    }

    fn finish(self) -> Merged {
        let mut merged = Merged { torn_lines: self.torn_lines, ..Merged::default() };
        for (key, mut kept) in self.found {
            kept.sort_by(|a, b| order(&a.0, &a.1).cmp(&order(&b.0, &b.1)));
            let judged = kept
                .iter()
                .filter(|(_, outcome)| outcome.weight() == Weight::Judged && outcome.gpu.is_none());
            let judged: Vec<&(String, Outcome)> = judged.collect();
            if let [(one, a), (two, b), ..] = judged.as_slice() {
                let (exercise, a, b) = (clean(&a.exercise), clean(&a.verdict), clean(&b.verdict));
                merged.alarms.push(format!(
                    "{exercise}: the same text is `{a}` in {one} and `{b}` in {two}, with other figures"
                ));
            }
            if let Some((_, best)) = kept.into_iter().next() {
                merged.outcomes.insert(key, best);
            }
        }
        merged
    }
}

/// The best comes first: what is judged, then the earliest attempt, then the file's name. The line itself
/// comes last, so that no two results are in no order.
fn order<'a>(file: &'a str, outcome: &Outcome) -> (std::cmp::Reverse<Weight>, u32, &'a str, String) {
    (
        std::cmp::Reverse(outcome.weight()),
        outcome.attempt,
        file,
        serde_json::to_string(outcome).unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn outcome(key: &str, verdict: &str, attempt: u32) -> Outcome {
        Outcome {
            key: key.into(),
            exercise: "05_x".into(),
            verdict: verdict.into(),
            criteria: Vec::new(),
            message: None,
            gpu: None,
            attempt,
            host: "vm".into(),
            seconds: 0.25,
        }
    }

    #[test]
    fn torn_and_doubled_lines_change_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut one = Writer::create(folder.path(), "one").expect("made");
        assert!(Writer::create(folder.path(), "one").is_err());
        one.append(&outcome("a", "passed", 0)).expect("written");
        one.append(&outcome("a", "passed", 0)).expect("written");
        let mut two = Writer::create(folder.path(), "two").expect("made");
        two.append(&outcome("a", "judge_timeout", 0)).expect("written");
        two.append(&outcome("b", "not_judged", 0)).expect("written");
        let path = folder.path().join("results/two.jsonl");
        let mut bytes = std::fs::read(&path).expect("there");
        bytes.extend(b"{\"key\": \"c\", \"verd\n\n\xff\xfe");
        std::fs::write(&path, bytes).expect("written");
        let merged = merge(folder.path()).expect("merged");
        assert_eq!(merged.torn_lines, 2);
        assert_eq!(merged.outcomes.len(), 2);
        assert_eq!(merged.outcomes["a"].verdict, "passed");
        assert_eq!(merged.outcomes["b"].verdict, "not_judged");
        assert!(merged.alarms.is_empty());
    }

    #[test]
    fn the_simulator_that_contradicts_itself_is_an_alarm_and_a_gpu_is_not() {
        for (gpu, alarms) in [(None, 1), (Some("H200".to_owned()), 0)] {
            let mut merging = Merging::default();
            for (file, verdict) in [("one", "passed"), ("two", "too_slow"), ("three", "judge_timeout")] {
                merging.add(file, Outcome { gpu: gpu.clone(), ..outcome("a", verdict, 0) });
            }
            let merged = merging.finish();
            assert_eq!(merged.alarms.len(), alarms, "{:?}", merged.alarms);
            assert_eq!(merged.outcomes["a"].verdict, "passed");
        }
    }

    proptest! {
        #[test]
        fn the_order_of_files_and_lines_does_not_matter(
            lines in prop::collection::vec((0..3_usize, 0..5_usize, 0..3_u32, 0..4_usize), 0..30),
            seed in any::<u64>(),
        ) {
            let verdicts = ["passed", "too_slow", "judge_timeout", "judge_crashed", "not_judged"];
            let lines: Vec<(String, Outcome)> = lines
                .iter()
                .map(|(key, verdict, attempt, file)| {
                    (format!("s{file}"), outcome(&format!("k{key}"), verdicts[*verdict], *attempt))
                })
                .collect();
            let merge = |lines: &[(String, Outcome)]| {
                let mut merging = Merging::default();
                lines.iter().for_each(|(file, outcome)| merging.add(file, outcome.clone()));
                let merged = merging.finish();
                (merged.outcomes, merged.alarms)
            };
            let mut shuffled = lines.clone();
            let mut state = seed | 1;
            for index in (1..shuffled.len()).rev() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                shuffled.swap(index, (state >> 33) as usize % (index + 1));
            }
            prop_assert_eq!(merge(&lines), merge(&shuffled));
            let doubled: Vec<_> = lines.iter().chain(&shuffled).cloned().collect();
            prop_assert_eq!(merge(&lines), merge(&doubled));
        }
    }
}
