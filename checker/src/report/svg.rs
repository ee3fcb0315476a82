//! Pictures for files.

mod territory;
mod why;

pub(super) use why::why;

use std::fmt::Write as _;

use warpsim::WorstAccess;

use super::picture::{self, Cell, Grid};
use super::{Looked, Placed};
use crate::message;

/// Side of a cell, in pixels.
const CELL: usize = 14;

/// The shapes of a picture, and how far they reach.
#[derive(Default)]
struct Canvas {
    body: String,
    width: usize,
    height: usize,
}

impl Canvas {
    fn rect(&mut self, x: usize, y: usize, fill: &str) {
        self.area([x, y], [CELL, CELL], fill);
    }

    fn area(&mut self, [x, y]: [usize; 2], [width, height]: [usize; 2], fill: &str) {
        let _ = writeln!(
            self.body,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\" stroke=\"#888\" stroke-width=\"0.5\"/>"
        );
        self.reach(x + width, y + height);
    }

    /// `anchor` is `start`, `middle` or `end`.
    fn text(&mut self, x: usize, y: usize, size: usize, anchor: &str, text: &str) {
        let text = escaped(text);
        let _ = writeln!(
            self.body,
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"{anchor}\">{text}</text>"
        );
        // A letter is at most this wide.
        let reach = if anchor == "start" { text.chars().count() * size * 6 / 10 } else { 0 };
        self.reach(x + reach, y + size / 2);
    }

    fn line(&mut self, points: &[(f64, f64)], width: f64) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            self.body,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"{width}\"/>",
            points.join(" ")
        );
    }

    fn reach(&mut self, x: usize, y: usize) {
        self.width = self.width.max(x);
        self.height = self.height.max(y);
    }

    fn finish(self, title: &str) -> String {
        let (width, height) = (self.width + 12, self.height + 12);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             font-family=\"sans-serif\" style=\"background:#fff;color:#222\">\n<title>{}</title>\n{}</svg>\n",
            escaped(title),
            self.body
        )
    }
}

fn escaped(text: &str) -> String {
    let plain = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    plain.chars().filter(|c| !c.is_control()).collect()
}

/// The picture of `checker look`.
pub(super) fn look(looked: &Looked<'_>) -> String {
    let exercise = &looked.entry.exercise;
    let title = format!("{:02} {}", exercise.number, exercise.title);
    let mut canvas = Canvas::default();
    canvas.text(12, 22, 16, "start", &title);
    canvas.text(12, 40, 11, "start", message::LOOK_LEGEND_SVG);
    let mut top = 66;
    for (space, yours, reference) in looked.pairs() {
        canvas.text(12, top, 14, "start", &message::look_heading(space));
        let mut bottom = top;
        for (x, name, access) in [(12, "yours", yours), (572, "reference", reference)] {
            canvas.text(x, top + 20, 12, "start", name);
            let reached = match access {
                Some(access) => request(&mut canvas, x, top + 36, access),
                None => {
                    canvas.text(x, top + 36, 11, "start", &message::nothing_to_draw(space));
                    top + 36
                }
            };
            bottom = bottom.max(reached);
        }
        top = bottom + 40;
    }
    territory::draw(&mut canvas, looked, [12, 572], top);
    canvas.finish(&title)
}

/// One request with its sentences; gives back how far down it reaches.
fn request(canvas: &mut Canvas, x: usize, y: usize, access: &WorstAccess) -> usize {
    let sentences = message::request(access);
    for (index, sentence) in sentences.iter().enumerate() {
        canvas.text(x, y + 15 * index, 11, "start", sentence);
    }
    cells(canvas, x, y + 15 * sentences.len(), &picture::grid(access))
}

