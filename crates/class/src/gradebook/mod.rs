//! Marks of a whole class, and the files that other programs take them from.

mod canvas;
mod csv;
mod json;
mod junit;
mod moodle;

use std::collections::BTreeMap;

pub(crate) use trust::text::inert;

use crate::class::{Class, Handin, Person};
use crate::mark::{Mark, Standing, mark, round};
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::policy::Policy;
use crate::roster::Roster;

pub use canvas::{CanvasError, canvas};
pub use csv::csv;
pub use json::json;
pub use junit::junit;
pub use moodle::moodle;

/// All marks.
#[derive(Debug)]
pub struct Gradebook {
    /// The exercises' folders, in order.
    pub exercises: Vec<String>,
    /// In the order of the roster, else by id; who is in no roster comes last.
    pub students: Vec<Student>,
}

/// One row.
#[derive(Debug)]
pub struct Student {
    /// As the roster has them, else as they handed in.
    pub person: Person,
    /// Whether the roster has them; `true` if there is none.
    pub is_listed: bool,
    /// The row of the roster.
    pub listed_as: Option<usize>,
    /// One for each exercise.
    pub entries: Vec<Entry>,
}

/// One cell.
#[derive(Debug)]
pub struct Entry {
    /// What it is worth.
    pub mark: Mark,
    /// What was handed in.
    pub handin: Option<Handin>,
    /// What judging came to.
    pub outcome: Option<Outcome>,
}

impl Student {
    /// Points in all; `None` if something is open.
    pub fn score(&self) -> Option<f64> {
        self.entries.iter().map(|entry| entry.mark.score).sum::<Option<f64>>().map(round)
    }

    /// The most points there are.
    pub fn points(&self) -> f64 {
        round(self.entries.iter().map(|entry| entry.mark.points).sum())
    }
}

/// What a gradebook is made of.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    /// Who handed in what.
    pub class: &'a Class,
    /// Which text has which key.
    pub plan: &'a Plan,
    /// Results by key.
    pub outcomes: &'a BTreeMap<String, Outcome>,
    /// Who should have.
    pub roster: Option<&'a Roster>,
    /// What it is worth.
    pub policy: &'a Policy,
    /// These exercises; all that anybody handed in, if empty.
    pub only: &'a [String],
}

impl Gradebook {
    /// Brings them together.
    pub fn new(sources: Sources<'_>) -> Gradebook {
        let Sources { class, plan, outcomes, roster, policy, only } = sources;
        let keys = plan.keys();
        let mut exercises: Vec<String> = match only {
            [] => class.handins.keys().map(|(_, exercise)| exercise.clone()).collect(),
            only => only.to_vec(),
        };
        exercises.sort();
        exercises.dedup();
        let entries = |person: Option<&Person>, aliases: &[&str]| -> Vec<Entry> {
            let entry = |exercise: &String| {
                let handin =
                    person.and_then(|person| class.handins.get(&(person.id.clone(), exercise.clone())));
                let key = handin
                    .and_then(|handin| keys.get(&(exercise.as_str(), handin.sha256.as_deref()?)).copied());
                let outcome = key.and_then(|key| outcomes.get(key));
                Entry {
                    mark: mark(policy, exercise, handin, outcome, aliases),
                    handin: handin.cloned(),
                    outcome: outcome.cloned(),
                }
            };
            exercises.iter().map(entry).collect()
        };
        let mut students = Vec::new();
        let others: Vec<&Person> = match roster {
            None => class.people.values().collect(),
            Some(roster) => {
                let (found, others) = roster.join(&class.people);
                for (index, (row, person)) in roster.rows.iter().zip(found).enumerate() {
                    let mut aliases: Vec<&str> = row.aliases.iter().map(String::as_str).collect();
                    aliases.push(&row.person.id);
                    aliases.extend(row.person.email.as_deref());
                    students.push(Student {
                        person: row.person.clone(),
                        is_listed: true,
                        listed_as: Some(index),
                        entries: entries(person, &aliases),
                    });
                }
                others
            }
        };
        for person in others {
            let aliases: Vec<&str> = person.email.as_deref().into_iter().collect();
            students.push(Student {
                person: person.clone(),
                is_listed: roster.is_none(),
                listed_as: None,
                entries: entries(Some(person), &aliases),
            });
        }
        Gradebook { exercises, students }
    }

    /// Cells that have no mark yet: student, exercise, and why.
    pub fn holes(&self) -> Vec<(&Student, &str, &Entry)> {
        let cells = self.students.iter().flat_map(|student| {
            let pairs = self.exercises.iter().zip(&student.entries);
            pairs.map(move |(exercise, entry)| (student, exercise.as_str(), entry))
        });
        cells.filter(|(_, _, entry)| entry.mark.standing == Standing::Open).collect()
    }

    /// For each exercise that was timed, the GPUs it was timed on; more than one cannot be compared.
    pub fn mixed_gpus(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut gpus: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for student in &self.students {
            for (exercise, entry) in self.exercises.iter().zip(&student.entries) {
                let Some(gpu) = entry.outcome.as_ref().and_then(|outcome| outcome.gpu.as_deref()) else {
                    continue;
                };
                let known = gpus.entry(exercise).or_default();
                if !known.contains(&gpu) {
                    known.push(gpu);
                }
            }
        }
        gpus.retain(|_, names| names.len() > 1);
        gpus
    }
}

/// Points for a gradebook: two decimals.
pub(crate) fn number(points: f64) -> String {
    format!("{points:.2}")
}

/// Rows as RFC 4180 has them.
pub(crate) fn table(rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut writer = ::csv::WriterBuilder::new()
        .terminator(::csv::Terminator::CRLF)
        .flexible(true)
        .from_writer(Vec::new());
    for row in rows {
        writer.write_record(&row).expect("memory takes all");
    }
    String::from_utf8(writer.into_inner().expect("memory takes all")).expect("written as UTF-8")
}

/// One line of feedback: the verdict, and what was not met.
pub(crate) fn feedback(exercise: &str, entry: &Entry) -> String {
    let unmet = entry.outcome.iter().flat_map(|outcome| &outcome.criteria).filter(|criterion| !criterion.met);
    let unmet: Vec<&str> = unmet.map(|criterion| criterion.key.as_str()).collect();
    let mut text = format!("{exercise}: {}", entry.mark.verdict);
    if !unmet.is_empty() {
        text += &format!(" (not met: {})", unmet.join(", "));
    }
    if entry.mark.late_days > 0 {
        text += &format!(", {} days late", entry.mark.late_days);
    }
    text
}
