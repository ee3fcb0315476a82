//! A folder for each student, or a file `STUDENT.cu`; checkouts of the course, of git or not, are such
//! folders.

use std::collections::{BTreeMap, BTreeSet};

use super::container::Item;
use super::{Bundle, Sorted};
use crate::class::Person;
use crate::course::Course;
use crate::label::clean;

pub(super) fn sort(items: &[Item], course: &Course) -> Sorted {
    let root = common_folder(items, course);
    let mut sorted = Sorted::default();
    let mut bundles: BTreeMap<String, Bundle> = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        let path = item.path[root..].trim_start_matches('/');
        let (student, file) = match path.split_once('/') {
            Some((student, file)) => (student, file),
            None => match path.strip_suffix(".cu") {
                // Whatever the student's name is, it says nothing about the exercise.
                Some(student) => (student, "kernel.cu"),
                None => {
                    sorted.strays.push((index, "it lies in no student's folder".into()));
                    continue;
                }
            },
        };
        if student.starts_with('.') || student == "__MACOSX" {
            sorted.strays.push((index, "it lies in no student's folder".into()));
            continue;
        }
        let bundle = bundles.entry(student.to_owned()).or_insert_with(|| {
            let person = Person { id: clean(student), name: clean(student), email: None };
            Bundle { people: vec![person], ..Bundle::default() }
        });
        bundle.files.push((index, file.to_owned()));
    }
    sorted.bundles = bundles.into_values().collect();
    sorted
}

/// All files are `student`'s.
pub(super) fn sort_one(items: &[Item], student: &str) -> Sorted {
    let person = Person { id: student.to_owned(), name: student.to_owned(), email: None };
    let files = items.iter().enumerate().map(|(index, item)| (index, item.path.clone())).collect();
    Sorted { bundles: vec![Bundle { people: vec![person], files, ..Bundle::default() }], strays: Vec::new() }
}

/// Bytes of the path of the folder that holds the students' folders: of a zip, often one for all. A folder
/// whose folders are exercises is a student's.
fn common_folder(items: &[Item], course: &Course) -> usize {
    let Some((top, _)) = items.first().and_then(|item| item.path.split_once('/')) else { return 0 };
    let inside =
        |item: &Item| item.path.strip_prefix(top).and_then(|rest| rest.strip_prefix('/')).map(str::to_owned);
    let rest: Option<Vec<String>> = items.iter().map(inside).collect();
    let Some(rest) = rest else { return 0 };
    let folders: BTreeSet<&str> =
        rest.iter().filter_map(|path| path.split_once('/')).map(|(folder, _)| folder).collect();
    let is_students = folders.iter().any(|folder| course.named(folder).is_some() || *folder == "exercises");
    if folders.is_empty() || is_students { 0 } else { top.len() }
}
