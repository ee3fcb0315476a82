//! Which source line each instruction belongs to.

use std::collections::{BTreeMap, HashMap};

use ptx::{SourceLocation, Statement};

use crate::fault::SourceLine;
use crate::program::NOWHERE;

/// Numbers source lines, each once.
pub(super) struct Lines<'m> {
    files: &'m BTreeMap<u32, String>,
    /// The learner's file: the one the function itself is in.
    main: Option<u32>,
    current: u32,
    known: HashMap<(u32, u32), u32>,
}

impl<'m> Lines<'m> {
    pub(super) fn new(files: &'m BTreeMap<u32, String>, body: &[Statement]) -> Lines<'m> {
        let main = body.iter().find_map(|statement| match statement {
            Statement::Location(at) if at.line != 0 => Some(at.inlined_at.map_or(at.file, |(file, ..)| file)),
            _ => None,
        });
        Lines { files, main, current: NOWHERE, known: HashMap::new() }
    }

    /// Follows a `.loc`. The innermost line in the main file counts: code inlined from another file belongs to
    /// the line it was inlined at, and line 0 ("no line") leaves the one before.
    pub(super) fn enter(&mut self, location: &SourceLocation, table: &mut Vec<SourceLine>) {
        let inner = (location.file, location.line);
        let outer = location.inlined_at.map(|(file, line, _)| (file, line));
        let Some((file, line)) = [Some(inner), outer]
            .into_iter()
            .flatten()
            .find(|&(file, line)| Some(file) == self.main && line != 0)
        else {
            return;
        };
        let name = self.files.get(&file).map_or("", |path| path.rsplit(['/', '\\']).next().unwrap_or(path));
        self.current = *self.known.entry((file, line)).or_insert_with(|| {
            table.push(SourceLine { file: name.to_owned(), line });
            table.len() as u32 - 1
        });
    }

    /// The line of an instruction at `ptx_line`: without any `.loc`, that of the PTX itself.
    pub(super) fn of(&mut self, ptx_line: u32, table: &mut Vec<SourceLine>) -> u32 {
        if self.main.is_some() {
            return self.current;
        }
        *self.known.entry((0, ptx_line)).or_insert_with(|| {
            table.push(SourceLine { file: PTX.to_owned(), line: ptx_line });
            table.len() as u32 - 1
        })
    }
}

/// The "file" of lines of PTX that carries no line information.
pub(crate) const PTX: &str = "PTX";
