//! Who handed in what. One layout is documented, `DIR/STUDENT/NN_slug/kernel.cu`; what people send instead and
//! cannot be mistaken is understood too. What is not understood is told: nothing vanishes.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::DirEntry;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use trust::text::label;

use super::Roster;
use crate::registry::{self, Entry};

/// What one student handed in for one exercise.
#[derive(Clone, Debug)]
pub(crate) struct Handin {
    /// The [`label`] of the student's folder or file: two students never have the same.
    pub(crate) student: String,
    pub(crate) entry: &'static Entry,
    /// Relative to the class's folder.
    pub(crate) path: PathBuf,
    /// Why there is nothing to judge at `path`, where that is known already.
    pub(crate) trouble: Option<Trouble>,
    /// Other files that would be the same exercise's, and are left out.
    pub(crate) others: Vec<PathBuf>,
}

/// What is wrong with something in a folder of submissions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// Links are not followed.
    Link,
    /// Neither a folder nor a regular file.
    Special,
    /// A file in a place where none is expected.
    Unexpected,
    /// The system refuses to show it.
    Unreadable(String),
    /// So many `.cu` files, none of them `kernel.cu`.
    SeveralFiles(usize),
    /// A `.cu` file whose name tells no exercise.
    NoExercise,
}

/// Something that is nobody's submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// The label of its path in the class's folder.
    pub(crate) name: String,
    pub(crate) why: Trouble,
}

/// A class.
#[derive(Debug, Default)]
pub(crate) struct Class {
    /// Everyone who has a folder or a file, or is on the roster, by name.
    pub(crate) students: BTreeSet<String>,
    /// By student, then by exercise.
    pub(crate) handins: Vec<Handin>,
    /// What was not understood.
    pub(crate) left_out: Vec<LeftOut>,
    /// Students who are not on the roster, if there is one.
    pub(crate) strangers: Vec<String>,
}

/// Looks through the folder `root`. With `only`, a student's `kernel.cu`, or a file `STUDENT.cu`, is that exercise's.
///
/// # Errors
/// If `root` cannot be read.
pub(crate) fn find(root: &Path, only: Option<&'static Entry>, roster: Option<&Roster>) -> Result<Class> {
    let mut search = Search { root, only, class: Class::default(), closed: BTreeMap::new() };
    for item in entries(root).with_context(|| format!("{} cannot be read", root.display()))? {
        search.look_at(&item);
    }
    Ok(search.finish(roster))
}

struct Search<'a> {
    root: &'a Path,
    only: Option<&'static Entry>,
    class: Class,
    /// Students whose folder cannot be looked into: its path, and why.
    closed: BTreeMap<String, (PathBuf, Trouble)>,
}

