//! What a GPU reaches at best.

use std::path::PathBuf;

use owo_colors::OwoColorize;

use super::out::println;
use super::table::Table;
use super::text::paragraph;
use crate::ceiling::Probed;
use crate::message;

pub(crate) fn probed(probed: &Probed, kept: &anyhow::Result<PathBuf>) {
    let Probed { device, ceilings } = probed;
    let (major, minor) = device.compute_capability;
    println!("{}", format!("{}, compute capability {major}.{minor}", device.name).bold());
    let mut table = Table::new(&["", "measured", "peak by clocks and widths", ""]);
    let row = |what: &str, measured: f64, peak: f64, show: fn(f64) -> String| {
        let (peak, part) = if peak > 0.0 {
            (show(peak), format!("{:.0} %", 100.0 * measured / peak))
        } else {
            ("not told by the driver".to_owned(), String::new())
        };
        [what.to_owned(), show(measured), peak, part]
    };
    let bandwidth = device.peak_bandwidth();
    table.row(row("copy, read plus written", ceilings.copy_bytes_per_second, bandwidth, message::bandwidth));
    table.row(row(
        "fused multiply-adds",
        ceilings.fma_flops_per_second,
        device.peak_flops(),
        message::flop_rate,
    ));
    table.lines().iter().for_each(|line| println!("{line}"));
    match kept {
        Ok(file) => println!("\n{}\n  {}", paragraph(&message::probe_kept(), ""), file.display()),
        Err(error) => println!("\n{}", paragraph(&format!("{} {error:#}", message::PROBE_NOT_KEPT), "")),
    }
}
