//! Where a block's work lies, laid out as it is drawn: how much of each part of a buffer it touches, and which of its
//! threads touches which element.
//!
//! The terminal and SVG draw the same maps.

use exercise::problem::Role;
use warpsim::TouchedWord;

use crate::trial::Territory;

/// Bytes of an element: all buffers of exercises hold floats.
const ELEMENT: u64 = 4;

/// Most cells of an overview, in rows and columns.
const OVERVIEW: [usize; 2] = [8, 32];

/// Elements of a vector in one row of a close-up.
const WRAP: usize = 32;

/// How much of a cell is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    Nothing,
    Part,
    All,
}

/// The whole buffer, many elements to a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Overview {
    pub(super) cells: Vec<Vec<Share>>,
    /// Rows and columns of the buffer in one cell. A cell of a matrix is twice as high as wide, as letters are.
    pub(super) step: [usize; 2],
}

pub(super) fn overview(territory: &Territory) -> Overview {
    let [rows, columns] = territory.shape;
    let fits = |width: usize, height: usize| {
        columns.div_ceil(width) <= OVERVIEW[1] && rows.div_ceil(height) <= OVERVIEW[0]
    };
    // Powers of two, so that tiles have their edges where cells do.
    let mut width = 1;
    while !fits(width, if rows == 1 { 1 } else { 2 * width }) {
        width *= 2;
    }
    let step = [if rows == 1 { 1 } else { 2 * width }, width];
    let mut touched = vec![vec![0; columns.div_ceil(step[1])]; rows.div_ceil(step[0])];
    for [row, column] in elements(territory).map(|(place, _)| place) {
        touched[row / step[0]][column / step[1]] += 1;
    }
    let share = |row: usize, column: usize, count: usize| {
        let extent = |whole: usize, step: usize, index: usize| step.min(whole - index * step);
        match extent(rows, step[0], row) * extent(columns, step[1], column) {
            _ if count == 0 => Share::Nothing,
            all if count >= all => Share::All,
            _ => Share::Part,
        }
    };
    let cells = touched.iter().enumerate().map(|(row, counts)| {
        counts.iter().enumerate().map(|(column, count)| share(row, column, *count)).collect()
    });
    Overview { cells: cells.collect(), step }
}

/// The elements that a block touches in a buffer, one to a cell, each with the thread that touches it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CloseUp {
    pub(crate) name: &'static str,
    /// Whether it tells who writes, and not who reads.
    pub(crate) is_written: bool,
    pub(crate) is_vector: bool,
    /// First row and column of all that is touched.
    pub(crate) first: [usize; 2],
    /// Last row and column.
    pub(crate) last: [usize; 2],
    /// Whether there is more than what was asked for.
    pub(crate) is_cut: bool,
    /// Threads by their linear index in the block, in the smallest rectangle around all that is touched. A vector is cut
    /// into rows.
    pub(crate) threads: Vec<Vec<Option<u32>>>,
    /// Row numbers; of a vector, the index of the row's first element.
    pub(super) labels: Vec<usize>,
}

/// Who writes the output; where a block has little to write, such as a sum, who reads the first input. At most so many
/// rows and columns.
pub(super) fn close_up(territory: &[Territory], most: [usize; 2]) -> Option<CloseUp> {
    let output = territory.iter().find(|buffer| buffer.role == Role::Output && !buffer.words.is_empty());
    let input = territory.iter().find(|buffer| buffer.role == Role::Input && !buffer.words.is_empty());
    match (output, input) {
        (Some(output), Some(input)) if output.words.len() < 32 && input.words.len() >= 32 => {
            close_up_of(input, false, most)
        }
        (Some(output), _) => close_up_of(output, true, most),
        (None, Some(input)) => close_up_of(input, false, most),
        (None, None) => None,
    }
}

fn close_up_of(buffer: &Territory, is_written: bool, most: [usize; 2]) -> Option<CloseUp> {
    let is_vector = buffer.shape[0] == 1;
    let shape = if is_vector { [buffer.shape[1].div_ceil(WRAP), WRAP] } else { buffer.shape };
    let wrapped = Territory { shape, ..buffer.clone() };
    let who = |word: &TouchedWord| if is_written { word.writer } else { word.reader };
    let owned: Vec<([usize; 2], u32)> =
        elements(&wrapped).filter_map(|(place, word)| Some((place, who(word)?))).collect();
    let range = |axis: usize| {
        let places = owned.iter().map(|(place, _)| place[axis]);
        Some((places.clone().min()?, places.max()?))
    };
    let ((top, bottom), (left, right)) = (range(0)?, range(1)?);
    let size = [bottom - top + 1, right - left + 1];
    let [rows, columns] = [size[0].min(most[0]), size[1].min(most[1])];
    let mut threads = vec![vec![None; columns]; rows];
    for ([row, column], thread) in owned {
        if let Some(cell) = threads.get_mut(row - top).and_then(|row| row.get_mut(column - left)) {
            *cell = Some(thread);
        }
    }
    let label = |row: usize| if is_vector { (top + row) * WRAP + left } else { top + row };
    let labels = (0..rows).map(label).collect();
    let (first, last) = if is_vector {
        let touched = || buffer.words.iter().filter(|word| who(word).is_some());
        let index = |word: &TouchedWord| (word.offset / ELEMENT) as usize;
        ([0, touched().next().map_or(0, index)], [0, touched().next_back().map_or(0, index)])
    } else {
        ([top, left], [bottom, right])
    };
    let is_cut = [rows, columns] != size;
    Some(CloseUp { name: buffer.name, is_written, is_vector, first, last, is_cut, threads, labels })
}

