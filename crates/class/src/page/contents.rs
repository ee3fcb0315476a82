//! The list of a student's pages.

use std::fmt::Write as _;

use maud::html;

use super::html::document;
use super::markdown::plain;
use crate::gradebook::{Student, number};

/// One student's exercises.
#[derive(Clone, Copy, Debug)]
pub struct Contents<'a> {
    /// Whose they are.
    pub student: &'a Student,
    /// The exercises' folders.
    pub exercises: &'a [String],
}

impl Contents<'_> {
    fn total(&self) -> String {
        let points = number(self.student.points());
        self.student.score().map_or_else(
            || "not all is judged yet".into(),
            |score| format!("{} of {points} points", number(score)),
        )
    }

    fn rows(&self) -> impl Iterator<Item = (&String, &str, String)> {
        self.exercises.iter().zip(&self.student.entries).map(|(exercise, entry)| {
            (exercise, entry.mark.verdict.as_str(), entry.mark.score.map(number).unwrap_or_default())
        })
    }

    /// As HTML, with links.
    pub fn html(&self) -> String {
        let body = html! {
            h1 { (self.student.person.name) }
            p { strong { (self.total()) } }
            table {
                @for (exercise, verdict, score) in self.rows() {
                    tr {
                        td { a href=(format!("{exercise}.html")) { (exercise) } }
                        td { (verdict) }
                        td { (score) }
                    }
                }
            }
        };
        document(&self.student.person.name, &body)
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        let mut text = format!("# {}\n\n**{}**\n\n", plain(&self.student.person.name), self.total());
        text += "| exercise | verdict | points |\n|---|---|---|\n";
        for (exercise, verdict, score) in self.rows() {
            // Writing to a text cannot fail.
            let _ = writeln!(text, "| [{}]({exercise}.md) | {} | {score} |", plain(exercise), plain(verdict));
        }
        text
    }
}
