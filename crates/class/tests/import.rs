//! What people download, and what strangers put into it.

use std::collections::BTreeSet;
use std::io::{Cursor, Write};
use std::path::Path;

use class::import::{Fate, ImportRow, Imported, Options, System, import};
use class::{Class, Course, Exercise};
use tempfile::TempDir;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

fn course() -> Course {
    let exercise = |number, slug: &str| Exercise {
        number,
        slug: slug.into(),
        title: slug.into(),
        stub: "// TODO\n".into(),
    };
    Course {
        exercises: vec![
            exercise(0, "vector_add"),
            exercise(5, "transpose_coalescing"),
            exercise(6, "bank_padding"),
        ],
    }
}

fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        writer.start_file(*name, SimpleFileOptions::default()).expect("started");
        writer.write_all(bytes).expect("written");
    }
    writer.finish().expect("finished").into_inner()
}

struct Import {
    folder: TempDir,
    imported: Imported,
}

impl Import {
    fn of(source: &Path, only: Option<u8>, system: Option<System>, known: &[&str]) -> Import {
        let folder = tempfile::tempdir().expect("a folder");
        let course = course();
        let only = only.and_then(|n| course.exercises.iter().find(|exercise| exercise.number == n));
        let known: BTreeSet<String> = known.iter().map(|id| (*id).to_owned()).collect();
        let options = Options { course: &course, only, system, known: &known };
        let imported = import(source, folder.path(), &options).expect("imported");
        Import { folder, imported }
    }

    fn of_zip(bytes: &[u8], only: Option<u8>) -> Import {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("submissions.zip");
        std::fs::write(&path, bytes).expect("written");
        Import::of(&path, only, None, &[])
    }

    fn class(&self) -> Class {
        Class::load(self.folder.path()).expect("a class")
    }

    /// Student, exercise, text.
    fn taken(&self) -> Vec<(String, String, String)> {
        let class = self.class();
        let text = |hash: &Option<String>| match hash {
            Some(hash) => {
                let text = Class::text(self.folder.path(), hash).expect("kept");
                String::from_utf8_lossy(&text).into_owned()
            }
            None => "-".into(),
        };
        class
            .handins
            .values()
            .map(|h| (h.student.clone(), h.exercise[..2].to_owned(), text(&h.sha256)))
            .collect()
    }

    fn row(&self, file: &str) -> &ImportRow {
        let row = self.imported.rows.iter().find(|row| row.file.contains(file));
        row.unwrap_or_else(|| panic!("{file}: {:?}", self.imported.rows))
    }
}

fn triple(student: &str, exercise: &str, text: &str) -> (String, String, String) {
    (student.into(), exercise.into(), text.into())
}

#[test]
fn canvas_in_one_zip() {
    let inner = zip(&[("my/05_transpose_coalescing/kernel.cu", b"zipped"), ("my/notes.txt", b"")]);
    let import = Import::of_zip(
        &zip(&[
            ("simpsonbart_123_900_kernel.cu", b"first"),
            ("simpsonbart_123_901_kernel-1.cu", b"second"),
            ("simpsonlisa_LATE_124_902_05_transpose.cu", b"late"),
            ("이영희_125_903_kernel.cu", b"unicode"),
            ("zipper_126_904_all.zip", &inner),
            ("writer_127_text.html", b"<p>hello"),
            ("anon_Xy9_905_kernel.cu", b"anonymous"),
            ("readme.txt", b"what is this"),
        ]),
        Some(5),
    );
    assert_eq!(import.imported.system, System::Canvas);
    assert_eq!(
        import.taken(),
        [
            triple("123", "05", "second"),
            triple("124", "05", "late"),
            triple("125", "05", "unicode"),
            triple("126", "05", "zipped"),
            triple("127", "05", "-"),
            triple("anon_Xy9", "05", "anonymous"),
        ]
    );
    let class = import.class();
    assert!(class.handins[&("124".to_owned(), "05_transpose_coalescing".to_owned())].is_late);
    let text = &class.handins[&("127".to_owned(), "05_transpose_coalescing".to_owned())];
    assert!(text.problem.as_ref().is_some_and(|problem| problem.contains("a text or a link")));
    assert_eq!(import.row("123_900").fate, Fate::LeftOut);
    assert_eq!(import.row("writer_127").fate, Fate::NotUnderstood);
    assert_eq!(import.row("readme.txt").fate, Fate::NotUnderstood);
    assert_eq!(import.imported.rows.len(), 9, "{:?}", import.imported.rows);
}

