//! Where a predicted time goes, as stacked bars: one for each kernel, and one for each of its costliest lines.

use clock::{Cause, Prediction};

use super::Canvas;
use crate::message::forecast;
use crate::report::Explained;

/// Width of the longest bar, in pixels.
const WIDTH: f64 = 560.0;
/// Where bars begin.
const LEFT: usize = 150;
const BAR: usize = 16;
const STEP: usize = 26;
/// Lines that are drawn.
const LINES: usize = 8;

fn color(cause: Cause) -> &'static str {
    match cause {
        Cause::Issue => "#4c9f70",
        Cause::Unit => "#6fb7c9",
        Cause::Dependency => "#e0b040",
        Cause::LoadStore => "#d1495b",
        Cause::Latency => "#9b72aa",
        Cause::L2 => "#4f6db8",
        Cause::Dram => "#8aa8e0",
        Cause::Barrier => "#c98b4f",
        Cause::Start => "#aaaaaa",
        Cause::Idle => "#dddddd",
    }
}

pub(in crate::report) fn why(explained: &Explained<'_>) -> String {
    let mut canvas = Canvas::default();
    let heading = forecast::why_heading(explained);
    canvas.text(12, 24, 13, "start", &heading);
    let both = [("yours", Some(explained.yours)), ("reference", explained.reference.as_ref())];
    let times = both.iter().filter_map(|(_, prediction)| Some((*prediction)?.milliseconds));
    let longest = times.fold(0.0, f64::max);
    let mut y = 44;
    for (who, prediction) in both {
        let Some(prediction) = prediction else { continue };
        canvas.text(LEFT - 8, y + 13, 12, "end", &format!("{who}, {:.4} ms", prediction.milliseconds));
        bar(&mut canvas, y, &prediction.by_cause(), WIDTH * prediction.milliseconds / longest);
        y += STEP;
    }
    y = legend(&mut canvas, y + 10);
    for (who, prediction) in both {
        let Some(prediction) = prediction else { continue };
        canvas.text(12, y + 16, 12, "start", &format!("{who}, by line"));
        y += STEP;
        y = lines(&mut canvas, y, prediction);
    }
    canvas.finish(&heading)
}

fn bar(canvas: &mut Canvas, y: usize, shares: &[(Cause, f64)], width: f64) {
    let mut done = 0.0;
    for (cause, share) in shares {
        let (from, to) = ((done * width) as usize, ((done + share) * width) as usize);
        if to > from {
            canvas.area([LEFT + from, y], [to - from, BAR], color(*cause));
        }
        done += share;
    }
}

fn legend(canvas: &mut Canvas, mut y: usize) -> usize {
    for causes in Cause::ALL.chunks(5) {
        for (place, cause) in causes.iter().enumerate() {
            let x = LEFT + place * 120;
            canvas.area([x, y], [12, 12], color(*cause));
            canvas.text(x + 16, y + 11, 11, "start", forecast::cause_name(*cause));
        }
        y += 20;
    }
    y
}

fn lines(canvas: &mut Canvas, mut y: usize, prediction: &Prediction) -> usize {
    for (line, shares) in prediction.by_line().into_iter().take(LINES) {
        let whole: f64 = shares.iter().map(|(_, share)| share).sum();
        let name = line.map_or_else(|| "no line".to_owned(), |line| format!("line {line}"));
        canvas.text(LEFT - 8, y + 13, 12, "end", &format!("{name}, {:.0} %", 100.0 * whole));
        bar(canvas, y, &shares, WIDTH);
        y += STEP;
    }
    y
}
