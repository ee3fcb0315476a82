//! Taking in what Canvas, Gradescope, Moodle or a folder holds. What is not understood is a row of the
//! report; nothing is passed over in silence, and nothing but chosen `.cu` files is written.

mod canvas;
mod choice;
mod container;
mod folder;
mod gradescope;
mod moodle;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;

use crate::class::{Class, Handin, MOST_BYTES, Person};
use crate::course::{Course, Exercise};
use crate::gradebook::{inert, table};
use crate::label::clean;
use crate::store::StoreError;
use choice::{Reason, choose};
use container::{Container, Item, Kind};

/// The most bytes of a zip that a student handed in.
const MOST_NESTED_BYTES: u64 = 16 << 20;
/// The most files of such a zip; a checkout of the course has fewer.
const MOST_NESTED_FILES: usize = 5_000;

/// Where the files come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum System {
    /// The zip of "Download Submissions": all files side by side.
    Canvas,
    /// "Export Submissions": a folder each, and `submission_metadata.yml`.
    Gradescope,
    /// "Download all submissions", with or without folders.
    Moodle,
    /// A folder each, or a file `STUDENT.cu` each; git checkouts too.
    Folders,
    /// All of it is one student's, of this name.
    One(&'static str),
}

impl System {
    /// What it is called on the command line.
    pub const NAMES: [&'static str; 4] = ["canvas", "gradescope", "moodle", "folders"];

    /// The system of that name.
    pub fn named(name: &str) -> Option<System> {
        let all = [System::Canvas, System::Gradescope, System::Moodle, System::Folders];
        System::NAMES.iter().position(|known| *known == name).map(|index| all[index])
    }
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It is to be judged.
    Taken,
    /// There is a better one, or it is no kernel.
    LeftOut,
    /// A person should look at it.
    NotUnderstood,
    /// It could do harm: a link, a path that leads elsewhere, far too big.
    Refused,
}

/// One row of the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportRow {
    /// The file, in the archive or folder.
    pub file: String,
    /// The student's id, if that was understood.
    pub student: String,
    /// The exercise's folder, if that was understood.
    pub exercise: String,
    /// What became of it.
    pub fate: Fate,
    /// Why.
    pub why: String,
}

/// What an import came to.
#[derive(Debug)]
pub struct Imported {
    /// What it was taken for.
    pub system: System,
    /// A row for every file.
    pub rows: Vec<ImportRow>,
    /// Hand-ins, new or other than before.
    pub handins: usize,
}

/// The report as a table, for spreadsheets.
pub fn csv(rows: &[ImportRow]) -> String {
    let name = |fate| match fate {
        Fate::Taken => "taken",
        Fate::LeftOut => "left_out",
        Fate::NotUnderstood => "not_understood",
        Fate::Refused => "refused",
    };
    let header = ["file", "student", "exercise", "what_became_of_it", "why"].map(str::to_owned).to_vec();
    let cells = |row: &ImportRow| {
        let fate = name(row.fate).to_owned();
        vec![inert(&row.file), inert(&row.student), row.exercise.clone(), fate, inert(&row.why)]
    };
    table(std::iter::once(header).chain(rows.iter().map(cells)))
}

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It cannot be opened.
    #[error("{path} cannot be imported: {error}")]
    Open {
        /// The path that was given.
        path: String,
        /// What is wrong.
        error: std::io::Error,
    },
    /// Gradescope's list of submissions is damaged.
    #[error("submission_metadata.yml is not what Gradescope exports: {0}")]
    Metadata(String),
    /// The class's folder cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How to import.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The exercises there are.
    pub course: &'a Course,
    /// Files that name no exercise are for this one, and no others are taken.
    pub only: Option<&'a Exercise>,
    /// `None`: found out.
    pub system: Option<System>,
    /// Ids of students that are known, where a name can be read in two ways.
    pub known: &'a BTreeSet<String>,
}

/// One student's files.
#[derive(Debug, Default)]
struct Bundle {
    /// Several if a group handed in together.
    people: Vec<Person>,
    is_late: bool,
    at: Option<String>,
    /// Index of the item, and its path as the student named it.
    files: Vec<(usize, String)>,
    /// What was handed in that is no file, if anything.
    note: Option<&'static str>,
}

/// What a layout makes of a container: bundles, and the items that belong to nobody, with why.
#[derive(Debug, Default)]
struct Sorted {
    bundles: Vec<Bundle>,
    strays: Vec<(usize, String)>,
}

