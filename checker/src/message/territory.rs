//! What is said beside the maps of a block's work.

use crate::report::CloseUp;
use crate::trial::{Survey, Territory};

/// How the overviews are read.
pub(crate) const OVERVIEW_LEGEND: &str = "# : all of it; + : part of it; . : nothing";

/// What the close-ups show.
pub(crate) const CLOSE_UP_HEADING: &str = "Which warp does what";

/// How the close-ups are read.
pub(crate) const CLOSE_UP_LEGEND: &str = "0 to v: the warp that does it, 0 to 31; @ : its thread (0, 0, 0)";

/// The same where elements are drawn in colours.
pub(crate) const SVG_LEGEND: &str =
    "Grey: nothing; pale: part of it. Each warp has its colour and its number; black: thread (0, 0, 0).";

/// What the maps show.
pub(crate) fn heading([x, y, z]: [u32; 3]) -> String {
    format!("Where the work of block ({x}, {y}, {z}) lies: the whole of each buffer")
}

/// The block and the grid that it is one of.
pub(crate) fn launch(survey: &Survey, block: [u32; 3]) -> [String; 2] {
    let ([x, y, z], [across, down, deep]) = (survey.block, survey.grid);
    let is_there = block.iter().zip(survey.grid).all(|(index, dim)| *index < dim);
    let missing = if is_there { "" } else { ": there is no such block" };
    [format!("{x} x {y} x {z} threads per block"), format!("{across} x {down} x {deep} blocks{missing}")]
}

/// A buffer, and what the block does with it.
pub(crate) fn territory(territory: &Territory) -> Vec<String> {
    let [rows, columns] = territory.shape;
    let shape = if rows == 1 { format!("{columns}") } else { format!("{rows} x {columns}") };
    let mut lines = vec![format!("`{}`, {shape} elements", territory.name)];
    let done = |verb: &str, times: &dyn Fn(&warpsim::TouchedWord) -> u32| {
        let (count, all) = territory
            .words
            .iter()
            .map(times)
            .filter(|times| *times > 0)
            .fold((0u64, 0u64), |(count, all), times| (count + 1, all + u64::from(times)));
        let often = match all.checked_div(count)? {
            1 if all == count => "once each".to_owned(),
            times if times * count == all => format!("{times} times each"),
            _ => format!("{:.1} times each on average", all as f64 / count as f64),
        };
        Some(format!("{verb} {count}, {often}"))
    };
    lines.extend(done("writes", &|word| word.writes));
    lines.extend(done("reads", &|word| word.reads));
    if lines.len() == 1 {
        lines.push("not touched".to_owned());
    }
    lines
}

/// What a close-up shows.
pub(crate) fn close_up(close_up: &CloseUp) -> Vec<String> {
    let verb = if close_up.is_written { "writes" } else { "first reads" };
    let ([top, left], [bottom, right]) = (close_up.first, close_up.last);
    let range = if close_up.is_vector {
        format!("elements {left} to {right}")
    } else {
        format!("rows {top} to {bottom}, columns {left} to {right}")
    };
    let mut lines = vec![format!("who {verb} `{}`:", close_up.name), range];
    if close_up.is_cut {
        let columns = close_up.threads.first().map_or(0, Vec::len);
        lines.push(format!("(the first {} x {columns} of them)", close_up.threads.len()));
    }
    lines
}
