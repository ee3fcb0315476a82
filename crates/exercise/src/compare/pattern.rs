//! What the wrong elements of an output have in common.
//!
//! Two questions, in this order: *what* is in them (nothing, NaN, the transposed result, twice the right value...) and,
//! if that says nothing, *where* they are (the last rows, a triangle, every other column, the edge of each tile...).

use std::fmt;

use super::Element;

/// What wrong elements have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Pattern {
    /// Every element.
    All,
    /// Elements that the kernel never wrote.
    NeverWritten,
    /// Every wrong element is NaN (or infinite).
    NotANumber,
    /// Every wrong element is 0.
    Zero,
    /// Every wrong element holds the right value times this factor.
    Factor(f64),
    /// The output holds the right values with rows and columns exchanged.
    Transposed,
    /// Every wrong element holds what belongs this many elements further on (backward if negative).
    Shifted(isize),
    /// Only elements in the last rows: this many of them.
    LastRows(usize),
    /// Only elements in the last columns: this many of them.
    LastColumns(usize),
    /// Only elements in the last so many rows or the last so many columns.
    LastRowsAndColumns(usize, usize),
    /// Everything but the first so many rows.
    AllButFirstRows(usize),
    /// Everything but the first so many columns.
    AllButFirstColumns(usize),
    /// Exactly the columns that are `offset` modulo `stride`.
    EveryNthColumn {
        /// Distance of two such columns.
        stride: usize,
        /// The first one.
        offset: usize,
    },
    /// Exactly the rows that are `offset` modulo `stride`.
    EveryNthRow {
        /// Distance of two such rows.
        stride: usize,
        /// The first one.
        offset: usize,
    },
    /// Only elements right of the diagonal.
    UpperTriangle,
    /// Only elements left of the diagonal.
    LowerTriangle,
    /// Only elements in the outermost row or column of each tile of this size.
    TileEdges(usize),
    /// Only elements at the border of the output, this many rows and columns wide.
    Border(usize),
}

/// Tile sizes that kernels use.
const TILES: [usize; 4] = [8, 16, 32, 64];

/// Finds the most telling pattern, if there is one. `wrong` holds the flat indices of the wrong elements, ascending.
pub(super) fn find(elements: &[Element], wrong: &[usize], shape: [usize; 2]) -> Option<Pattern> {
    if wrong.is_empty() {
        return None;
    }
    by_value(elements, wrong, shape).or_else(|| Places::new(wrong, shape).pattern())
}

fn by_value(elements: &[Element], wrong: &[usize], shape: [usize; 2]) -> Option<Pattern> {
    let all = |holds: &dyn Fn(&Element) -> bool| wrong.iter().all(|i| holds(&elements[*i]));
    if all(&|element| element.got.is_none()) {
        return Some(Pattern::NeverWritten);
    }
    if all(&|element| element.got.is_some_and(|got| !got.is_finite())) {
        return Some(Pattern::NotANumber);
    }
    if all(&|element| element.got == Some(0.0)) {
        return Some(Pattern::Zero);
    }
    // With a handful of wrong elements, a factor or a neighbour's value may be chance.
    if wrong.len() < 4 {
        return None;
    }
    if let Some(factor) = factor(elements, wrong) {
        return Some(Pattern::Factor(factor));
    }
    let holds_value_of = |place: &dyn Fn(usize) -> Option<usize>| {
        wrong.iter().all(|&i| match (elements[i].got, place(i)) {
            (Some(got), Some(from)) => elements[from].accepts(f64::from(got)),
            _ => false,
        })
    };
    let [rows, columns] = shape;
    // The transposed result lies in memory as a columns x rows matrix: flat index i of it is element (i % rows, i / rows).
    if rows > 1 && columns > 1 && holds_value_of(&|i| Some(i % rows * columns + i / rows)) {
        return Some(Pattern::Transposed);
    }
    let steps = [1, -1, columns as isize, -(columns as isize)];
    steps
        .into_iter()
        .filter(|step| step.unsigned_abs() < elements.len())
        .find(|step| {
            // At one end there is nothing to be shifted in, so those elements may hold anything.
            let neighbour = |i: usize| i.checked_add_signed(*step).filter(|from| *from < elements.len());
            wrong.iter().any(|&i| neighbour(i).is_some())
                && wrong.iter().all(|&i| match (elements[i].got, neighbour(i)) {
                    (Some(got), Some(from)) => elements[from].accepts(f64::from(got)),
                    (_, neighbour) => neighbour.is_none(),
                })
        })
        .map(Pattern::Shifted)
}

