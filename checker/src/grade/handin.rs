//! Who handed in what. One layout is documented, `DIR/STUDENT/NN_slug/kernel.cu`; what people send instead and
//! cannot be mistaken is understood too.

use std::ffi::OsStr;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::registry::{self, Entry};

/// Files looked at in one folder; nobody hands in more.
const MOST_ENTRIES: usize = 10_000;

/// What one student handed in for one exercise.
#[derive(Clone)]
pub(crate) struct Handin {
    pub(crate) student: String,
    pub(crate) entry: &'static Entry,
    /// Relative to the class's folder.
    pub(crate) path: PathBuf,
    /// Other files that would be the same exercise's, and are left out.
    pub(crate) others: Vec<PathBuf>,
}

/// A class.
#[derive(Default)]
pub(crate) struct Class {
    /// Everyone who has a folder, by name.
    pub(crate) students: Vec<String>,
    /// By student, then by exercise.
    pub(crate) handins: Vec<Handin>,
    /// Links in the place of a student's folder: they are not followed.
    pub(crate) links: Vec<String>,
}

/// Looks through the folder `root`. With `only`, a student's `kernel.cu`, or a file `STUDENT.cu`, is that exercise's.
///
/// # Errors
/// If `root` cannot be read.
pub(crate) fn find(root: &Path, only: Option<&'static Entry>) -> Result<Class> {
    let mut class = Class::default();
    for item in entries(root).with_context(|| format!("{} cannot be read", root.display()))? {
        let name = item.file_name();
        let path = PathBuf::from(&name);
        let Ok(kind) = item.file_type() else { continue };
        let student = name.to_string_lossy().into_owned();
        if kind.is_symlink() {
            class.links.push(student);
        } else if kind.is_dir() {
            class.handins.extend(handed_in(root, &path, &student, only));
            class.students.push(student);
        } else if let (Some(entry), Some(stem)) = (only, cu_stem(&path)) {
            match class.handins.iter_mut().find(|handin| handin.student == stem) {
                // Their folder came first.
                Some(handin) => handin.others.push(path),
                None => {
                    class.handins.push(Handin { student: stem.clone(), entry, path, others: Vec::new() });
                    if !class.students.contains(&stem) {
                        class.students.push(stem);
                    }
                }
            }
        }
    }
    Ok(class)
}

/// What is in one student's folder.
fn handed_in(root: &Path, folder: &Path, student: &str, only: Option<&'static Entry>) -> Vec<Handin> {
    // Some send the whole checkout.
    let checkout = folder.join("exercises");
    let mut found: Vec<(&'static Entry, PathBuf)> = Vec::new();
    for folder in [folder, &checkout] {
        if !is_plain_folder(&root.join(folder)) {
            continue;
        }
        for item in entries(&root.join(folder)).unwrap_or_default() {
            let path = folder.join(item.file_name());
            if let Some(entry) = exercise_of(&path) {
                found.extend(kernel_in(root, &path).map(|kernel| (entry, kernel)));
            } else if let (Some(entry), "kernel.cu") = (only, &*item.file_name().to_string_lossy()) {
                found.push((entry, path));
            }
        }
    }
    let mut handins: Vec<Handin> = Vec::new();
    for entry in registry::all().iter().filter(|entry| only.is_none_or(|only| only.folder == entry.folder)) {
        let mut paths =
            found.iter().filter(|(of, _)| of.folder == entry.folder).map(|(_, path)| path.clone());
        if let Some(path) = paths.next() {
            handins.push(Handin { student: student.to_owned(), entry, path, others: paths.collect() });
        }
    }
    handins
}

/// The exercise that a name says it is for: by its number, `05`, `5-transpose`, `05_transpose_coalescing.cu`, or by
/// its whole short name. A part of a name is too little to grade by.
fn exercise_of(path: &Path) -> Option<&'static Entry> {
    let name = cu_stem(path).or_else(|| path.file_name().map(|name| name.to_string_lossy().into_owned()))?;
    let digits: String = name.chars().take_while(char::is_ascii_digit).collect();
    if digits.is_empty() {
        let slug = name.to_lowercase().replace(['-', ' '], "_");
        return registry::all().iter().find(|entry| entry.exercise.slug == slug);
    }
    let is_whole = name[digits.len()..].chars().next().is_none_or(|next| !next.is_alphanumeric());
    let number: u8 = digits.parse().ok().filter(|_| is_whole)?;
    registry::all().iter().find(|entry| entry.exercise.number == number)
}

