//! Which sectors and which banks a warp meets.

use crate::svg::Svg;

const LANES: usize = 32;
/// Floats in a sector of 32 bytes.
const SECTOR: usize = 8;
const BANKS: usize = 32;

/// Memory as a row of floats, grouped into sectors, for four strides.
pub(crate) fn sectors() -> String {
    let (left, cell) = (12.0, 10.5);
    let shown = 64;
    let mut svg =
        Svg::new(704.0, 372.0, "The sectors that a warp's load touches, for strides of 1, 2, 8 and 0 floats");
    for (row, stride) in [1, 2, 8, 0].into_iter().enumerate() {
        let top = 34.0 + 84.0 * row as f64;
        let words: Vec<usize> = (0..LANES).map(|lane| stride * lane).collect();
        let mut touched: Vec<usize> = words.iter().map(|word| word / SECTOR).collect();
        touched.dedup();
        let what = match stride {
            0 => "all lanes the same float".to_owned(),
            1 => "neighbouring floats".to_owned(),
            n => format!("every {n}{} float", if n == 2 { "nd" } else { "th" }),
        };
        let count = match touched.len() {
            1 => "1 sector".to_owned(),
            n => format!("{n} sectors"),
        };
        svg.text(left, top - 8.0, 15, "start", &format!("{what}: {count}"));
        for word in 0..shown {
            let class = match (words.contains(&word), touched.contains(&(word / SECTOR))) {
                (true, _) => "good",
                (false, true) => "waste",
                (false, false) => "",
            };
            let x = left + cell * word as f64 + (word / SECTOR) as f64;
            svg.cell(x, top, cell, 28.0, class);
            if class == "waste" {
                svg.line(&[(x, top + 28.0), (x + cell, top)], 0.8);
            }
        }
        if words[LANES - 1] >= shown {
            svg.text(left + (cell + 1.0 / 8.0) * shown as f64 + 4.0, top + 44.0, 13, "end", "and so on");
        }
    }
    svg.finish()
}

/// A warp's lanes in a shared tile: a row, a column, and a column of the padded tile.
pub(crate) fn padded_column() -> String {
    banks(
        "Lanes by bank: a row of a 32 by 32 tile, a column of it, a column of a 32 by 33 tile",
        &[("a row", 1), ("a column, [32][32]", 32), ("a column, [32][33]", 33)],
    )
}

/// A row and a column of the tile without padding.
pub(crate) fn row_and_column() -> String {
    banks("Lanes by bank: a row of a 32 by 32 tile, and a column of it", &[("a row", 1), ("a column", 32)])
}

/// From no conflict to the worst, and a broadcast.
pub(crate) fn strides() -> String {
    banks(
        "Lanes by bank for strides of 1, 2 and 32 words, and for one word that all lanes read",
        &[("stride 1", 1), ("stride 2", 2), ("stride 32", 32), ("one word", 0)],
    )
}

/// One panel for each stride, a row in it for each lane, a column for each bank. A bank that has several words to deliver is
/// drawn as bars, not only in another colour.
fn banks(label: &'static str, cases: &[(&str, usize)]) -> String {
    let (width, gap) = (704.0, 24.0);
    let panel = ((width - gap * (cases.len() - 1) as f64) / cases.len() as f64).min(240.0);
    let cell = panel / BANKS as f64;
    let (top, side) = (58.0, cell * LANES as f64);
    let used = panel * cases.len() as f64 + gap * (cases.len() - 1) as f64;
    let mut svg = Svg::new(width, top + side + 80.0, label);
    for (i, (title, stride)) in cases.iter().enumerate() {
        let left = (width - used) / 2.0 + (panel + gap) * i as f64;
        svg.text(left + panel / 2.0, 20.0, 16, "middle", title);
        svg.text(left, top - 8.0, 13, "start", "bank 0");
        svg.text(left + panel, top - 8.0, 13, "end", "31");
        for bank in (0..BANKS).step_by(2) {
            svg.area(left + cell * bank as f64, top, cell, side, "faint");
        }
        let words: Vec<usize> = (0..LANES).map(|lane| stride * lane).collect();
        let mut by_bank = [const { Vec::new() }; BANKS];
        for word in &words {
            let in_bank: &mut Vec<usize> = &mut by_bank[word % BANKS];
            if !in_bank.contains(word) {
                in_bank.push(*word);
            }
        }
        let wavefronts = by_bank.iter().map(Vec::len).max().unwrap_or(0);
        for (lane, word) in words.iter().enumerate() {
            let bank = word % BANKS;
            let (x, y) = (left + cell * bank as f64, top + cell * lane as f64);
            if by_bank[bank].len() > 1 {
                svg.area(x, y, cell, cell, "bad strong");
                svg.area(x, y + cell * 0.35, cell, cell * 0.3, "gap");
            } else {
                svg.area(x, y, cell, cell, "good strong");
            }
        }
        svg.frame(left, top, panel, side);
        let plural = if wavefronts == 1 { "" } else { "s" };
        svg.text(
            left + panel / 2.0,
            top + side + 24.0,
            15,
            "middle",
            &format!("{wavefronts} wavefront{plural}"),
        );
    }
    for (line, legend) in [
        "One line for each lane, from lane 0 at the top to lane 31.",
        "Striped: another lane needs another word of this bank.",
    ]
    .into_iter()
    .enumerate()
    {
        svg.text((width - used) / 2.0, top + side + 54.0 + 18.0 * line as f64, 13, "start", legend);
    }
    svg.finish()
}