#[test]
fn gradescope_with_groups_and_missing_addresses() {
    let list = "submission_101:\n  :submitters:\n  - :name: Kim\n    :sid: 7\n    :email: kim@x\n  \
                - :name: Lee\n    :sid: 8\n    :email:\n  :created_at: 2026-12-01 18:45:27 -07:00\nsubmission_102:\n  :submitters:\n  - :name: Park\n    :email: park@x\n";
    let import = Import::of_zip(
        &zip(&[
            ("assignment_5_export/submission_metadata.yml", list.as_bytes()),
            ("assignment_5_export/submission_101/kernel.cu", b"ours"),
            ("assignment_5_export/submission_102/submission_metadata.yml", b"mine"),
            ("assignment_5_export/submission_102/5.cu", b"mine"),
            ("assignment_5_export/submission_999/kernel.cu", b"nobody's"),
        ]),
        Some(5),
    );
    assert_eq!(import.imported.system, System::Gradescope);
    assert_eq!(
        import.taken(),
        [triple("7", "05", "ours"), triple("8", "05", "ours"), triple("park@x", "05", "mine")]
    );
    assert_eq!(import.row("submission_999").fate, Fate::NotUnderstood);
}

#[test]
fn moodle_with_and_without_folders() {
    let import = Import::of_zip(
        &zip(&[
            ("Kim Min_11_assignsubmission_file_/kernel.cu", b"folder"),
            ("Participant_12_12_assignsubmission_file_06.cu", b"flat"),
            ("Lee_13_assignsubmission_onlinetext_/onlinetext.html", b"text"),
        ]),
        None,
    );
    assert_eq!(import.imported.system, System::Moodle);
    assert_eq!(import.taken(), [triple("12", "06", "flat")]);
    assert!(import.row("Kim Min").why.contains("--exercise"));
    assert_eq!(import.row("Lee_13").fate, Fate::NotUnderstood);
}

#[test]
fn folders_and_checkouts() {
    let source = tempfile::tempdir().expect("a folder");
    let write = |path: &str, text: &str| {
        let path = source.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    };
    write("kim/.git/objects/05.cu", "git's");
    write("kim/exercises/05_transpose_coalescing/kernel.cu", "checkout");
    write("kim/exercises/05_transpose_coalescing/stub.cu", "stub");
    write("kim/exercises/05_transpose_coalescing/mistakes/naive.cu", "mistake");
    write("kim/solutions/06_bank_padding/kernel.cu", "solution");
    write("이 영희/06.cu", "plain");
    write("lee/nothing.txt", "");
    write("hong.cu", "loose");
    let import = Import::of(source.path(), None, None, &[]);
    assert_eq!(import.imported.system, System::Folders);
    assert_eq!(import.taken(), [triple("kim", "05", "checkout"), triple("이 영희", "06", "plain")]);
    assert!(import.class().people.contains_key("lee"));
    assert_eq!(import.row("hong.cu").fate, Fate::NotUnderstood);
    let import = Import::of(source.path(), Some(6), None, &[]);
    assert_eq!(
        import.taken(),
        [triple("hong", "06", "loose"), triple("lee", "06", "-"), triple("이 영희", "06", "plain")]
    );
    // The same in a zip, in a folder of its own.
    let zipped =
        zip(&[("class/kim/05/kernel.cu", b"a"), ("class/lee/05/kernel.cu", b"b"), ("class/lee/06.cu", b"c")]);
    let import = Import::of_zip(&zipped, None);
    assert_eq!(
        import.taken(),
        [triple("kim", "05", "a"), triple("lee", "05", "b"), triple("lee", "06", "c")]
    );
    let one = Import::of_zip(&zip(&[("kim/05/kernel.cu", b"a"), ("kim/06/kernel.cu", b"b")]), None);
    assert_eq!(one.taken(), [triple("kim", "05", "a"), triple("kim", "06", "b")]);
}

#[test]
fn hostile_archives_cost_their_own_rows_and_nothing_is_written_elsewhere() {
    let big = vec![b' '; (1 << 20) + 1];
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let plain = SimpleFileOptions::default();
    let mut add = |name: &str, options: SimpleFileOptions, bytes: &[u8]| {
        writer.start_file(name, options).expect("started");
        writer.write_all(bytes).expect("written");
    };
    add("kim/05/kernel.cu", plain, b"good");
    add("../../escape/05/kernel.cu", plain, b"bad");
    add("/etc/05/kernel.cu", plain, b"bad");
    add("eve\\..\\05\\kernel.cu", plain, b"bad");
    add("big/05/kernel.cu", plain, &big);
    add("exact/05/kernel.cu", plain, &big[1..]);
    add("=cmd|'/c calc'!A1/05/kernel.cu", plain, b"formula");
    add("new\nline\u{1b}[2J\u{202e}/05/kernel.cu", plain, b"escape");
    let bomb = plain.compression_method(CompressionMethod::Deflated);
    add("bomb/05/kernel.cu", bomb, &vec![0; 200 << 20]);
    writer.add_symlink("link/05/kernel.cu", "/etc/passwd", plain).expect("added");
    let bytes = writer.finish().expect("finished").into_inner();
    let parent = tempfile::tempdir().expect("a folder");
    let source = parent.path().join("class.zip");
    std::fs::write(&source, &bytes).expect("written");
    let import = Import::of(&source, None, Some(System::Folders), &[]);
    let taken = import.taken();
    assert!(taken.contains(&triple("kim", "05", "good")));
    assert!(
        taken.contains(&triple("=cmd|'", "05", "formula"))
            || taken.iter().any(|(_, _, text)| text == "formula")
    );
    for student in ["big", "bomb", "link"] {
        assert!(taken.contains(&triple(student, "05", "-")), "{student}: {taken:?}");
        assert_eq!(import.row(&format!("{student}/")).fate, Fate::Refused, "{student}");
    }
    assert!(taken.iter().any(|(student, _, text)| student == "exact" && text.len() == 1 << 20));
    assert!(taken.iter().all(|(_, _, text)| text != "bad"), "{taken:?}");
    let names = import.class().people.into_keys().collect::<Vec<_>>();
    assert!(names.iter().all(|name| !name.contains(['\n', '\u{1b}', '\u{202e}'])), "{names:?}");
    assert!(import.imported.rows.iter().all(|row| !row.file.contains(['\n', '\u{1b}'])));
    // What was written: the list and the texts.
    let written: Vec<String> = std::fs::read_dir(import.folder.path())
        .expect("there")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(
        written.iter().cloned().collect::<BTreeSet<_>>(),
        BTreeSet::from(["class.json".into(), "input".into()])
    );
    assert_eq!(std::fs::read_dir(parent.path()).expect("there").count(), 1);
}