impl Search<'_> {
    /// Something in the class's folder.
    fn look_at(&mut self, item: &DirEntry) {
        let path = PathBuf::from(item.file_name());
        let student = label(path.as_os_str());
        match item.file_type() {
            Err(error) => self.leave_out(&path, unreadable(&error)),
            Ok(kind) if kind.is_symlink() => self.leave_out(&path, Trouble::Link),
            Ok(kind) if kind.is_dir() => self.look_into(&path, student),
            Ok(kind) if !kind.is_file() => self.leave_out(&path, Trouble::Special),
            Ok(_) => match (self.only, path.file_stem().filter(|_| is_source(&path))) {
                (Some(entry), Some(stem)) => {
                    let student = label(stem);
                    self.class.students.insert(student.clone());
                    self.class.handins.push(Handin {
                        student,
                        entry,
                        path,
                        trouble: None,
                        others: Vec::new(),
                    });
                }
                _ => self.leave_out(&path, Trouble::Unexpected),
            },
        }
    }

    /// A student's folder, and the folder `exercises` in it: some send the whole checkout.
    fn look_into(&mut self, folder: &Path, student: String) {
        let mut found: Vec<(&'static Entry, PathBuf, Option<Trouble>)> = Vec::new();
        for folder in [folder.to_owned(), folder.join("exercises")] {
            let full = self.root.join(&folder);
            let items = match full
                .symlink_metadata()
                .and_then(|metadata| if metadata.is_dir() { entries(&full) } else { Ok(Vec::new()) })
            {
                Ok(items) => items,
                Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
                Err(error) => {
                    self.closed.entry(student.clone()).or_insert((folder, unreadable(&error)));
                    continue;
                }
            };
            for item in items {
                let path = folder.join(item.file_name());
                if let Some(entry) = exercise_of(&path) {
                    found.extend(
                        kernel_in(self.root, &path).map(|(kernel, trouble)| (entry, kernel, trouble)),
                    );
                } else if let (Some(entry), true) = (self.only, item.file_name() == "kernel.cu") {
                    found.push((entry, path, None));
                } else if is_source(&path) {
                    self.leave_out(&path, Trouble::NoExercise);
                }
            }
        }
        let only = self.only;
        for entry in registry::all().iter().filter(|entry| is_wanted(only, entry)) {
            let mut of = found.iter().filter(|(of, ..)| of.folder == entry.folder);
            if let Some((_, path, trouble)) = of.next() {
                self.class.handins.push(Handin {
                    student: student.clone(),
                    entry,
                    path: path.clone(),
                    trouble: trouble.clone(),
                    others: of.map(|(_, path, _)| path.clone()).collect(),
                });
            }
        }
        self.class.students.insert(student);
    }

    fn leave_out(&mut self, path: &Path, why: Trouble) {
        self.class.left_out.push(LeftOut { name: label(path.as_os_str()), why });
    }

    fn finish(mut self, roster: Option<&Roster>) -> Class {
        // A folder comes before a file of the same student.
        self.class.handins.sort_by(|a, b| {
            let order = |h: &Handin| (h.student.clone(), h.entry.exercise.number, is_alone(&h.path));
            order(a).cmp(&order(b))
        });
        self.class.handins.dedup_by(|later, kept| {
            let is_same = later.student == kept.student && later.entry.folder == kept.entry.folder;
            if is_same {
                kept.others.push(std::mem::take(&mut later.path));
            }
            is_same
        });
        // Whose folder is closed may have handed in whatever others have.
        let handed_in: BTreeSet<u8> = self.class.handins.iter().map(|h| h.entry.exercise.number).collect();
        for (student, (path, why)) in std::mem::take(&mut self.closed) {
            let has = |entry: &Entry| {
                let of = |h: &Handin| h.student == student && h.entry.folder == entry.folder;
                self.class.handins.iter().any(of)
            };
            let open = registry::all().iter().filter(|entry| {
                let is_asked = self.only.is_some() || handed_in.contains(&entry.exercise.number);
                is_wanted(self.only, entry) && is_asked && !has(entry)
            });
            let rows: Vec<Handin> = open
                .map(|entry| Handin {
                    student: student.clone(),
                    entry,
                    path: path.clone(),
                    trouble: Some(why.clone()),
                    others: Vec::new(),
                })
                .collect();
            if rows.is_empty() {
                self.leave_out(&path, why);
            }
            self.class.handins.extend(rows);
        }
        self.class.handins.sort_by(|a, b| {
            (&a.student, a.entry.exercise.number).cmp(&(&b.student, b.entry.exercise.number))
        });
        if let Some(roster) = roster {
            self.class.strangers = self.class.students.difference(&roster.students).cloned().collect();
            self.class.students.extend(roster.students.iter().cloned());
        }
        self.class
    }
}

fn is_wanted(only: Option<&Entry>, entry: &Entry) -> bool {
    only.is_none_or(|only| only.folder == entry.folder)
}

/// The exercise that a name says it is for: by its number, `05`, `5-transpose`, `05_transpose_coalescing.cu`, or by
/// its whole short name. A part of a name is too little to grade by.
fn exercise_of(path: &Path) -> Option<&'static Entry> {
    let name = if is_source(path) { path.file_stem() } else { path.file_name() }?.to_string_lossy();
    let digits: String = name.chars().take_while(char::is_ascii_digit).collect();
    if digits.is_empty() {
        let slug = name.to_lowercase().replace(['-', ' '], "_");
        return registry::all().iter().find(|entry| entry.exercise.slug == slug);
    }
    let is_whole = name[digits.len()..].chars().next().is_none_or(|next| !next.is_alphanumeric());
    let number: u8 = digits.parse().ok().filter(|_| is_whole)?;
    registry::all().iter().find(|entry| entry.exercise.number == number)
}

/// The kernel that a folder or file of an exercise stands for, and what is wrong with it; `None` if there is none. Links are
/// given back as they are: opening refuses them, with a message.
fn kernel_in(root: &Path, path: &Path) -> Option<(PathBuf, Option<Trouble>)> {
    let full = root.join(path);
    let closed = |error: &io::Error| Some((path.to_owned(), Some(unreadable(error))));
    match full.symlink_metadata() {
        Err(error) => return closed(&error),
        Ok(metadata) if !metadata.is_dir() => {
            return (is_source(path) || metadata.is_symlink()).then(|| (path.to_owned(), None));
        }
        // A folder that is called like a file.
        Ok(_) if is_source(path) => return Some((path.to_owned(), None)),
        Ok(_) => {}
    }
    let items = match entries(&full) {
        Ok(items) => items,
        Err(error) => return closed(&error),
    };
    let sources: Vec<PathBuf> = items.iter().map(|item| path.join(item.file_name())).collect();
    if let Some(kernel) = sources.iter().find(|path| path.file_name() == Some(OsStr::new("kernel.cu"))) {
        return Some((kernel.clone(), None));
    }
    let sources: Vec<&PathBuf> = sources
        .iter()
        .filter(|path| is_source(path) && path.file_stem() != Some(OsStr::new("stub")))
        .collect();
    match sources.as_slice() {
        [] => None,
        [only] => Some(((*only).clone(), None)),
        several => Some((path.to_owned(), Some(Trouble::SeveralFiles(several.len())))),
    }
}

