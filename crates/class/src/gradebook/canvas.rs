//! Canvas' gradebook import, by the rules of `lib/gradebook_importer.rb` of canvas-lms: the columns that say
//! who somebody is, as they were exported, and one assignment.

use super::{Gradebook, number, table};
use crate::mark::round;
use crate::roster::{Kind, Roster};

/// Why there is no file for Canvas.
#[derive(Debug, thiserror::Error)]
pub enum CanvasError {
    /// Students are found by what Canvas itself wrote of them.
    #[error("Canvas needs its own gradebook export as roster: Grades, Export, then --roster FILE")]
    NoGradebook,
    /// Canvas would skip it.
    #[error("the column `{0}` of the gradebook is read only: Canvas ignores what is imported into it")]
    ReadOnly(String),
    /// Several columns have that title.
    #[error("the gradebook has several columns `{0}`; give one with its number, as `{0} (88001)`")]
    Ambiguous(String),
    /// Importing would change what the assignment is worth.
    #[error(
        "`{column}` is worth {theirs} points in Canvas and {ours} by the policy; set [points] in \
         policy.toml to match"
    )]
    Points {
        /// The column.
        column: String,
        /// Points in Canvas.
        theirs: String,
        /// Points here.
        ours: String,
    },
}

/// A file for Canvas with the total of the gradebook's exercises as assignment `title`: one that the export
/// has, with or without its number, or a new one. A mark that is open keeps what Canvas has; so does `EX`,
/// for excused.
///
/// # Errors
/// [`CanvasError`].
pub fn canvas(gradebook: &Gradebook, roster: Option<&Roster>, title: &str) -> Result<String, CanvasError> {
    let roster = roster.filter(|roster| roster.kind == Kind::Canvas).ok_or(CanvasError::NoGradebook)?;
    let column = column(roster, title)?;
    let name = column.map_or(title, |column| roster.header[column].as_str());
    let old = |cells: &[String]| {
        column.and_then(|column| cells.get(column)).map(|cell| cell.trim().to_owned()).unwrap_or_default()
    };
    let ours = gradebook.students.first().map_or(0.0, super::Student::points);
    let theirs = roster.points.as_ref().map(|cells| old(cells)).unwrap_or_default();
    if theirs.to_lowercase().contains("read only") {
        return Err(CanvasError::ReadOnly(name.to_owned()));
    }
    if theirs.parse::<f64>().is_ok_and(|theirs| round(theirs) != ours) {
        return Err(CanvasError::Points { column: name.to_owned(), theirs, ours: number(ours) });
    }
    let info = |cells: &[String]| -> Vec<String> {
        (0..roster.info_columns).map(|index| cells.get(index).cloned().unwrap_or_default()).collect()
    };
    let row = |cells: &[String], last: String| info(cells).into_iter().chain([last]).collect::<Vec<String>>();
    let mut points =
        roster.points.as_ref().map_or_else(|| vec![String::new(); roster.info_columns], |cells| info(cells));
    "    Points Possible".clone_into(&mut points[0]);
    points.push(number(ours));
    let mut rows = vec![row(&roster.header, name.to_owned()), points];
    for student in &gradebook.students {
        let Some(listed) = student.listed_as.and_then(|index| roster.rows.get(index)) else { continue };
        let old = old(&listed.cells);
        let score = student.score().filter(|_| !old.eq_ignore_ascii_case("EX")).map(number);
        rows.push(row(&listed.cells, score.unwrap_or(old)));
    }
    Ok(table(rows))
}

/// The column of an assignment: `Transpose (88001)`, or `Transpose` if only one has that title.
fn column(roster: &Roster, title: &str) -> Result<Option<usize>, CanvasError> {
    let assignments = || roster.header.iter().enumerate().skip(roster.info_columns);
    if let Some((index, _)) = assignments().find(|(_, name)| *name == title) {
        return Ok(Some(index));
    }
    let titled = |name: &str| {
        let number = name.strip_prefix(title).and_then(|rest| rest.strip_prefix(" (")?.strip_suffix(')'));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()))
    };
    let mut fitting = assignments().filter(|(_, name)| titled(name)).map(|(index, _)| index);
    match (fitting.next(), fitting.next()) {
        (found, None) => Ok(found),
        (_, Some(_)) => Err(CanvasError::Ambiguous(title.to_owned())),
    }
}