#[test]
fn a_zip_in_a_zip_in_a_zip_is_looked_into_once() {
    let innermost = zip(&[("05/kernel.cu", b"too deep")]);
    let inner = zip(&[("more.zip", &innermost), ("06/kernel.cu", b"fine")]);
    let import = Import::of_zip(&zip(&[("kim/work.zip", &inner), ("lee/broken.zip", b"PK no zip")]), None);
    assert_eq!(import.taken(), [triple("kim", "06", "fine")]);
    assert_eq!(import.row("more.zip").fate, Fate::LeftOut);
    assert_eq!(import.row("broken.zip").fate, Fate::Refused);
}

#[cfg(unix)]
#[test]
fn links_and_pipes_in_folders_are_rows() {
    use std::os::unix::fs::symlink;
    let source = tempfile::tempdir().expect("a folder");
    let root = source.path();
    std::fs::create_dir_all(root.join("kim/05")).expect("made");
    std::fs::create_dir_all(root.join("lee")).expect("made");
    std::fs::write(root.join("kim/05/kernel.cu"), "kim's").expect("written");
    symlink(root.join("kim/05"), root.join("lee/05")).expect("linked");
    symlink("/etc/passwd", root.join("lee/06.cu")).expect("linked");
    symlink("kim", root.join("eve")).expect("linked");
    let import = Import::of(root, None, None, &[]);
    assert_eq!(import.taken(), [triple("kim", "05", "kim's"), triple("lee", "06", "-")]);
    assert_eq!(import.row("lee/06.cu").fate, Fate::Refused);
    assert!(!import.row("lee/05").why.is_empty());
    assert_ne!(import.row("eve").fate, Fate::Taken);
}

#[test]
fn a_second_import_replaces_what_was_handed_in_again_and_keeps_the_rest() {
    let folder = tempfile::tempdir().expect("a folder");
    let (class, course, known) = (folder.path().join("class"), course(), BTreeSet::new());
    let options = Options { course: &course, only: None, system: Some(System::Folders), known: &known };
    let step = |files: &[(&str, &[u8])]| {
        let source = folder.path().join("source.zip");
        std::fs::write(&source, zip(files)).expect("written");
        import(&source, &class, &options).expect("imported").handins
    };
    assert_eq!(step(&[("kim/05.cu", b"old"), ("lee/05.cu", b"lee")]), 2);
    assert_eq!(step(&[("kim/05.cu", b"new"), ("kim/06.cu", b"more")]), 2);
    let class = Class::load(&class).expect("a class");
    assert_eq!(class.handins.len(), 3);
}

#[test]
fn names_that_canvas_leaves_open_are_settled_by_the_gradebook() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("submissions.zip");
    std::fs::write(&source, zip(&[("kim_7_8_9_05.cu", b"whose")])).expect("written");
    let ids = |known: &[&str]| {
        let import = Import::of(&source, Some(5), None, known);
        import.class().people.into_keys().collect::<Vec<_>>()
    };
    assert_eq!(ids(&["8"]), ["8"]);
    assert_eq!(ids(&["7"]), ["7"]);
}

#[test]
fn what_is_no_zip_is_an_error_and_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let (course, known) = (course(), BTreeSet::new());
    let options = Options { course: &course, only: None, system: None, known: &known };
    let source = folder.path().join("x.zip");
    std::fs::write(&source, "no zip").expect("written");
    let class = folder.path().join("class");
    let error = import(&source, &class, &options).expect_err("no zip").to_string();
    assert!(error.contains("it is no zip file"), "{error}");
    assert!(import(&folder.path().join("none"), &class, &options).is_err());
    assert!(!class.exists());
}