/// Imports `source`, a zip or a folder, into the class in `folder`. Who handed in before and again now is
/// judged by what is handed in now.
///
/// # Errors
/// [`ImportError`]; then `class.json` is as it was.
pub fn import(source: &Path, folder: &Path, options: &Options<'_>) -> Result<Imported, ImportError> {
    let shown = source.display().to_string();
    let mut container = Container::open(source).map_err(|error| ImportError::Open { path: shown, error })?;
    let mut class = Class::load(folder)?;
    let system = options.system.unwrap_or_else(|| detect(&container.items));
    let sorted = match system {
        System::Canvas => canvas::sort(&container.items, options.known),
        System::Gradescope => gradescope::sort(&mut container)?,
        System::Moodle => moodle::sort(&container.items),
        System::Folders => folder::sort(&container.items, options.course),
        System::One(student) => folder::sort_one(&container.items, student),
    };
    let mut import = Import {
        options,
        folder,
        source: source.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        container,
        rows: Vec::new(),
        found: BTreeMap::new(),
    };
    for (item, why) in sorted.strays {
        import.row(item, "", "", Fate::NotUnderstood, why);
    }
    for bundle in &sorted.bundles {
        for person in &bundle.people {
            class.people.insert(person.id.clone(), person.clone());
        }
        import.take(bundle)?;
    }
    let Import { mut rows, found, .. } = import;
    let handins = found.iter().filter(|(key, handin)| class.handins.get(*key) != Some(*handin)).count();
    class.handins.extend(found);
    class.save(folder)?;
    rows.sort_by(|a, b| (&a.file, a.fate, &a.student).cmp(&(&b.file, b.fate, &b.student)));
    Ok(Imported { system, rows, handins })
}

/// What a container looks like.
fn detect(items: &[Item]) -> System {
    let name = |item: &Item| item.path.rsplit('/').next().unwrap_or_default().to_owned();
    if items.iter().any(|item| name(item) == gradescope::METADATA) {
        return System::Gradescope;
    }
    let share =
        |fits: &dyn Fn(&Item) -> bool| items.iter().filter(|item| fits(item)).count() * 2 > items.len();
    if share(&|item| item.path.contains(moodle::MARK)) {
        System::Moodle
    } else if share(&|item| canvas::looks_like(&name(item))) {
        System::Canvas
    } else {
        System::Folders
    }
}

/// An import on its way.
struct Import<'a> {
    options: &'a Options<'a>,
    folder: &'a Path,
    source: String,
    container: Container,
    rows: Vec<ImportRow>,
    found: BTreeMap<(String, String), Handin>,
}

/// Where a file of a student lies: in the container itself, or in a zip that they handed in.
struct Candidate {
    /// As the student named it.
    path: String,
    /// The item of the outer container that it is or lies in.
    outer: usize,
    /// Of the inner one.
    inner: Option<(usize, Item)>,
}

