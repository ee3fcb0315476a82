//! Pages for people to read: one for each student and exercise, and one for the instructor.
//!
//! A student's page holds nothing that the inputs could be guessed from: no seed, no value that was computed,
//! and no size that is not in the exercise's description.

mod contents;
mod html;
mod markdown;
mod overview;
mod view;

use serde_json::Value;

use crate::class::Person;
use crate::gradebook::Entry;

pub use contents::Contents;
pub use overview::{Overview, Unjudged};

/// What one page is about.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// Whose it is.
    pub person: &'a Person,
    /// The exercise's folder.
    pub exercise: &'a str,
    /// The mark.
    pub entry: &'a Entry,
    /// The object of `checker NN --json`, if it was judged.
    pub judgement: Option<&'a Value>,
    /// What was handed in, if it is text.
    pub source: Option<&'a str>,
    /// Pictures of `checker look`, as SVG that the checker itself drew.
    pub picture: Option<&'a str>,
}

impl Page<'_> {
    /// The page as HTML, whole and without scripts.
    pub fn html(&self) -> String {
        html::page(self)
    }

    /// The page as Markdown.
    pub fn markdown(&self) -> String {
        markdown::page(self)
    }
}
