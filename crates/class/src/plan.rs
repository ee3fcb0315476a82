//! A planned grading: what is to be judged, frozen by content, and dealt out to tasks that know nothing of
//! each other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hmac::{Hmac, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::class::Class;
use crate::store::{StoreError, hex, sha256, write_secret, write_whole};

/// What one task should take, in seconds: long enough to be worth its start, short enough to be lost.
const SECONDS_PER_TASK: f64 = 600.0;

/// One text to judge for one exercise. Whoever handed in the same text has the same cell, and so the same
/// mark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// Names everything that decides the result; see [`Secret::key`].
    pub key: String,
    /// The exercise's folder.
    pub exercise: String,
    /// Of the text.
    pub sha256: String,
}

/// What judges. Two that differ may judge differently, so that a worker that differs refuses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judge {
    /// The checker: its version and the sum of its file, in which are the course and warpsim.
    pub checker: String,
    /// The compiler and its version.
    pub compiler: String,
    /// `sim`, `auto` or `gpu`.
    pub engine: String,
    /// The longest that one text may take, in seconds.
    pub limit: u64,
    /// The most memory that judging one may take, in MiB; 0: as much as there is.
    pub memory: u64,
}

impl Judge {
    /// What differs, in words; `None` if nothing does.
    pub fn difference(&self, here: &Judge) -> Option<String> {
        let pairs = [
            ("the checker (and with it the course)", &self.checker, &here.checker),
            ("the compiler", &self.compiler, &here.compiler),
        ];
        let differing = pairs.into_iter().find(|(_, planned, here)| planned != here)?;
        let (what, planned, here) = differing;
        Some(format!("{what} is {} in the plan and {} here", short(planned), short(here)))
    }
}

/// Of a version and a sum, as much as tells two apart.
fn short(text: &str) -> &str {
    text.get(..24).unwrap_or(text)
}

/// A plan, of which there may be several in a folder: new hand-ins get a new one, and none is changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    version: u32,
    /// From 1.
    pub number: u32,
    /// What judges.
    pub judge: Judge,
    /// Tasks that the cells are dealt to.
    pub shards: u32,
    /// By exercise, then by text.
    pub cells: Vec<Cell>,
}

/// What must never reach a student: with it, inputs could be guessed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Secret {
    /// Of the keys.
    salt: String,
    /// Of the inputs, and of the sizes that nobody knows.
    pub seed: u64,
}

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// A file cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Nothing was handed in, or nothing for the exercise.
    #[error("there is nothing to judge in {}; `class import` comes first", .0.display())]
    Empty(PathBuf),
    /// There is none yet.
    #[error("{} has no plan; `class plan` makes it", .0.display())]
    None(PathBuf),
    /// There is none with that number.
    #[error("{} has no plan {number}", folder.display())]
    NoSuch {
        /// The class's folder.
        folder: PathBuf,
        /// The plan that was asked for.
        number: u32,
    },
}

impl Secret {
    /// The class's secret, which is made on first use; `seed` is used then, or one that nobody knows.
    ///
    /// # Errors
    /// If it cannot be read or written, or is there with another seed.
    pub fn open(folder: &Path, seed: Option<u64>) -> Result<Secret, StoreError> {
        let path = folder.join("secret.json");
        let damaged = |reason: String| StoreError::Damaged { path: path.clone(), reason };
        match std::fs::read(&path) {
            Ok(text) => {
                let secret: Secret =
                    serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
                match seed {
                    Some(seed) if seed != secret.seed => {
                        Err(damaged("it holds another seed, and marks by two seeds cannot be compared; import into a new folder"
                            .into(),))
                    }
                    _ => Ok(secret),
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let mut salt = [0; 32];
                let random =
                    |error: getrandom::Error| StoreError::io(&path)(std::io::Error::other(error.to_string()));
                getrandom::fill(&mut salt).map_err(random)?;
                let seed = seed.map_or_else(getrandom::u64, Ok).map_err(random)?;
                let secret = Secret { salt: hex(&salt), seed };
                write_secret(&path, &serde_json::to_vec(&secret).expect("plain data"))?;
                Ok(secret)
            }
            Err(error) => Err(StoreError::io(&path)(error)),
        }
    }

    /// Reads the class's secret, which `class plan` has made.
    ///
    /// # Errors
    /// If it is not there, or cannot be read.
    pub fn load(folder: &Path) -> Result<Secret, StoreError> {
        let path = folder.join("secret.json");
        let text = std::fs::read(&path).map_err(StoreError::io(&path))?;
        serde_json::from_slice(&text).map_err(|error| StoreError::Damaged { path, reason: error.to_string() })
    }

    /// Names everything that decides a result: what judges, the seed, the exercise and the text. Without the
    /// salt, nothing can be found out by trying.
    pub fn key(&self, judge: &Judge, exercise: &str, text: &str) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.salt.as_bytes()).expect("any length will do");
        let (judge, seed) = (serde_json::to_string(judge).expect("plain data"), self.seed.to_string());
        for part in [judge.as_str(), &seed, exercise, text] {
            // With its length, so that no two lists of parts look alike.
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part.as_bytes());
        }
        hex(&mac.finalize().into_bytes()[..16])
    }
}