impl Import<'_> {
    fn row(&mut self, item: usize, student: &str, exercise: &str, fate: Fate, why: String) {
        let file = clean(&self.container.items[item].path);
        self.push(file, student, exercise, fate, why);
    }

    fn push(&mut self, file: String, student: &str, exercise: &str, fate: Fate, why: String) {
        self.rows.push(ImportRow {
            file,
            student: student.to_owned(),
            exercise: exercise.to_owned(),
            fate,
            why,
        });
    }

    /// Takes the files of one student or group.
    fn take(&mut self, bundle: &Bundle) -> Result<(), ImportError> {
        let student = bundle.people.first().map(|person| person.id.clone()).unwrap_or_default();
        let (candidates, mut archives) = self.candidates(bundle, &student);
        let paths: Vec<&str> = candidates.iter().map(|candidate| candidate.path.as_str()).collect();
        let choice = choose(self.options.course, self.options.only, &paths);
        for (index, reason) in &choice.left {
            let (fate, exercise, why) = self.told(reason, &paths);
            // A zip has its rows for what is in it.
            self.push(self.shown(&candidates[*index]), &student, &exercise, fate, why);
        }
        // A whole checkout without this kernel is one that the student did not do.
        let is_checkout = choice.left.iter().any(|(_, reason)| *reason == Reason::OfTheCourse);
        let only =
            self.options.only.filter(|only| !is_checkout && !choice.taken.contains_key(&only.folder()));
        if let Some(only) = only {
            self.take_nothing(bundle, only, &paths);
        }
        for (exercise, index) in &choice.taken {
            let candidate = &candidates[*index];
            let shown = self.shown(candidate);
            let read = match &candidate.inner {
                Some((archive, item)) => archives[*archive].read(item, MOST_BYTES),
                None => {
                    let item = self.container.items[candidate.outer].clone();
                    self.container.read(&item, MOST_BYTES)
                }
            };
            let (sha256, problem) = match read {
                Ok(bytes) => (Some(Class::keep(self.folder, &bytes)?), None),
                Err(error) => (None, Some(error.to_string())),
            };
            for person in &bundle.people {
                let handin = Handin {
                    student: person.id.clone(),
                    exercise: exercise.clone(),
                    sha256: sha256.clone(),
                    source: format!("{}: {shown}", clean(&self.source)),
                    is_late: bundle.is_late,
                    at: bundle.at.clone(),
                    problem: problem.clone(),
                };
                self.settle(handin, &shown);
            }
        }
        Ok(())
    }

    /// Notes what a student handed in that is no kernel: that is not the same as having handed in nothing.
    fn take_nothing(&mut self, bundle: &Bundle, exercise: &Exercise, paths: &[&str]) {
        const MOST_SHOWN: usize = 5;
        let mut shown: Vec<String> = paths.iter().take(MOST_SHOWN).map(|path| clean(path)).collect();
        shown.extend(bundle.note.map(str::to_owned));
        if shown.is_empty() {
            return;
        }
        let problem = format!("there is no kernel in what was handed in: {}", shown.join(", "));
        for person in &bundle.people {
            let handin = Handin {
                student: person.id.clone(),
                exercise: exercise.folder(),
                sha256: None,
                source: clean(&self.source),
                is_late: bundle.is_late,
                at: bundle.at.clone(),
                problem: Some(problem.clone()),
            };
            self.found.entry((person.id.clone(), exercise.folder())).or_insert(handin);
        }
    }

    /// Keeps a hand-in, or the one that was found before it.
    fn settle(&mut self, handin: Handin, shown: &str) {
        let key = (handin.student.clone(), handin.exercise.clone());
        let (fate, why) = match (self.found.get(&key), &handin.problem) {
            // The same student twice, in two folders: whichever can be judged, then the later, then the
            // first.
            (Some(before), _)
                if (before.sha256.is_some(), &before.at) >= (handin.sha256.is_some(), &handin.at) =>
            {
                (Fate::NotUnderstood, format!("the student handed in twice; {} is taken", before.source))
            }
            (_, Some(problem)) => (Fate::Refused, problem.clone()),
            (Some(before), None) => (Fate::Taken, format!("instead of {}", before.source)),
            (None, None) => (Fate::Taken, String::new()),
        };
        let (student, exercise) = key.clone();
        self.push(shown.to_owned(), &student, &exercise, fate, why);
        if fate != Fate::NotUnderstood {
            self.found.insert(key, handin);
        }
    }

    /// All files of a student, those in zips included.
    fn candidates(&mut self, bundle: &Bundle, student: &str) -> (Vec<Candidate>, Vec<Container>) {
        let (mut candidates, mut archives) = (Vec::new(), Vec::new());
        for (outer, path) in &bundle.files {
            let item = self.container.items[*outer].clone();
            if !path.to_lowercase().ends_with(".zip") || item.kind != Kind::File {
                candidates.push(Candidate { path: path.clone(), outer: *outer, inner: None });
                continue;
            }
            let read = self.container.read(&item, MOST_NESTED_BYTES).map_err(|error| error.to_string());
            match read.and_then(|bytes| Container::of_bytes(bytes).map_err(|error| error.to_string())) {
                Ok(archive) if archive.items.len() > MOST_NESTED_FILES => {
                    self.row(
                        *outer,
                        student,
                        "",
                        Fate::Refused,
                        format!("the zip has more than {MOST_NESTED_FILES} files"),
                    );
                }
                Ok(archive) => {
                    let inner = archive.items.iter().map(|item| Candidate {
                        path: item.path.clone(),
                        outer: *outer,
                        inner: Some((archives.len(), item.clone())),
                    });
                    candidates.extend(inner);
                    archives.push(archive);
                }
                Err(error) => self.row(*outer, student, "", Fate::Refused, error),
            }
        }
        (candidates, archives)
    }

    fn shown(&self, candidate: &Candidate) -> String {
        let outer = clean(&self.container.items[candidate.outer].path);
        match &candidate.inner {
            Some((_, item)) => format!("{outer}/{}", clean(&item.path)),
            None => outer,
        }
    }

    /// What a reason is to people.
    fn told(&self, reason: &Reason, paths: &[&str]) -> (Fate, String, String) {
        let none = String::new();
        match reason {
            Reason::NotDeviceCode => (Fate::LeftOut, none, "it is no .cu file".into()),
            Reason::OfTheCourse => (Fate::LeftOut, none, "it is a file of the course".into()),
            Reason::ForNothing => {
                let why = "nothing in its name says which exercise it is for; import with --exercise";
                (Fate::NotUnderstood, none, why.into())
            }
            Reason::ForAnother(exercise) => (Fate::LeftOut, none, format!("it is for {exercise}")),
            Reason::Beaten { exercise, by } => {
                (Fate::LeftOut, exercise.clone(), format!("{} is taken", clean(paths[*by])))
            }
            Reason::Ambiguous(exercise) => (
                Fate::NotUnderstood,
                exercise.clone(),
                "several files could be meant, and none is kernel.cu".into(),
            ),
        }
    }
}
