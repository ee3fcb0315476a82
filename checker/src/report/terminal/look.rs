//! Requests of a warp, drawn with letters: yours on the left, the reference's on the right.

use anstream::{eprintln, println};
use std::path::Path;

use owo_colors::OwoColorize;
use warpsim::{Space, WorstAccess};

use super::excerpt::Source;
use crate::compile::Rejection;
use crate::message;
use crate::report::Looked;
use crate::report::picture::{self, Cell, Grid};
use crate::submission::Submission;
use crate::workspace::Workspace;

/// Lanes 0 to 31 as one letter each.
const LANES: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";

pub(crate) fn looked(looked: &Looked<'_>) {
    let exercise = &looked.entry.exercise;
    println!("{}", format!("{:02} {}: {}", exercise.number, exercise.slug, exercise.title).bold());
    println!("  {}\n", message::LOOK_LEGEND);
    for (space, yours, reference) in looked.pairs() {
        if yours.is_none() && reference.is_none() {
            println!("{}\n", message::nothing_to_draw(space).dimmed());
            continue;
        }
        println!("{}", message::look_heading(space).bold());
        let columns = [("yours", yours), ("reference", reference)];
        let sides = columns.map(|(name, access)| side(name, access, space));
        for line in beside(&sides) {
            println!("{line}");
        }
        println!();
    }
}

/// What is said, and drawn, of one request.
fn side(name: &str, access: Option<&WorstAccess>, space: Space) -> Vec<String> {
    let mut lines = vec![name.to_owned()];
    match access {
        None => lines.push(message::nothing_to_draw(space)),
        Some(access) => {
            lines.extend(message::request(access));
            lines.extend(drawn(&picture::grid(access)));
        }
    }
    lines
}

fn drawn(grid: &Grid) -> Vec<String> {
    let width = grid.labels.iter().map(String::len).max().unwrap_or(0);
    let cell = |cell: &Cell| match cell {
        Cell::Empty => ' ',
        Cell::Unused => '.',
        Cell::Lane(lane) => char::from(LANES[lane % 32]),
    };
    let rows = grid.rows.iter().zip(&grid.labels);
    rows.map(|(row, label)| format!("{label:>width$} |{}|", row.iter().map(cell).collect::<String>()))
        .collect()
}

/// Two columns side by side.
fn beside([left, right]: &[Vec<String>; 2]) -> Vec<String> {
    let width = left.iter().map(|line| line.chars().count()).max().unwrap_or(0).max(36);
    let line = |lines: &[String], index: usize| lines.get(index).cloned().unwrap_or_default();
    (0..left.len().max(right.len()))
        .map(|index| {
            format!("  {:<width$}   {}", line(left, index), line(right, index)).trim_end().to_owned()
        })
        .collect()
}

/// Says why there is nothing to draw.
pub(crate) fn not_drawn(submission: &Submission, rejection: &Rejection) {
    let path = Workspace::shown(&submission.path);
    super::judgement::rejection(rejection, Source { path: &path, text: &submission.text });
    println!("there is nothing to draw of a kernel that does not run to its end");
}

/// Says where a picture was written.
pub(crate) fn wrote(path: &Path) {
    eprintln!("wrote {}", path.display());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_beside_each_other() {
        let text = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        let lines = beside(&[text(&["a"]), text(&["b", "c"])]);
        assert_eq!(lines[0], format!("  {:<36}   b", "a"));
        assert_eq!(lines[1], format!("  {:<36}   c", ""));
    }

    #[test]
    fn a_cell_is_one_letter() {
        let grid =
            Grid { rows: vec![vec![Cell::Lane(31), Cell::Unused, Cell::Empty]], labels: vec!["8".into()] };
        assert_eq!(drawn(&grid), ["8 |v. |"]);
    }
}
