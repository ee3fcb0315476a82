//! Which of a student's files is for which exercise.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::course::{Course, Exercise};

/// Folders of a checkout of the course that hold nobody's work.
const COURSE_FOLDERS: [&str; 6] = ["solutions", "mistakes", "kernels", "checker", "crates", "book"];

/// What became of each file of one student.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Choice {
    /// By exercise (its folder), the index of the file to take.
    pub(super) taken: BTreeMap<String, usize>,
    /// The others, with the reason.
    pub(super) left: Vec<(usize, Reason)>,
}

/// Why a file is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// It is no `.cu` file.
    NotDeviceCode,
    /// It is the course's own.
    OfTheCourse,
    /// Nothing in its name says what it is for.
    ForNothing,
    /// It is for another exercise than the one that is imported.
    ForAnother(String),
    /// Another file is taken for the exercise: which.
    Beaten { exercise: String, by: usize },
    /// There are several of its kind, and none is `kernel.cu`.
    Ambiguous(String),
}

/// How well a file fits, the smaller the better.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fit {
    /// 0: `kernel.cu`; 1: named for the exercise; 2: any name.
    kind: u8,
    depth: usize,
    /// The later the better: `kernel-2.cu` comes after `kernel-1.cu`.
    attempt: Reverse<u32>,
    stem: String,
    path: String,
}

/// Chooses among the files `paths` of one student. With `only`, whatever names no exercise is for that one.
pub(super) fn choose(course: &Course, only: Option<&Exercise>, paths: &[&str]) -> Choice {
    let mut choice = Choice::default();
    let mut fitting: BTreeMap<String, Vec<(Fit, usize)>> = BTreeMap::new();
    for (index, path) in paths.iter().enumerate() {
        match fit(course, only, path) {
            Ok((exercise, fit)) => fitting.entry(exercise).or_default().push((fit, index)),
            Err(reason) => choice.left.push((index, reason)),
        }
    }
    for (exercise, mut files) in fitting {
        files.sort();
        let (best, taken) = files[0].clone();
        let rivals = files
            .iter()
            .filter(|(fit, _)| best.kind == 2 && fit.stem != best.stem && fit.depth == best.depth);
        if rivals.count() > 0 {
            let reason = Reason::Ambiguous(exercise);
            choice.left.extend(files.into_iter().map(|(_, index)| (index, reason.clone())));
            continue;
        }
        for (_, index) in &files[1..] {
            choice.left.push((*index, Reason::Beaten { exercise: exercise.clone(), by: taken }));
        }
        choice.taken.insert(exercise, taken);
    }
    choice.left.sort_by_key(|(index, _)| *index);
    choice
}

fn fit(course: &Course, only: Option<&Exercise>, path: &str) -> Result<(String, Fit), Reason> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let Some((file, folders)) = parts.split_last() else { return Err(Reason::NotDeviceCode) };
    let is_source = file.len() > 3
        && file.is_char_boundary(file.len() - 3)
        && file[file.len() - 3..].eq_ignore_ascii_case(".cu");
    if !is_source || file.starts_with('.') {
        return Err(Reason::NotDeviceCode);
    }
    let (stem, attempt) = without_attempt(&file[..file.len() - 3]);
    if stem == "stub" || folders.iter().any(|folder| COURSE_FOLDERS.contains(folder)) {
        return Err(Reason::OfTheCourse);
    }
    let by_file = course.named(stem);
    let by_folder = || folders.iter().rev().find_map(|folder| course.named(folder));
    let exercise = by_file.or_else(by_folder).or(only).ok_or(Reason::ForNothing)?;
    if only.is_some_and(|only| only != exercise) {
        return Err(Reason::ForAnother(exercise.folder()));
    }
    let kind = match stem {
        "kernel" => 0,
        _ if by_file.is_some() => 1,
        _ => 2,
    };
    let (stem, path) = (stem.to_owned(), path.to_owned());
    Ok((exercise.folder(), Fit { kind, depth: folders.len(), attempt: Reverse(attempt), stem, path }))
}

/// Takes off what Canvas (`kernel-1`) and browsers (`kernel (1)`) add to a name that was there before.
fn without_attempt(stem: &str) -> (&str, u32) {
    let browser = stem.strip_suffix(')').and_then(|rest| rest.rsplit_once('('));
    let split = browser.or_else(|| stem.rsplit_once('-'));
    let attempt = split.and_then(|(rest, digits)| {
        let is_count = (1..=3).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit());
        let rest = rest.trim_end();
        (is_count && !rest.is_empty()).then(|| (rest, digits.parse().unwrap_or(0)))
    });
    attempt.unwrap_or((stem, 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::course::sample;

    fn taken(only: Option<u8>, paths: &[&str]) -> Vec<(String, String)> {
        let course = sample();
        let only = only.and_then(|number| course.exercises.iter().find(|exercise| exercise.number == number));
        let choice = choose(&course, only, paths);
        assert_eq!(choice.taken.len() + choice.left.len(), paths.len(), "each file has its row: {choice:?}");
        choice.taken.into_iter().map(|(exercise, index)| (exercise, paths[index].to_owned())).collect()
    }

    fn five(path: &str) -> Vec<(String, String)> {
        vec![("05_transpose_coalescing".to_owned(), path.to_owned())]
    }

    #[test]
    fn every_name_that_cannot_be_mistaken_is_understood() {
        for path in [
            "05_transpose_coalescing/kernel.cu",
            "5/kernel.cu",
            "05-my-try/whatever.cu",
            "05.cu",
            "05_transpose_coalescing.CU",
            "transpose-coalescing.cu",
            "exercises/05_transpose_coalescing/kernel.cu",
            "warplings-main/exercises/05_transpose_coalescing/kernel.cu",
            "05_transpose_coalescing-1.cu",
        ] {
            assert_eq!(taken(None, &[path]), five(path), "{path}");
        }
        for path in ["kernel.cu", "kernel-1.cu", "kernel (2).cu", "mine.cu"] {
            assert_eq!(taken(Some(5), &[path]), five(path), "{path}");
            assert_eq!(taken(None, &[path]), [], "{path}");
        }
    }

    #[test]
    fn the_later_attempt_counts_and_the_stub_never() {
        let paths = ["05/kernel-1.cu", "05/kernel-10.cu", "05/kernel-2.cu", "05/kernel.cu", "05/stub.cu"];
        assert_eq!(taken(None, &paths), five("05/kernel-10.cu"));
        assert_eq!(taken(None, &["05/kernel.cu", "05/scratch.cu", "05.cu"]), five("05/kernel.cu"));
        assert_eq!(taken(None, &["solutions/05_transpose_coalescing/kernel.cu"]), []);
    }

    #[test]
    fn what_could_be_either_is_left_to_the_instructor() {
        assert_eq!(taken(Some(5), &["a.cu", "b.cu"]), []);
        assert_eq!(taken(None, &["05/a.cu", "05/b.cu"]), []);
        assert_eq!(taken(Some(5), &["06.cu", ".05.cu", "notes.txt", ".cu", "05.cuh"]), []);
    }
}
