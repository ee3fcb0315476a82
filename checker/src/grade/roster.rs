//! Who is in the class, so that whoever hands in nothing has a row too.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};
use trust::{file, text};

use crate::exit::{UsageError, usage};

/// More than any class needs.
const MOST_BYTES: u64 = 16 << 20;

/// The names of a class's students, as their folders are called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Roster {
    /// Labels: see [`text::label`].
    pub(crate) students: BTreeSet<String>,
}

impl Roster {
    /// Reads a file with a name in each line. Of a CSV file the first column counts; a first line of `student` is its heading.
    ///
    /// # Errors
    /// If it cannot be read, is no text, or names nobody.
    pub(crate) fn read(path: &Path) -> Result<Roster> {
        // A link is the instructor's own here.
        let real = path.canonicalize();
        let bytes = real.and_then(|path| file::read(&path, MOST_BYTES));
        let bytes = bytes.with_context(|| format!("--roster: {} cannot be read", path.display()))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let line =
                error.as_bytes()[..error.utf8_error().valid_up_to()].split(|byte| *byte == b'\n').count();
            UsageError(format!("--roster: {} is not UTF-8 text, in line {line}", path.display()))
        })?;
        let roster = Roster::parse(&text);
        if roster.students.is_empty() {
            return usage(format!("--roster: {} names nobody", path.display()));
        }
        Ok(roster)
    }

    fn parse(text: &str) -> Roster {
        let lines = text.trim_start_matches('\u{feff}').lines().map(first_cell);
        let names = lines.enumerate().filter(|(index, name)| {
            let is_heading = *index == 0 && name.eq_ignore_ascii_case("student");
            !name.is_empty() && !is_heading
        });
        Roster { students: names.map(|(_, name)| text::label(name.as_ref())).collect() }
    }
}

/// The first cell of a line of CSV.
fn first_cell(line: &str) -> String {
    let line = line.trim();
    let Some(mut rest) = line.strip_prefix('"') else {
        return line.split(',').next().unwrap_or_default().trim().to_owned();
    };
    let mut cell = String::new();
    while let Some((before, after)) = rest.split_once('"') {
        cell.push_str(before);
        match after.strip_prefix('"') {
            Some(after) => {
                cell.push('"');
                rest = after;
            }
            None => return cell,
        }
    }
    cell + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_lists_and_gradebooks_are_read() {
        for text in [
            "kim\n\n  이 영희 \nlee, x\r\n",
            "\u{feff}student,exercise\r\nkim,05\r\nkim,06\r\n이 영희,05\r\n\"lee, x\",05\r\n",
        ] {
            let students = Roster::parse(text).students;
            assert_eq!(students.len(), 3, "{students:?}");
            assert!(students.contains("kim") && students.contains("이 영희"), "{students:?}");
        }
        assert_eq!(first_cell("\"Kim \"\"K\"\", J\",1"), "Kim \"K\", J");
        assert_eq!(first_cell("\"open"), "open");
    }

    #[test]
    fn a_roster_of_nobody_is_bad_usage() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("roster.txt");
        for (bytes, phrase) in [(&b"\n"[..], "names nobody"), (b"kim\nl\xffee", "in line 2")] {
            std::fs::write(&path, bytes).expect("written");
            let error = Roster::read(&path).expect_err("refused");
            assert!(error.to_string().contains(phrase), "{error}");
        }
        assert!(Roster::read(&folder.path().join("none")).is_err());
    }
}