/// The factor that makes all wrong elements right ones: a small integer, its inverse, or -1.
fn factor(elements: &[Element], wrong: &[usize]) -> Option<f64> {
    let whole = (2..=64).map(f64::from);
    let factors = std::iter::once(-1.0).chain(whole.clone()).chain(whole.map(f64::recip));
    factors.into_iter().find(|factor| {
        wrong.iter().all(|&i| elements[i].got.is_some_and(|got| elements[i].accepts(f64::from(got) / factor)))
    })
}

/// Where the wrong elements are.
struct Places {
    rows: usize,
    columns: usize,
    /// Row and column of each, in memory order.
    wrong: Vec<(usize, usize)>,
    /// How many are wrong in each row.
    by_row: Vec<usize>,
    /// How many are wrong in each column.
    by_column: Vec<usize>,
}

impl Places {
    fn new(wrong: &[usize], [rows, columns]: [usize; 2]) -> Places {
        let wrong: Vec<(usize, usize)> = wrong.iter().map(|i| (i / columns, i % columns)).collect();
        let (mut by_row, mut by_column) = (vec![0; rows], vec![0; columns]);
        for &(row, column) in &wrong {
            by_row[row] += 1;
            by_column[column] += 1;
        }
        Places { rows, columns, wrong, by_row, by_column }
    }

    fn pattern(&self) -> Option<Pattern> {
        if self.wrong.len() == self.rows * self.columns {
            return Some(Pattern::All);
        }
        self.bands().or_else(|| self.strides()).or_else(|| self.shapes())
    }

    fn all(&self, holds: impl Fn(usize, usize) -> bool) -> bool {
        self.wrong.iter().all(|&(row, column)| holds(row, column))
    }

    /// Bands along the sides.
    fn bands(&self) -> Option<Pattern> {
        let right_rows = self.by_row.iter().take_while(|n| **n == 0).count();
        let right_columns = self.by_column.iter().take_while(|n| **n == 0).count();
        let (last_rows, last_columns) = (self.rows - right_rows, self.columns - right_columns);
        // "The last" means less than half; beyond that the right ones are the exception.
        if self.rows > 1 && right_rows * 2 >= self.rows {
            return Some(Pattern::LastRows(last_rows));
        }
        if self.columns > 1 && right_columns * 2 >= self.columns {
            return Some(Pattern::LastColumns(last_columns));
        }
        if right_rows > 0 && self.by_row[right_rows..].iter().all(|n| *n == self.columns) {
            return Some(Pattern::AllButFirstRows(right_rows));
        }
        if right_columns > 0 && self.by_column[right_columns..].iter().all(|n| *n == self.rows) {
            return Some(Pattern::AllButFirstColumns(right_columns));
        }
        self.corner()
    }

    /// Last rows and last columns together, an L: no wrong element in the rectangle at the top left.
    fn corner(&self) -> Option<Pattern> {
        // A column that is wrong in the first row belongs to the last columns; the same for rows.
        let row = self.wrong.iter().filter(|(_, column)| *column == 0).map(|(row, _)| *row).min()?;
        let column = self.wrong.iter().filter(|(row, _)| *row == 0).map(|(_, column)| *column).min()?;
        let inside = row * 2 >= self.rows && column * 2 >= self.columns;
        (inside && self.all(|r, c| r >= row || c >= column))
            .then(|| Pattern::LastRowsAndColumns(self.rows - row, self.columns - column))
    }

    /// Whole columns or rows at a regular distance.
    fn strides(&self) -> Option<Pattern> {
        if let Some((stride, offset)) = regular(&self.by_column, self.rows) {
            return Some(Pattern::EveryNthColumn { stride, offset });
        }
        let (stride, offset) = regular(&self.by_row, self.columns)?;
        Some(Pattern::EveryNthRow { stride, offset })
    }