/// The touched elements with their rows and columns.
fn elements(territory: &Territory) -> impl Iterator<Item = ([usize; 2], &TouchedWord)> {
    let columns = territory.shape[1].max(1);
    territory.words.iter().map(move |word| {
        let index = (word.offset / ELEMENT) as usize;
        ([index / columns, index % columns], word)
    })
}

/// Output first: it is what a block is there for.
pub(super) fn in_order(territory: &[Territory]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..territory.len()).collect();
    order.sort_by_key(|&index| territory[index].role != Role::Output);
    order
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A buffer of which `writer` tells who writes.
    pub(in crate::report) fn written(
        shape: [usize; 2],
        role: Role,
        thread: impl Fn(usize, usize) -> Option<u32>,
    ) -> Territory {
        let places = (0..shape[0]).flat_map(|row| (0..shape[1]).map(move |column| (row, column)));
        let word = |(row, column): (usize, usize)| {
            let (offset, thread) = (4 * (row * shape[1] + column) as u64, Some(thread(row, column)?));
            Some(match role {
                Role::Output => TouchedWord { offset, writes: 1, writer: thread, ..TouchedWord::default() },
                Role::Input => TouchedWord { offset, reads: 1, reader: thread, ..TouchedWord::default() },
            })
        };
        let name = if role == Role::Output { "out" } else { "in" };
        Territory { name, role, shape, words: places.filter_map(word).collect() }
    }

    #[test]
    fn an_overview_shows_the_tile_in_its_place() {
        let tile = written([64, 128], Role::Output, |row, column| {
            ((16..32).contains(&row) && (32..64).contains(&column)).then_some(0)
        });
        let Overview { cells, step } = overview(&tile);
        assert_eq!((step, cells.len(), cells[0].len()), ([8, 4], 8, 32));
        for (row, cells) in cells.iter().enumerate() {
            for (column, cell) in cells.iter().enumerate() {
                let is_inside = (2..4).contains(&row) && (8..16).contains(&column);
                assert_eq!(*cell, if is_inside { Share::All } else { Share::Nothing });
            }
        }
    }

    #[test]
    fn cells_at_the_edge_are_full_when_what_exists_is_touched() {
        let all = |shape| written(shape, Role::Output, |_, _| Some(0));
        for shape in [[1, 1], [1, 1000], [33, 1], [101, 89], [1000, 3]] {
            let Overview { cells, .. } = overview(&all(shape));
            assert!(cells.len() <= 8 && cells[0].len() <= 32, "{shape:?}");
            assert!(cells.iter().flatten().all(|cell| *cell == Share::All), "{shape:?}");
        }
        let one = written([1, 1000], Role::Output, |_, column| (column == 999).then_some(0));
        let Overview { cells, step } = overview(&one);
        assert_eq!((step, cells[0].last()), ([1, 32], Some(&Share::Part)));
    }

    #[test]
    fn a_close_up_tells_each_elements_thread_and_is_cut_to_size() {
        let strided = written([64, 64], Role::Output, |row, column| {
            (row >= 8 && column >= 16).then_some((row % 4 * 16 + column % 16) as u32)
        });
        let close = close_up(&[strided], [10, 32]).expect("something is written");
        assert_eq!((close.first, close.last, close.is_cut), ([8, 16], [63, 63], true));
        assert_eq!((close.threads.len(), close.threads[0].len(), close.labels[9]), (10, 32, 17));
        assert_eq!((close.threads[1][0], close.threads[1][17]), (Some(16), Some(17)));
    }

    #[test]
    fn of_a_block_that_writes_one_sum_the_reads_are_shown() {
        let input = written([1, 256], Role::Input, |_, column| Some(column as u32 % 64));
        let sum = written([1, 4], Role::Output, |_, column| (column == 1).then_some(0));
        let close = close_up(&[input, sum.clone()], [32, 32]).expect("something is read");
        assert_eq!((close.name, close.is_written), ("in", false));
        assert_eq!((close.first, close.last, close.is_cut), ([0, 0], [0, 255], false));
        assert_eq!(close.labels, [0, 32, 64, 96, 128, 160, 192, 224]);
        let close = close_up(&[sum], [32, 32]).expect("something is written");
        assert_eq!(
            (close.is_written, close.first, close.last, close.labels),
            (true, [0, 1], [0, 1], vec![1])
        );
        assert_eq!(close_up(&[], [32, 32]), None);
    }
}
