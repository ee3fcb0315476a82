//! Which sectors and which banks a warp meets.

use crate::svg::Svg;

const LANES: usize = 32;
/// Floats in a sector of 32 bytes.
const SECTOR: usize = 8;
const BANKS: usize = 32;

/// Memory as a row of floats, grouped into sectors, for four strides.
pub(crate) fn sectors() -> String {
    let (left, cell) = (10.0, 7.0);
    let shown = 64;
    let mut svg =
        Svg::new(480.0, 290.0, "The sectors that a warp's load touches, for strides of 1, 2, 8 and 0 floats");
    for (row, stride) in [1, 2, 8, 0].into_iter().enumerate() {
        let top = 30.0 + 66.0 * row as f64;
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
        svg.text(left, top - 6.0, 14, "start", &format!("{what}: {count}"));
        for word in 0..shown {
            let class = match (words.contains(&word), touched.contains(&(word / SECTOR))) {
                (true, _) => "good",
                (false, true) => "waste",
                (false, false) => "",
            };
            let x = left + cell * word as f64 + (word / SECTOR) as f64;
            svg.cell(x, top, cell, 24.0, class);
        }
        if words[LANES - 1] >= shown {
            svg.text(left + (cell + 1.0 / 8.0) * shown as f64 + 4.0, top + 38.0, 11, "end", "and so on");
        }
    }
    svg.finish()
}

/// A warp's lanes in rows of a shared tile: a row, a column, and a column of the padded tile.
pub(crate) fn banks() -> String {
    let mut svg = Svg::new(
        480.0,
        250.0,
        "Lanes by bank: a row of a 32 by 32 tile, a column of it, a column of a 32 by 33 tile",
    );
    let cases = [("a row", 1), ("a column, [32][32]", 32), ("a column, [32][33]", 33)];
    let cell = 4.4;
    for (i, (title, stride)) in cases.into_iter().enumerate() {
        let (left, top) = (10.0 + 160.0 * i as f64, 44.0);
        svg.text(left + cell * 16.0, 18.0, 14, "middle", title);
        svg.text(left, 38.0, 11, "start", "bank 0");
        svg.text(left + cell * BANKS as f64, 38.0, 11, "end", "31");
        for bank in 0..BANKS {
            if bank % 2 == 0 {
                svg.area(left + cell * bank as f64, top, cell, cell * LANES as f64, "faint");
            }
        }
        let mut by_bank = [0; BANKS];
        for lane in 0..LANES {
            let bank = stride * lane % BANKS;
            by_bank[bank] += 1;
            let class = if i == 1 { "bad strong" } else { "good strong" };
            svg.area(left + cell * bank as f64, top + cell * lane as f64, cell, cell, class);
        }
        svg.line(
            &[
                (left, top),
                (left + cell * 32.0, top),
                (left + cell * 32.0, top + cell * 32.0),
                (left, top + cell * 32.0),
                (left, top),
            ],
            0.8,
        );
        let wavefronts = by_bank.iter().max().copied().unwrap_or(0);
        let plural = if wavefronts == 1 { "" } else { "s" };
        svg.text(left + cell * 16.0, 206.0, 13, "middle", &format!("{wavefronts} wavefront{plural}"));
    }
    svg.text(10.0, 236.0, 12, "start", "One line for each lane, from lane 0 at the top to lane 31.");
    svg.finish()
}