fn is_source(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("cu"))
}

/// Whether a file lies in the class's folder itself.
fn is_alone(path: &Path) -> bool {
    path.components().count() == 1
}

fn unreadable(error: &io::Error) -> Trouble {
    Trouble::Unreadable(error.to_string())
}

/// All that a folder holds, without hidden files, by name.
fn entries(folder: &Path) -> io::Result<Vec<DirEntry>> {
    let mut entries = std::fs::read_dir(folder)?.collect::<io::Result<Vec<DirEntry>>>()?;
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
        let class = find(folder.path(), only, None).expect("readable");
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
    }

    #[test]
    fn what_is_left_out_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        for file in ["kim/05/a.cu", "kim/05/b.cu", "kim/matmul.cu", "lee.cu", "notes.txt", "kim/06.txt/notes"]
        {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("created");
            std::fs::write(path, "").expect("written");
        }
        let class = find(folder.path(), None, None).expect("readable");
        let troubles: Vec<_> =
            class.handins.iter().map(|h| (h.entry.exercise.number, h.trouble.clone())).collect();
        assert_eq!(troubles, [(5, Some(Trouble::SeveralFiles(2)))]);
        let left_out: Vec<_> = class.left_out.iter().map(|left| (left.name.as_str(), &left.why)).collect();
        assert_eq!(
            left_out,
            [
                ("kim/matmul.cu", &Trouble::NoExercise),
                ("lee.cu", &Trouble::Unexpected),
                ("notes.txt", &Trouble::Unexpected)
            ]
        );
    }

    #[test]
    fn a_roster_gives_everybody_a_row_and_names_strangers() {
        let folder = tempfile::tempdir().expect("a folder");
        for student in ["kim", "lee"] {
            std::fs::create_dir_all(folder.path().join(student)).expect("created");
        }
        let roster = Roster { students: ["kim", "park"].map(str::to_owned).into() };
        let class = find(folder.path(), None, Some(&roster)).expect("readable");
        assert_eq!(class.students, ["kim", "lee", "park"].map(str::to_owned).into());
        assert_eq!(class.strangers, ["lee"]);
    }

    #[test]
    fn nobody_is_dropped_from_a_large_class() {
        let folder = tempfile::tempdir().expect("a folder");
        for number in 0..10_050 {
            std::fs::write(folder.path().join(format!("s{number}.cu")), "").expect("written");
        }
        let class = find(folder.path(), Some(registry::find("00").expect("there")), None).expect("readable");
        assert_eq!((class.students.len(), class.handins.len()), (10_050, 10_050));
    }

    #[cfg(unix)]
    #[test]
    fn students_whose_names_are_no_text_or_look_alike_stay_apart() {
        use std::os::unix::ffi::OsStrExt;
        let folder = tempfile::tempdir().expect("a folder");
        let names = [&b"kim"[..], b"kim\xff", b"kim\xfe", b"kim\xe2\x80\x8b"];
        for name in names {
            let path = folder.path().join(OsStr::from_bytes(name)).join("05.cu");
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("created");
            std::fs::write(path, "").expect("written");
        }
        let class = find(folder.path(), None, None).expect("readable");
        assert_eq!((class.students.len(), class.handins.len()), (names.len(), names.len()), "{class:?}");
        let raw: Vec<_> = class.handins.iter().map(|h| h.path.as_os_str().as_bytes().to_vec()).collect();
        assert!(names.iter().all(|name| raw.iter().any(|path| path.starts_with(name))));
    }

    /// Root may look into every folder, so this needs another user.
    #[cfg(unix)]
    #[test]
    fn a_folder_that_is_closed_is_unreadable_and_not_missing() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let at = |path: &str| folder.path().join(path);
        for path in ["kim/05", "lee/05", "park"] {
            std::fs::create_dir_all(at(path)).expect("created");
        }
        std::fs::write(at("kim/05/kernel.cu"), "").expect("written");
        let set = |mode| {
            for path in ["lee/05", "park"] {
                std::fs::set_permissions(at(path), std::fs::Permissions::from_mode(mode)).expect("changed");
            }
        };
        set(0);
        if at("park").read_dir().is_ok() {
            eprintln!("skipped: root may look into every folder");
            return;
        }
        let class = find(folder.path(), None, None).expect("readable");
        set(0o700);
        let unreadable: Vec<&str> = class
            .handins
            .iter()
            .filter(|h| matches!(h.trouble, Some(Trouble::Unreadable(_))))
            .map(|h| h.student.as_str())
            .collect();
        assert_eq!(unreadable, ["lee", "park"], "{class:?}");
    }

    #[test]
    fn one_file_is_graded_for_each_exercise_and_the_stub_is_none() {
        let both = class(&["kim/05/kernel.cu", "kim/05/stub.cu", "kim/05.cu"], None);
        assert_eq!(both, [("kim".to_owned(), 5, "kim/05/kernel.cu".to_owned())]);
    }
}
