//! `checker class report CLASS --into PAGES`: pages for students and the instructor.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::Value;

use ::class::gradebook::{Entry, Student};
use ::class::page::{Overview, Page};
use ::class::{Class, file_safe};

use super::collect::Collection;
use super::{exercises_argument, file_argument, folder, folder_argument, path};
use crate::cell;
use crate::exit::Exit;
use crate::report;

pub(super) fn make_command() -> Command {
    Command::new("report")
        .about("Write a page for each student and exercise, and one for you")
        .after_help(
            "PAGES/index.html (or .md) is for you: how marks are distributed, what was found most, who has \
             no mark and why. PAGES/students/STUDENT has a student's pages. They hold no seed, no computed \
             value and no size that is not published.",
        )
        .arg(folder_argument())
        .arg(
            Arg::new("into")
                .long("into")
                .value_name("PAGES")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("Where they are written"),
        )
        .arg(
            Arg::new("format")
                .long("format")
                .value_name("FORMAT")
                .value_parser(["html", "markdown"])
                .default_value("html")
                .help("What is written"),
        )
        .arg(
            Arg::new("pictures")
                .long("pictures")
                .action(ArgAction::SetTrue)
                .help("Draw what each kernel touches, as `checker look` does; takes about a second each"),
        )
        .arg(exercises_argument("Report only this exercise; can be given several times"))
        .arg(file_argument("roster", "Everybody; CLASS/roster.csv if left out and there"))
        .arg(file_argument("policy", "Points and late days; CLASS/policy.toml if left out and there"))
}

pub(super) fn execute(matches: &ArgMatches) -> Result<Exit> {
    let folder = folder(matches)?;
    let collection = Collection::load(matches, &folder)?;
    let book = collection.gradebook();
    let writing = Writing {
        folder: &folder,
        into: path(matches, "into"),
        is_html: matches.get_one::<String>("format").is_none_or(|format| format == "html"),
        with_pictures: matches.get_flag("pictures"),
    };
    let mut faults = BTreeMap::new();
    let mut pages = 0;
    for student in &book.students {
        for (exercise, entry) in book.exercises.iter().zip(&student.entries) {
            let judgement = writing.judgement(entry);
            if let (Some(judgement), Some(outcome)) = (&judgement, &entry.outcome) {
                faults.insert(outcome.key.clone(), kinds(judgement, outcome));
            }
            writing.page(student, exercise, entry, judgement.as_ref())?;
            pages += 1;
        }
        writing.contents(student, &book.exercises)?;
    }
    let overview = Overview::new(&book, &faults);
    writing.write(Path::new("index"), if writing.is_html { overview.html() } else { overview.markdown() })?;
    report::terminal::reported(pages, &writing.into);
    Ok(Exit::Passed)
}

/// What was found in a kernel: kinds of faults, and requirements that are not met.
fn kinds(judgement: &Value, outcome: &::class::Outcome) -> Vec<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut kinds: Vec<String> = Vec::new();
    for case in list(&judgement["cases"]) {
        let faults = list(&case["faults"]);
        kinds.extend(faults.iter().filter_map(|fault| fault["kind"].as_str().map(str::to_owned)));
    }
    let unmet = outcome.criteria.iter().filter(|criterion| !criterion.met && criterion.key != "correct");
    if outcome.verdict == "too_slow" {
        kinds.extend(unmet.map(|criterion| format!("not met: {}", criterion.key)));
    } else if kinds.is_empty() && outcome.verdict != "passed" {
        kinds.push(outcome.verdict.clone());
    }
    kinds.sort();
    kinds.dedup();
    kinds
}

/// Where pages go, and how.
struct Writing<'a> {
    folder: &'a Path,
    into: PathBuf,
    is_html: bool,
    with_pictures: bool,
}

impl Writing<'_> {
    fn write(&self, path: &Path, text: String) -> Result<()> {
        let path = self.into.join(path).with_extension(if self.is_html { "html" } else { "md" });
        Ok(::class::write_whole(&path, text.as_bytes())?)
    }

    /// What was kept of judging; a detail that is gone costs the page some of its text.
    fn judgement(&self, entry: &Entry) -> Option<Value> {
        let key = &entry.outcome.as_ref()?.key;
        let text = std::fs::read(self.folder.join("details").join(format!("{key}.json"))).ok()?;
        serde_json::from_slice(&text).ok()
    }

    fn page(
        &self,
        student: &Student,
        exercise: &str,
        entry: &Entry,
        judgement: Option<&Value>,
    ) -> Result<()> {
        let hash = entry.handin.as_ref().and_then(|handin| handin.sha256.as_deref());
        let source = hash
            .and_then(|hash| Class::text(self.folder, hash).ok())
            .and_then(|text| String::from_utf8(text).ok());
        let picture = match hash.filter(|_| self.with_pictures && self.is_html && judgement.is_some()) {
            Some(hash) => cell::picture(&Class::input(self.folder, hash), exercise)?,
            None => None,
        };
        let page = Page {
            person: &student.person,
            exercise,
            entry,
            judgement,
            source: source.as_deref(),
            picture: picture.as_deref(),
        };
        let place = Path::new("students").join(file_safe(&student.person.id)).join(exercise);
        self.write(&place, if self.is_html { page.html() } else { page.markdown() })
    }

    /// The list of a student's pages.
    fn contents(&self, student: &Student, exercises: &[String]) -> Result<()> {
        let place = Path::new("students").join(file_safe(&student.person.id)).join("index");
        let contents = ::class::page::Contents { student, exercises };
        self.write(&place, if self.is_html { contents.html() } else { contents.markdown() })
    }
}
