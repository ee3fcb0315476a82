//! Requests of a warp, laid out as they are drawn: who meets in which bank, and which bytes of each sector are used.
//!
//! The terminal and SVG draw the same grids.

use warpsim::{Space, WorstAccess};

/// Bytes of a bank's word, and of the cells that sectors are drawn in.
const WORD: u64 = 4;
const BANKS: u64 = 32;
const SECTOR: u64 = 32;

/// What stands in one cell of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    /// Nothing happens there.
    Empty,
    /// Moved, but no lane asked for it.
    Unused,
    /// The (first) lane that asks for it.
    Lane(usize),
}

/// Rows of equally many cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Grid {
    pub(super) rows: Vec<Vec<Cell>>,
    /// What stands before each row.
    pub(super) labels: Vec<String>,
}

/// The grid of a request: banks by turns for shared memory, words by sectors for global memory.
pub(super) fn grid(access: &WorstAccess) -> Grid {
    if access.space == Space::Shared { banks(access) } else { sectors(access) }
}

/// A row for each turn that the request takes, a column for each bank. Lanes that want the same word share its turn;
/// different words of one bank wait for each other. Wide accesses go in groups of lanes, one after the other.
fn banks(access: &WorstAccess) -> Grid {
    let bytes = u64::from(access.bytes);
    let groups = (bytes / WORD).clamp(1, 32) as usize;
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for group in 0..groups {
        let mut queues: Vec<Vec<(u64, usize)>> = vec![Vec::new(); BANKS as usize];
        for lane in access.lanes().filter(|lane| lane * groups / 32 == group) {
            let address = access.addresses[lane];
            for word in address / WORD..=(address + bytes - 1) / WORD {
                let queue = &mut queues[(word % BANKS) as usize];
                if !queue.iter().any(|(other, _)| *other == word) {
                    queue.push((word, lane));
                }
            }
        }
        let turns = queues.iter().map(Vec::len).max().unwrap_or(0);
        rows.extend((0..turns).map(|turn| {
            queues
                .iter()
                .map(|queue| queue.get(turn).map_or(Cell::Empty, |(_, lane)| Cell::Lane(*lane)))
                .collect()
        }));
    }
    let labels = (1..=rows.len()).map(|turn| turn.to_string()).collect();
    Grid { rows, labels }
}

/// A row for each sector of 32 bytes that is moved, a column for each word of 4 bytes in it.
fn sectors(access: &WorstAccess) -> Grid {
    let mut touched: Vec<(u64, usize)> = Vec::new();
    for lane in access.lanes() {
        let address = access.addresses[lane];
        let words = address / WORD..=(address + u64::from(access.bytes) - 1) / WORD;
        touched.extend(words.map(|word| (word, lane)));
    }
    touched.sort_unstable();
    let per_sector = SECTOR / WORD;
    let mut sectors: Vec<u64> = touched.iter().map(|(word, _)| word / per_sector).collect();
    sectors.dedup();
    // Offsets count from the start of the buffer.
    let first = access.lanes().next().map_or(0, |lane| access.addresses[lane]);
    let start = first.wrapping_sub(access.offset as u64);
    let row = |sector: &u64| -> Vec<Cell> {
        (0..per_sector)
            .map(|column| {
                let word = sector * per_sector + column;
                let at = touched.partition_point(|(other, _)| *other < word);
                match touched.get(at) {
                    Some((other, lane)) if *other == word => Cell::Lane(*lane),
                    _ => Cell::Unused,
                }
            })
            .collect()
    };
    Grid {
        rows: sectors.iter().map(row).collect(),
        labels: sectors.iter().map(|sector| (sector * SECTOR).wrapping_sub(start).to_string()).collect(),
    }
}

/// The request with the most bank conflicts, if shared memory is used at all.
pub(super) fn worst_shared(all: &[WorstAccess]) -> Option<&WorstAccess> {
    let least = |access: &WorstAccess| (access.bytes / 4).max(1);
    first_max(all, Space::Shared, |access| {
        (f64::from(access.wavefronts) / f64::from(least(access)), access.wavefronts)
    })
}

/// The request to global memory that moves the most for what it asks; of equal ones the one that moves more.
pub(super) fn worst_global(all: &[WorstAccess]) -> Option<&WorstAccess> {
    first_max(all, Space::Global, |access| {
        let asked = access.bytes * access.mask.count_ones();
        (f64::from(access.sectors) * SECTOR as f64 / f64::from(asked.max(1)), access.sectors)
    })
}

fn first_max(
    all: &[WorstAccess],
    space: Space,
    cost: impl Fn(&WorstAccess) -> (f64, u32),
) -> Option<&WorstAccess> {
    let mut best: Option<&WorstAccess> = None;
    for access in all.iter().filter(|access| access.space == space) {
        if best.is_none_or(|best| cost(access) > cost(best)) {
            best = Some(access);
        }
    }
    best
}

#[cfg(test)]
pub(super) mod tests {
    use warpsim::Touch;

    use super::*;

    pub(in crate::report) fn access(space: Space, bytes: u32, address: impl Fn(u64) -> u64) -> WorstAccess {
        WorstAccess {
            at: None,
            space,
            touch: Touch::Read,
            bytes,
            mask: u32::MAX,
            addresses: std::array::from_fn(|lane| address(lane as u64)),
            sectors: 0,
            wavefronts: 1,
            object: None,
            offset: 0,
            block: [0; 3],
            warp: 0,
        }
    }

    fn shape(grid: &Grid) -> (usize, usize) {
        (grid.rows.len(), grid.rows.first().map_or(0, Vec::len))
    }

    #[test]
    fn a_column_of_32_waits_32_turns_and_a_padded_one_does_not() {
        let column = |pitch: u64| grid(&access(Space::Shared, 4, move |lane| 4 * pitch * lane));
        assert_eq!(shape(&column(32)), (32, 32));
        assert_eq!(column(32).rows[7][0], Cell::Lane(7));
        assert_eq!(column(32).rows[7][1], Cell::Empty);
        assert_eq!(shape(&column(33)), (1, 32));
        assert_eq!(shape(&column(2)), (2, 32));
        assert_eq!(shape(&column(0)), (1, 32), "one word is broadcast");
    }

    #[test]
    fn float4_goes_in_four_groups() {
        let wide = grid(&access(Space::Shared, 16, |lane| 16 * lane));
        assert_eq!(shape(&wide), (4, 32));
        assert_eq!((wide.rows[0][0], wide.rows[3][31]), (Cell::Lane(0), Cell::Lane(31)));
    }

    #[test]
    fn a_row_takes_4_sectors_and_a_column_32() {
        let row = grid(&access(Space::Global, 4, |lane| 4096 + 4 * lane));
        assert_eq!(shape(&row), (4, 8));
        assert_eq!(row.rows[1][0], Cell::Lane(8));
        assert_eq!(row.labels, ["0", "32", "64", "96"]);
        let column = grid(&access(Space::Global, 4, |lane| 4096 + 1024 * lane));
        assert_eq!(shape(&column), (32, 8));
        assert_eq!((column.rows[3][0], column.rows[3][1]), (Cell::Lane(3), Cell::Unused));
    }

    #[test]
    fn the_worst_is_the_most_wasteful_and_the_first_of_equals() {
        let mut all =
            vec![access(Space::Global, 4, |lane| lane * 4), access(Space::Global, 4, |lane| lane * 64)];
        all[0].sectors = 4;
        all[1].sectors = 32;
        all.push(all[1].clone());
        assert!(std::ptr::eq(worst_global(&all).expect("one"), &all[1]));
        assert!(worst_shared(&all).is_none());
    }
}