fn cells(canvas: &mut Canvas, x: usize, y: usize, grid: &Grid) -> usize {
    let margin = 8 + 6 * grid.labels.iter().map(String::len).max().unwrap_or(0);
    for (row, (cells, label)) in grid.rows.iter().zip(&grid.labels).enumerate() {
        let top = y + row * CELL;
        canvas.text(x + margin - 4, top + 11, 9, "end", label);
        for (column, cell) in cells.iter().enumerate() {
            let left = x + margin + column * CELL;
            match cell {
                Cell::Empty => canvas.rect(left, top, "#fff"),
                Cell::Unused => canvas.rect(left, top, "#ddd"),
                Cell::Lane(lane) => {
                    canvas.rect(left, top, &format!("hsl({} 70% 75%)", lane * 11));
                    canvas.text(left + CELL / 2, top + 10, 8, "middle", &lane.to_string());
                }
            }
        }
    }
    y + grid.rows.len() * CELL
}

/// The picture of `checker roofline`. Both axes are logarithmic.
pub(super) fn roofline(placed: &Placed<'_>) -> String {
    let gpu = placed.gpu;
    let (left, right, top, bottom) = (60.0, 700.0, 50.0, 380.0);
    let (x_low, x_high) = (0.0625_f64, 1024.0_f64);
    let y_high = 2.0 * gpu.peak_flops;
    let y_low = (x_low * gpu.bandwidth / 2.0).min(y_high / 10.0);
    let x = |intensity: f64| {
        left + (right - left) * (intensity.clamp(x_low, x_high) / x_low).ln() / (x_high / x_low).ln()
    };
    let y = |flops: f64| {
        bottom - (bottom - top) * (flops.clamp(y_low, y_high) / y_low).ln() / (y_high / y_low).ln()
    };
    let title = message::roofline_heading(gpu);
    let mut canvas = Canvas::default();
    canvas.text(12, 22, 15, "start", &title);
    canvas.text(12, 40, 11, "start", "attainable TFLOP/s over FLOP per byte moved");
    canvas.line(&[(left, top), (left, bottom), (right, bottom)], 1.0);
    for power in -4..=10 {
        let intensity = 2f64.powi(power);
        canvas.line(&[(x(intensity), bottom), (x(intensity), bottom + 4.0)], 0.8);
        if power % 2 == 0 {
            canvas.text(
                x(intensity) as usize,
                bottom as usize + 16,
                10,
                "middle",
                &message::quantity(intensity),
            );
        }
    }
    for tera in
        [0.01, 0.1, 1.0, 10.0, 100.0].into_iter().filter(|tera| (y_low..=y_high).contains(&(tera * 1e12)))
    {
        canvas.line(&[(left - 4.0, y(tera * 1e12)), (left, y(tera * 1e12))], 0.8);
        canvas.text(left as usize - 8, y(tera * 1e12) as usize + 4, 10, "end", &tera.to_string());
    }
    canvas.line(
        &[(x(x_low), y(gpu.roof(x_low))), (x(gpu.ridge()), y(gpu.peak_flops)), (right, y(gpu.peak_flops))],
        2.0,
    );
    for (index, kernel) in placed.kernels.iter().filter(|kernel| kernel.intensity() > 0.0).enumerate() {
        let (cx, cy) = (x(kernel.intensity()), y(gpu.roof(kernel.intensity())));
        let fill = if kernel.is_reference { "#2a7" } else { "#d62" };
        let _ = writeln!(canvas.body, "<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"4.5\" fill=\"{fill}\"/>");
        let line = bottom as usize + 40 + 15 * index;
        let _ = writeln!(canvas.body, "<circle cx=\"64\" cy=\"{}\" r=\"4\" fill=\"{fill}\"/>", line - 4);
        let name = format!("{}: {} FLOP/B", kernel.name, message::quantity(kernel.intensity()));
        canvas.text(76, line, 11, "start", &name);
        canvas.text(cx as usize, cy as usize - 8, 9, "middle", &kernel.short);
    }
    canvas.reach(right as usize, bottom as usize + 30);
    canvas.finish(&title)
}