impl Plan {
    /// Plans what `class` has, of `only` these exercises if any are named, and writes it as the next plan.
    /// `shards`: how many tasks; if left out, as many as it takes for each to last about ten minutes at
    /// `seconds` for each cell, at most `most_shards`. A plan that would be the same as the last one is that
    /// one.
    ///
    /// # Errors
    /// [`PlanError`]; every text is read, so that one that is gone is found now.
    pub fn make(
        folder: &Path,
        class: &Class,
        only: &[String],
        judge: Judge,
        secret: &Secret,
        size: TaskSize,
    ) -> Result<Plan, PlanError> {
        let mut cells = BTreeMap::new();
        for handin in
            class.handins.values().filter(|handin| only.is_empty() || only.contains(&handin.exercise))
        {
            let Some(sha256) = handin.sha256.clone() else { continue };
            cells.entry((handin.exercise.clone(), sha256)).or_insert(());
        }
        for hash in cells.keys().map(|(_, hash)| hash).collect::<std::collections::BTreeSet<_>>() {
            Class::text(folder, hash)?;
        }
        if cells.is_empty() {
            return Err(PlanError::Empty(folder.to_owned()));
        }
        let cells: Vec<Cell> = cells
            .into_keys()
            .map(|(exercise, sha256)| Cell { key: secret.key(&judge, &exercise, &sha256), exercise, sha256 })
            .collect();
        let last = Plan::numbers(folder)?.last().copied().unwrap_or(0);
        let plan = Plan { version: 1, number: last + 1, judge, shards: size.shards(cells.len()), cells };
        if last > 0 {
            let before = Plan::load(folder, Some(last))?;
            if (Plan { number: last, ..plan.clone() }) == before {
                return Ok(before);
            }
        }
        let text = serde_json::to_vec(&plan).expect("plain data");
        write_whole(&Plan::path(folder, plan.number), &text)?;
        Ok(plan)
    }

    /// Reads a plan; the last one if no number is given.
    ///
    /// # Errors
    /// If there is none, or it is damaged.
    pub fn load(folder: &Path, number: Option<u32>) -> Result<Plan, PlanError> {
        let numbers = Plan::numbers(folder)?;
        let Some(last) = numbers.last().copied() else { return Err(PlanError::None(folder.to_owned())) };
        let number = number.unwrap_or(last);
        if !numbers.contains(&number) {
            return Err(PlanError::NoSuch { folder: folder.to_owned(), number });
        }
        let path = Plan::path(folder, number);
        let text = std::fs::read(&path).map_err(StoreError::io(&path))?;
        let damaged = |reason: String| StoreError::Damaged { path: path.clone(), reason };
        let plan: Plan = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        if plan.version != 1 || plan.number != number || plan.shards == 0 {
            return Err(damaged("it is no plan of this version".into()).into());
        }
        Ok(plan)
    }

    fn path(folder: &Path, number: u32) -> PathBuf {
        folder.join(format!("plan-{number:04}.json"))
    }

