//! The roofline of an H200 with the matrix products of the course under, and above, it.

use crate::svg::Svg;

/// H200 data sheet: bytes per second, and single-precision operations per second.
const BANDWIDTH: f64 = 4.8e12;
const PEAK: f64 = 67e12;

/// Measured on an H200 at N = 2048: name, intensity its threads ask for in FLOP/B, microseconds.
const MEASURED: [(&str, f64, f64); 5] = [
    ("row from x", 0.25, 17650.0),
    ("naive", 0.25, 3140.0),
    ("tiled 16", 4.0, 2110.0),
    ("tiled 32", 8.0, 1860.0),
    ("8 x 8 per thread", 32.0, 380.0),
];
const N: f64 = 2048.0;

/// The picture. Both axes are logarithmic.
pub(crate) fn picture() -> String {
    let (left, right, top, bottom) = (52.0, 468.0, 24.0, 268.0);
    let (x_low, x_high) = (0.125_f64, 128.0_f64);
    let (y_low, y_high) = (0.5e12_f64, 100e12_f64);
    let x = |i: f64| left + (right - left) * (i / x_low).ln() / (x_high / x_low).ln();
    let y = |p: f64| bottom - (bottom - top) * (p / y_low).ln() / (y_high / y_low).ln();

    let mut svg = Svg::new(480.0, 310.0, "Roofline of an H200 with five matrix products");
    for intensity in [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0] {
        svg.line(&[(x(intensity), bottom), (x(intensity), bottom + 4.0)], 0.8);
        if [0.25, 1.0, 4.0, 16.0, 64.0].contains(&intensity) {
            svg.text(x(intensity), bottom + 17.0, 11, "middle", &format!("{intensity}"));
        }
    }
    for tera in [1.0, 10.0, 100.0] {
        svg.line(&[(left - 4.0, y(tera * 1e12)), (left, y(tera * 1e12))], 0.8);
        svg.text(left - 7.0, y(tera * 1e12) + 4.0, 11, "end", &format!("{tera}"));
    }
    svg.line(&[(left, top), (left, bottom), (right, bottom)], 1.0);
    svg.text(left, 13.0, 12, "start", "TFLOP/s");
    svg.text(right, bottom + 34.0, 12, "end", "arithmetic intensity, FLOP/B");

    let edge = PEAK / BANDWIDTH;
    svg.line(&[(x(x_low), y(x_low * BANDWIDTH)), (x(edge), y(PEAK)), (right, y(PEAK))], 2.2);
    svg.text(right, y(PEAK) - 7.0, 12, "end", "67 TFLOP/s");
    svg.text(x(1.0) + 10.0, y(0.6 * BANDWIDTH), 12, "start", "4.8 TB/s");

    for (name, intensity, microseconds) in MEASURED {
        let rate = 2.0 * N.powi(3) / (microseconds * 1e-6);
        let above = rate > intensity * BANDWIDTH;
        svg.dot(x(intensity), y(rate), if above { "warm" } else { "good" });
        let label = format!("{name}: {:.1}", rate / 1e12);
        // Beside the dot, but where the roof or another label is in the way.
        let (dx, dy, anchor) = match intensity {
            i if i > 16.0 => (0.0, 20.0, "middle"),
            8.0 => (8.0, -3.0, "start"),
            4.0 => (0.0, 20.0, "middle"),
            _ => (9.0, 5.0, "start"),
        };
        svg.text(x(intensity) + dx, y(rate) + dy, 12, anchor, &label);
    }
    svg.finish()
}
