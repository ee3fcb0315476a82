//! Where a block's work lies, in colours.

use std::fmt::Write as _;

use super::Canvas;
use crate::message::territory as message;
use crate::report::Looked;
use crate::report::map::{self, CloseUp, Share};
use crate::trial::{Survey, Territory};

/// Width of an overview's cell, in pixels; it is twice as high.
const WHOLE: usize = 8;
/// Most rows and columns of a close-up.
const CLOSE_UP: [usize; 2] = [128, 128];
/// Width of a close-up where its elements are not held to the largest size.
const CLOSE_UP_WIDTH: usize = 512;
/// From this size on an element has room for the number of its warp.
const READABLE: usize = 12;

/// Draws below `top`: yours at `left[0]`, the reference's at `left[1]`. Gives back how far down it reaches.
pub(super) fn draw(canvas: &mut Canvas, looked: &Looked<'_>, left: [usize; 2], top: usize) -> usize {
    canvas.text(left[0], top, 14, "start", &message::heading(looked.block));
    canvas.text(left[0], top + 18, 11, "start", message::SVG_LEGEND);
    let sides = [("yours", Some(looked.yours)), ("reference", looked.reference)];
    let mut y = top + 40;
    for (x, (name, survey)) in left.into_iter().zip(sides) {
        canvas.text(x, y, 12, "start", name);
        let launch = survey.map(|survey| message::launch(survey, looked.block)).unwrap_or_default();
        for (index, line) in launch.iter().enumerate() {
            canvas.text(x, y + 15 + 15 * index, 11, "start", line);
        }
    }
    y += 52;
    let mut below = |y: usize, each: &dyn Fn(&mut Canvas, usize, usize, &Survey) -> usize| {
        let surveys = left.into_iter().zip([Some(looked.yours), looked.reference]);
        let reached = surveys.filter_map(|(x, survey)| Some(each(canvas, x, y, survey?)));
        reached.max().unwrap_or(y) + 20
    };
    for index in map::in_order(&looked.yours.territory) {
        y = below(y, &|canvas, x, y, survey| {
            survey.territory.get(index).map_or(y, |buffer| whole(canvas, x, y, buffer))
        });
    }
    below(y, &|canvas, x, y, survey| {
        map::close_up(&survey.territory, CLOSE_UP).map_or(y, |close| close_up(canvas, x, y, &close))
    })
}

fn whole(canvas: &mut Canvas, x: usize, y: usize, buffer: &Territory) -> usize {
    let lines = message::territory(buffer);
    for (index, line) in lines.iter().enumerate() {
        canvas.text(x, y + 15 * index, 11, "start", line);
    }
    let top = y + 15 * lines.len() - 8;
    let cells = map::overview(buffer).cells;
    for (row, shares) in cells.iter().enumerate() {
        for (column, share) in shares.iter().enumerate() {
            let fill = match share {
                Share::Nothing => "#eee",
                Share::Part => "#9cf",
                Share::All => "#26a",
            };
            canvas.area([x + column * WHOLE, top + row * 2 * WHOLE], [WHOLE, 2 * WHOLE], fill);
        }
    }
    top + cells.len() * 2 * WHOLE + 8
}

fn close_up(canvas: &mut Canvas, x: usize, y: usize, close: &CloseUp) -> usize {
    let lines = message::close_up(close);
    for (index, line) in lines.iter().enumerate() {
        canvas.text(x, y + 15 * index, 11, "start", line);
    }
    let top = y + 15 * lines.len() - 8;
    let columns = close.threads.first().map_or(1, Vec::len).max(1);
    let side = (CLOSE_UP_WIDTH / columns).clamp(4, 14);
    for (row, threads) in close.threads.iter().enumerate() {
        let y = top + row * side;
        let mut column = 0;
        for run in threads.chunk_by(|a, b| a.map(warp) == b.map(warp)) {
            let left = x + column * side;
            column += run.len();
            let Some(thread) = run[0] else { continue };
            let fill = format!("hsl({} 70% 75%)", warp(thread) * 67 % 360);
            canvas.area([left, y], [run.len() * side, side], &fill);
            if side >= READABLE {
                canvas.text(left + run.len() * side / 2, y + 10, 8, "middle", &warp(thread).to_string());
            }
        }
    }
    // On top of everything, for the frames must not be covered by what is drawn next to them. Where there is no room for
    // a frame, the element is black.
    let fill = if side < READABLE { "#000" } else { "none" };
    for (row, threads) in close.threads.iter().enumerate() {
        for (column, _) in threads.iter().enumerate().filter(|(_, thread)| **thread == Some(0)) {
            let (x, y) = (x + column * side, top + row * side);
            let _ = writeln!(
                canvas.body,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{side}\" height=\"{side}\" fill=\"{fill}\" stroke=\"#000\" stroke-width=\"1\"/>"
            );
        }
    }
    top + close.threads.len() * side
}

fn warp(thread: u32) -> u32 {
    thread / 32
}