    /// Of all plans in the folder, ascending.
    fn numbers(folder: &Path) -> Result<Vec<u32>, StoreError> {
        let mut numbers = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(StoreError::io(folder))? {
            let name = entry.map_err(StoreError::io(folder))?.file_name();
            let number: Option<u32> = name
                .to_str()
                .and_then(|name| name.strip_prefix("plan-")?.strip_suffix(".json")?.parse().ok());
            numbers.extend(number.filter(|number| *number > 0));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Whether its keys were made with `secret`.
    pub fn is_of(&self, secret: &Secret) -> bool {
        self.cells
            .iter()
            .take(1)
            .all(|cell| cell.key == secret.key(&self.judge, &cell.exercise, &cell.sha256))
    }

    /// The cells of one task, dealt out in turn, so that each task has some of every exercise; all without an
    /// index.
    pub fn dealt(&self, shard: Option<u32>) -> impl Iterator<Item = &Cell> {
        let is_dealt =
            move |index: usize| shard.is_none_or(|shard| index % self.shards as usize == shard as usize);
        self.cells.iter().enumerate().filter(move |(index, _)| is_dealt(*index)).map(|(_, cell)| cell)
    }

    /// The cell of a text.
    pub fn keys(&self) -> BTreeMap<(&str, &str), &str> {
        self.cells
            .iter()
            .map(|cell| ((cell.exercise.as_str(), cell.sha256.as_str()), cell.key.as_str()))
            .collect()
    }

    /// A hash of the plan, to name it by.
    pub fn hash(&self) -> String {
        sha256(&serde_json::to_vec(self).expect("plain data"))
    }
}

/// How large tasks are to be.
#[derive(Clone, Copy, Debug)]
pub struct TaskSize {
    /// How many there are to be, if that was asked for.
    pub shards: Option<u32>,
    /// What one cell takes, roughly.
    pub seconds: f64,
    /// The most tasks that the scheduler takes in one job.
    pub most_shards: u32,
}

impl TaskSize {
    fn shards(&self, cells: usize) -> u32 {
        let most = self.most_shards.min(u32::try_from(cells).unwrap_or(u32::MAX)).max(1);
        let wanted = self.shards.unwrap_or((cells as f64 * self.seconds / SECONDS_PER_TASK).ceil() as u32);
        wanted.clamp(1, most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::Handin;

    fn judge() -> Judge {
        Judge {
            checker: "0.1.0".into(),
            compiler: "NVRTC 12.9".into(),
            engine: "sim".into(),
            limit: 120,
            memory: 4096,
        }
    }

    fn class(folder: &Path, texts: &[(&str, &str)]) -> Class {
        let mut class = Class::default();
        for (student, text) in texts {
            let sha256 = Class::keep(folder, text.as_bytes()).expect("kept");
            let handin = Handin {
                student: (*student).into(),
                exercise: "05_x".into(),
                sha256: Some(sha256),
                source: String::new(),
                is_late: false,
                at: None,
                problem: None,
            };
            class.handins.insert(((*student).into(), "05_x".into()), handin);
        }
        class
    }

    const SIZE: TaskSize = TaskSize { shards: Some(3), seconds: 1.0, most_shards: 100 };

    #[test]
    fn each_text_is_judged_once_and_every_cell_by_one_task() {
        let folder = tempfile::tempdir().expect("a folder");
        let class = class(folder.path(), &[("a", "1"), ("b", "1"), ("c", "2"), ("d", "3"), ("e", "4")]);
        let secret = Secret::open(folder.path(), Some(7)).expect("made");
        let plan = Plan::make(folder.path(), &class, &[], judge(), &secret, SIZE).expect("a plan");
        assert_eq!((plan.cells.len(), plan.shards, plan.number), (4, 3, 1));
        let mut dealt: Vec<&Cell> = (0..3).flat_map(|shard| plan.dealt(Some(shard))).collect();
        dealt.sort_by_key(|cell| &cell.sha256);
        assert_eq!(dealt, plan.dealt(None).collect::<Vec<_>>());
        assert_eq!(plan.dealt(Some(3)).count(), 0);
        assert_eq!(Plan::load(folder.path(), None).expect("there"), plan);
    }

    #[test]
    fn a_plan_is_never_changed_and_the_same_one_not_made_twice() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut class1 = class(folder.path(), &[("a", "1")]);
        let secret = Secret::open(folder.path(), None).expect("made");
        let make =
            |class: &Class| Plan::make(folder.path(), class, &[], judge(), &secret, SIZE).expect("a plan");
        let first = make(&class1);
        assert_eq!(make(&class1), first);
        class1.handins.extend(class(folder.path(), &[("b", "2")]).handins);
        let second = make(&class1);
        assert_eq!((second.number, second.cells.len()), (2, 2));
        assert!(second.cells.contains(&first.cells[0]), "what was judged is not judged again");
        assert_eq!(Plan::load(folder.path(), Some(1)).expect("there"), first);
        assert!(matches!(Plan::load(folder.path(), Some(9)), Err(PlanError::NoSuch { .. })));
    }

    #[test]
    fn keys_change_with_whatever_decides_and_tell_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let secret = Secret::open(folder.path(), Some(7)).expect("made");
        let key = |judge: &Judge, exercise: &str, text: &str| secret.key(judge, exercise, text);
        let other = Judge { compiler: "NVRTC 13".into(), ..judge() };
        let more = Secret { seed: 8, ..secret.clone() };
        let unsalted = Secret { salt: "guess".into(), ..secret.clone() };
        let keys = [
            key(&judge(), "05", "ab"),
            key(&judge(), "05a", "b"),
            key(&judge(), "05", "ac"),
            key(&other, "05", "ab"),
            more.key(&judge(), "05", "ab"),
            unsalted.key(&judge(), "05", "ab"),
        ];
        assert_eq!(keys.iter().collect::<std::collections::BTreeSet<_>>().len(), keys.len());
        assert!(judge().difference(&other).expect("another").contains("NVRTC 13"));
        assert_eq!(judge().difference(&judge()), None);
        assert!(Secret::open(folder.path(), Some(8)).is_err());
        assert_eq!(Secret::open(folder.path(), None).expect("there").seed, 7);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode =
                std::fs::metadata(folder.path().join("secret.json")).expect("there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn tasks_last_about_ten_minutes_and_are_as_many_as_the_scheduler_takes() {
        let size = |shards, cells| TaskSize { shards, seconds: 2.0, most_shards: 100 }.shards(cells);
        assert_eq!(size(None, 21_000), 70);
        assert_eq!(size(None, 210_000), 100);
        assert_eq!(size(None, 1), 1);
        assert_eq!(size(Some(40), 21_000), 40);
        assert_eq!(size(Some(40), 3), 3);
        assert_eq!(size(Some(1000), 21_000), 100);
    }
}
