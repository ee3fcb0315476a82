//! The roofline of an H200 with the matrix products of the course under, and above, it.

use anyhow::Result;

use crate::measurement::Measurements;
use crate::svg::Svg;

/// H200 data sheet: bytes per second, and single-precision operations per second.
const BANDWIDTH: f64 = 4.8e12;
const PEAK: f64 = 67e12;

/// A measured kernel: its exercise, its file, its name in the picture, the intensity that its threads ask for in FLOP/B, and
/// where its name stands beside the dot.
struct Point {
    number: u32,
    file: &'static str,
    name: &'static str,
    intensity: f64,
    label: (f64, f64, &'static str),
}

/// Times at N = 2048.
const POINTS: [Point; 5] = [
    Point { number: 1, file: "baseline", name: "row from x", intensity: 0.25, label: (14.0, 5.0, "start") },
    Point { number: 1, file: "solution", name: "naive", intensity: 0.25, label: (14.0, 5.0, "start") },
    Point { number: 4, file: "stub.cu", name: "tiles of 16", intensity: 4.0, label: (0.0, 26.0, "middle") },
    Point { number: 2, file: "solution", name: "tiles of 32", intensity: 8.0, label: (14.0, 5.0, "start") },
    Point {
        number: 4,
        file: "solution",
        name: "8 x 8 per thread",
        intensity: 32.0,
        label: (0.0, 26.0, "middle"),
    },
];

/// The picture. Both axes are logarithmic.
pub(crate) fn picture(measurements: &Measurements) -> Result<String> {
    let (left, right, top, bottom) = (58.0, 690.0, 36.0, 370.0);
    let (x_low, x_high) = (0.125_f64, 128.0_f64);
    let (y_low, y_high) = (0.5e12_f64, 100e12_f64);
    let x = |i: f64| left + (right - left) * (i / x_low).ln() / (x_high / x_low).ln();
    let y = |p: f64| bottom - (bottom - top) * (p / y_low).ln() / (y_high / y_low).ln();

    let mut svg = Svg::new(704.0, 424.0, "Roofline of an H200 with five matrix products");
    for intensity in [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0] {
        svg.line(&[(x(intensity), bottom), (x(intensity), bottom + 5.0)], 0.8);
        if [0.25, 1.0, 4.0, 16.0, 64.0].contains(&intensity) {
            svg.text(x(intensity), bottom + 22.0, 14, "middle", &format!("{intensity}"));
        }
    }
    for tera in [1.0, 10.0, 100.0] {
        svg.line(&[(left - 5.0, y(tera * 1e12)), (left, y(tera * 1e12))], 0.8);
        svg.text(left - 9.0, y(tera * 1e12) + 5.0, 14, "end", &format!("{tera}"));
    }
    svg.line(&[(left, top), (left, bottom), (right, bottom)], 1.0);
    svg.text(left - 40.0, 18.0, 14, "start", "TFLOP/s");
    svg.text(right, bottom + 46.0, 14, "end", "arithmetic intensity, FLOP/B");

    let edge = PEAK / BANDWIDTH;
    svg.line(&[(x(x_low), y(x_low * BANDWIDTH)), (x(edge), y(PEAK)), (right, y(PEAK))], 2.4);
    svg.text(right, y(PEAK) - 10.0, 14, "end", "67 TFLOP/s: the arithmetic units");
    svg.text(x(2.6) - 14.0, y(2.6 * BANDWIDTH), 14, "end", "4.8 TB/s: the memory");

    for Point { number, file, name, intensity, label: (dx, dy, anchor) } in POINTS {
        let rate = measurements.time(number, file)?.flops_per_second;
        let (px, py) = (x(intensity), y(rate));
        // Above the roof a diamond, below it a dot: told apart by shape, not by colour alone.
        if rate > intensity * BANDWIDTH {
            svg.diamond(px, py, "warm")
        } else {
            svg.dot(px, py, "good")
        }
        svg.text(px + dx, py + dy, 14, anchor, &format!("{name}: {:.1}", rate / 1e12));
    }
    Ok(svg.finish())
}
