//! Makes an exercise that compiles and verifies from the start, and gives its chapter a place in the book.
//!
//! All new contents are made before anything is written, so that a refusal leaves the workspace as it was.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::template;

const SUMMARY: &str = "book/src/SUMMARY.md";

/// What was made.
#[derive(Debug)]
pub(crate) struct Made {
    /// `13_name`.
    pub(crate) folder: String,
    /// Relative to the workspace.
    pub(crate) written: Vec<PathBuf>,
}

/// Makes exercise `name` in the workspace `root`, with the number after the last one.
///
/// # Errors
/// If the name is not usable or taken, or the workspace is not as expected; nothing is written then.
pub(crate) fn make(root: &Path, name: &str) -> Result<Made> {
    check(name)?;
    let folders = exercises(root)?;
    if let Some(taken) = folders.iter().find(|folder| folder[3..] == *name) {
        bail!("there is an exercise {taken} already");
    }
    let number =
        folders.iter().filter_map(|folder| folder[..2].parse::<u32>().ok()).max().map_or(0, |n| n + 1);
    ensure!(number < 100, "there are 100 exercises already");
    let folder = format!("{number:02}_{name}");
    let files = template::files(number, name);
    for (path, _) in &files {
        ensure!(root.join(path).symlink_metadata().is_err(), "{} exists already", path.display());
    }
    let summary = edit(root, SUMMARY, |text| {
        let line = format!("- [{number:02} {}](exercises/{folder}.md)", template::title(name));
        insert_after_last(text, "- [", &line, |line| line.contains("](exercises/"))
    })?;
    let mut written = Vec::new();
    for (path, text) in files.into_iter().chain([summary]) {
        let full = root.join(&path);
        let made = full.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&full, text));
        made.with_context(|| format!("{} cannot be written", full.display()))?;
        written.push(path);
    }
    Ok(Made { folder, written })
}

/// A name becomes a folder and part of a module's name.
fn check(name: &str) -> Result<()> {
    let is_good = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && !name.ends_with('_')
        && !name.contains("__")
        && name.len() <= 40;
    ensure!(
        is_good,
        "`{name}` cannot be a short name: use lower-case letters, digits and single underscores, at most 40, \
         and begin with a letter; the number is added for you"
    );
    Ok(())
}

/// The folders `NN_name`, sorted.
fn exercises(root: &Path) -> Result<Vec<String>> {
    let folder = root.join("exercises");
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("{} cannot be read", folder.display()))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let bytes = name.as_bytes();
        if name.is_ascii() && bytes.len() > 3 && bytes[..2].iter().all(u8::is_ascii_digit) && bytes[2] == b'_'
        {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

fn edit(root: &Path, path: &str, change: impl Fn(&str) -> Option<String>) -> Result<(PathBuf, String)> {
    let full = root.join(path);
    let text = fs::read_to_string(&full).with_context(|| format!("{} cannot be read", full.display()))?;
    let changed = change(&text).with_context(|| {
        format!("{} has no line of another exercise to put the new one after", full.display())
    })?;
    Ok((PathBuf::from(path), changed))
}

/// `text` with `line` after the last line that begins with `start` and that `is_like_it`.
fn insert_after_last(
    text: &str,
    start: &str,
    line: &str,
    is_like_it: impl Fn(&str) -> bool,
) -> Option<String> {
    let mut lines: Vec<&str> = text.lines().collect();
    let last = lines.iter().rposition(|line| line.starts_with(start) && is_like_it(line))?;
    lines.insert(last + 1, line);
    Some(lines.join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts of the real workspace that a new exercise depends on.
    fn workspace() -> tempfile::TempDir {
        let real = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(folder.path().join("book/src")).expect("created");
        fs::copy(real.join(SUMMARY), folder.path().join(SUMMARY)).expect("copied");
        for name in exercises(real).expect("exercises") {
            fs::create_dir_all(folder.path().join("exercises").join(name)).expect("created");
        }
        folder
    }

    #[test]
    fn everything_is_there_and_the_chapter_is_listed_once() {
        let workspace = workspace();
        let root = workspace.path();
        let last = exercises(root).expect("exercises").pop().expect("one");
        let made = make(root, "warp_sums").expect("made");
        let number: u32 = last[..2].parse::<u32>().expect("a number") + 1;
        assert_eq!(made.folder, format!("{number:02}_warp_sums"));
        let read = |path: &str| fs::read_to_string(root.join(path)).expect(path);
        let folder = &made.folder;
        for file in ["exercise.rs", "stub.cu", "mistakes/nothing.cu"] {
            read(&format!("exercises/{folder}/{file}"));
        }
        let description = read(&format!("exercises/{folder}/exercise.rs"));
        assert!(
            description.contains(&format!("number: {number},"))
                && description.contains("slug: \"warp_sums\","),
            "{description}"
        );
        assert!(description.contains(&format!("solutions/{folder}/kernel.cu")), "{description}");
        assert!(read(&format!("exercises/{folder}/stub.cu")).contains("TODO"));
        assert!(!read(&format!("solutions/{folder}/kernel.cu")).contains("TODO"));
        assert!(read(&format!("book/src/exercises/{folder}.md")).starts_with(&format!("# {number:02}")));
        let line = format!("- [{number:02} Warp sums](exercises/{folder}.md)\n");
        assert_eq!(read(SUMMARY).matches(&line).count(), 1, "{SUMMARY} lacks {line}");
        let second = make(root, "another").expect("made").folder;
        assert_eq!(second, format!("{:02}_another", number + 1));
    }

    #[test]
    fn what_is_refused_changes_nothing() {
        let workspace = workspace();
        let root = workspace.path();
        let error = |name: &str| make(root, name).expect_err(name).to_string();
        assert!(error("transpose_coalescing").contains("05_transpose_coalescing already"));
        for name in ["", "Warp", "warp-sums", "13_warp", "../etc", "warp__sums", "warp_", "커널", "a b"] {
            assert!(error(name).contains("cannot be a short name"), "{name}");
        }
        fs::remove_file(root.join(SUMMARY)).expect("removed");
        assert!(error("warp_sums").contains("SUMMARY.md cannot be read"));
        assert!(!exercises(root).expect("exercises").iter().any(|folder| folder.ends_with("warp_sums")));
    }
}
