//! Requests of a warp and the work of a block, drawn with letters: yours on the left, the reference's on the right.

use std::path::Path;

use owo_colors::OwoColorize;
use warpsim::{Space, WorstAccess};

use super::excerpt::Source;
use super::out::{eprintln, println};
use crate::compile::Rejection;
use crate::message::{self, territory};
use crate::report::Looked;
use crate::report::map::{self, CloseUp, Share};
use crate::report::picture::{self, Cell, Grid};
use crate::submission::Submission;
use crate::trial::{Survey, Territory};
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
    territories(looked);
}

/// Most rows and columns of a close-up.
const CLOSE_UP: [usize; 2] = [32, 32];

/// Where the work of the block in question lies, buffer by buffer.
fn territories(looked: &Looked<'_>) {
    println!("{}", territory::heading(looked.block).bold());
    println!("  {}", territory::OVERVIEW_LEGEND);
    pair(looked, |name, survey| {
        let [block, grid] = territory::launch(survey, looked.block);
        vec![name.to_owned(), block, grid]
    });
    for index in map::in_order(&looked.yours.territory) {
        pair(looked, |_, survey| survey.territory.get(index).map(whole).unwrap_or_default());
    }
    println!("\n{}", territory::CLOSE_UP_HEADING.bold());
    println!("  {}", territory::CLOSE_UP_LEGEND);
    pair(looked, |name, survey| {
        let close = map::close_up(&survey.territory, CLOSE_UP);
        [name.to_owned()].into_iter().chain(close.iter().flat_map(close_up)).collect()
    });
    println!();
}

/// What is said of your kernel, and beside it of the reference.
fn pair(looked: &Looked<'_>, of: impl Fn(&str, &Survey) -> Vec<String>) {
    let reference = looked.reference.map(|reference| of("reference", reference));
    for line in beside(&[of("yours", looked.yours), reference.unwrap_or_default()]) {
        println!("{line}");
    }
}

fn whole(buffer: &Territory) -> Vec<String> {
    let mut lines = territory::territory(buffer);
    if buffer.words.is_empty() {
        return lines;
    }
    let letter = |share: &Share| match share {
        Share::Nothing => '.',
        Share::Part => '+',
        Share::All => '#',
    };
    let rows = map::overview(buffer).cells;
    lines.extend(rows.iter().map(|row| format!("|{}|", row.iter().map(letter).collect::<String>())));
    lines
}

fn close_up(close: &CloseUp) -> Vec<String> {
    let mut lines = territory::close_up(close);
    let width = close.labels.iter().map(|label| label.to_string().len()).max().unwrap_or(0);
    let letter = |thread: &Option<u32>| match thread {
        None => '.',
        Some(0) => '@',
        Some(thread) => char::from(LANES[*thread as usize / 32 % 32]),
    };
    let rows = close.threads.iter().zip(&close.labels);
    lines.extend(
        rows.map(|(row, label)| format!("{label:>width$} |{}|", row.iter().map(letter).collect::<String>())),
    );
    lines
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