    fn shapes(&self) -> Option<Pattern> {
        if self.wrong.len() < 4 {
            return None;
        }
        if self.all(|row, column| column > row) {
            return Some(Pattern::UpperTriangle);
        }
        if self.all(|row, column| column < row) {
            return Some(Pattern::LowerTriangle);
        }
        let border = self.wrong.iter().map(|&(row, column)| {
            1 + row.min(column).min(self.rows - 1 - row).min(self.columns - 1 - column)
        });
        let width = border.max()?;
        if width * 4 < self.rows.min(self.columns) {
            return Some(Pattern::Border(width));
        }
        // From the largest size down: the edges of 32 x 32 tiles are also edges of 16 x 16 ones.
        let edge = |at: usize, tile: usize| at.is_multiple_of(tile) || at % tile == tile - 1;
        TILES
            .into_iter()
            .rev()
            .filter(|tile| *tile * 2 <= self.rows.max(self.columns))
            .find(|tile| self.all(|row, column| edge(row, *tile) || edge(column, *tile)))
            .map(Pattern::TileEdges)
    }
}

/// Stride and offset of the lines (rows or columns) that are wrong from end to end, if all others are right.
fn regular(wrong_by_line: &[usize], length: usize) -> Option<(usize, usize)> {
    let offset = wrong_by_line.iter().position(|n| *n > 0)?;
    let stride = 1 + wrong_by_line[offset + 1..].iter().position(|n| *n > 0)?;
    let fits = |(i, n): (usize, &usize)| *n == if i % stride == offset % stride { length } else { 0 };
    (stride > 1 && offset < stride && wrong_by_line.iter().enumerate().all(fits)).then_some((stride, offset))
}

impl fmt::Display for Pattern {
    /// Completes "the wrong elements: ...".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = |n: usize| if n == 1 { "" } else { "s" };
        match *self {
            Pattern::All => write!(f, "every element"),
            Pattern::NeverWritten => write!(f, "the kernel never wrote them"),
            Pattern::NotANumber => write!(f, "all of them are NaN or infinite"),
            Pattern::Zero => write!(f, "all of them are 0"),
            Pattern::Factor(-1.0) => write!(f, "all of them have the wrong sign"),
            Pattern::Factor(factor) if factor < 1.0 => {
                write!(f, "all of them are 1/{:.0} of the right value", factor.recip())
            }
            Pattern::Factor(factor) => write!(f, "all of them are {factor:.0} times the right value"),
            Pattern::Transposed => {
                write!(f, "the result is right but transposed: rows and columns are exchanged")
            }
            Pattern::Shifted(by) => {
                let (distance, side) = (by.unsigned_abs(), if by > 0 { "after" } else { "before" });
                write!(f, "each holds what belongs {distance} element{} {side} it", s(distance))
            }
            Pattern::LastRows(n) => write!(f, "only in the last {n} row{}", s(n)),
            Pattern::LastColumns(n) => write!(f, "only in the last {n} column{}", s(n)),
            Pattern::LastRowsAndColumns(rows, columns) => write!(
                f,
                "only in the last {rows} row{} and the last {columns} column{}: the partial tiles at the edge",
                s(rows),
                s(columns)
            ),
            Pattern::AllButFirstRows(n) => write!(f, "everything but the first {n} row{}", s(n)),
            Pattern::AllButFirstColumns(n) => write!(f, "everything but the first {n} column{}", s(n)),
            Pattern::EveryNthColumn { stride, offset } => {
                write!(f, "every {} column, from column {offset} on", ordinal(stride))
            }
            Pattern::EveryNthRow { stride, offset } => {
                write!(f, "every {} row, from row {offset} on", ordinal(stride))
            }
            Pattern::UpperTriangle => write!(f, "only right of the diagonal"),
            Pattern::LowerTriangle => write!(f, "only left of the diagonal"),
            Pattern::TileEdges(tile) => write!(f, "only at the edges of {tile} x {tile} tiles"),
            Pattern::Border(n) => write!(f, "only within {n} element{} of the border", s(n)),
        }
    }
}

/// 2nd, 3rd, 4th, ..., 21st, ...
fn ordinal(n: usize) -> String {
    let ending = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}