/// The kernel that a folder or file of an exercise stands for. Links are given back as they are: opening refuses
/// them, with a message.
fn kernel_in(root: &Path, path: &Path) -> Option<PathBuf> {
    let full = root.join(path);
    if cu_stem(path).is_some() || full.is_symlink() {
        return Some(path.to_owned());
    }
    if !is_plain_folder(&full) {
        return None;
    }
    let kernel = path.join("kernel.cu");
    if root.join(&kernel).symlink_metadata().is_ok() {
        return Some(kernel);
    }
    let sources = entries(&full).unwrap_or_default().into_iter().map(|item| path.join(item.file_name()));
    let mut sources = sources.filter(|path| cu_stem(path).is_some_and(|stem| stem != "stub"));
    match (sources.next(), sources.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

fn cu_stem(path: &Path) -> Option<String> {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    stem.filter(|_| path.extension() == Some(OsStr::new("cu")))
}

fn is_plain_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir())
}

/// What a folder holds, without hidden files, by name.
fn entries(folder: &Path) -> std::io::Result<Vec<DirEntry>> {
    let mut entries: Vec<DirEntry> =
        std::fs::read_dir(folder)?.filter_map(Result::ok).take(MOST_ENTRIES).collect();
    entries.retain(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
    entries.sort_by_key(DirEntry::file_name);
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(files: &[&str], only: Option<&str>) -> Vec<(String, u8, String)> {
        let folder = tempfile::tempdir().expect("a folder");
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("created");
            std::fs::write(path, "").expect("written");
        }
        let only = only.map(|name| registry::find(name).expect("an exercise"));
        let class = find(folder.path(), only).expect("readable");
        let row = |h: &Handin| (h.student.clone(), h.entry.exercise.number, h.path.display().to_string());
        class.handins.iter().map(row).collect()
    }

    #[test]
    fn every_unmistakable_layout_is_understood() {
        for path in [
            "kim/05_transpose_coalescing/kernel.cu",
            "kim/5/kernel.cu",
            "kim/05-my-try/whatever.cu",
            "kim/05.cu",
            "kim/05_transpose_coalescing.cu",
            "kim/transpose-coalescing.cu",
            "kim/exercises/05_transpose_coalescing/kernel.cu",
        ] {
            assert_eq!(class(&[path], None), [("kim".to_owned(), 5, path.to_owned())], "{path}");
        }
        assert_eq!(class(&["이영희/kernel.cu"], Some("05"))[0].1, 5);
        assert_eq!(class(&["lee.cu"], Some("05"))[0].0, "lee");
    }

    #[test]
    fn where_several_files_fit_the_one_that_the_help_names_is_taken() {
        let files = [
            "kim/exercises/05/kernel.cu",
            "kim/05_transpose_coalescing/kernel.cu",
            "kim/05.cu",
            "kim/05/other.cu",
            "kim/05/kernel.cu",
            "kim.cu",
        ];
        for (index, taken) in [4, 2, 1, 0, 5].into_iter().enumerate() {
            // Those that come before it are not there.
            let gone: &[usize] = [&[][..], &[3, 4], &[2, 3, 4], &[1, 2, 3, 4], &[0, 1, 2, 3, 4]][index];
            let left: Vec<&str> =
                files.iter().enumerate().filter(|(i, _)| !gone.contains(i)).map(|(_, file)| *file).collect();
            let class = class(&left, Some("05"));
            assert_eq!(class, [("kim".to_owned(), 5, files[taken].to_owned())]);
        }
    }

    #[test]
    fn what_could_be_anything_is_left_out() {
        let files = ["kim/kernel.cu", "kim/matmul.cu", "kim/05x.cu", "kim/99.cu", "kim/.05.cu", "lee.cu"];
        assert_eq!(class(&files, None), []);
        assert_eq!(class(&["kim/05/a.cu", "kim/05/b.cu"], None), []);
    }

    #[test]
    fn one_file_is_graded_for_each_exercise_and_the_stub_is_none() {
        let both = class(&["kim/05/kernel.cu", "kim/05/stub.cu", "kim/05.cu"], None);
        assert_eq!(both, [("kim".to_owned(), 5, "kim/05/kernel.cu".to_owned())]);
    }
}
