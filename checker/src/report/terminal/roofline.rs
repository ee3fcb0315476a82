//! Kernels under a roof, as a table.

use owo_colors::OwoColorize;

use super::out::println;
use super::table::Table;
use super::text::paragraph;
use crate::message;
use crate::report::Placed;

pub(crate) fn placed(placed: &Placed<'_>) {
    let gpu = placed.gpu;
    println!("{}", message::roofline_heading(gpu).bold());
    println!("{}\n", paragraph(&format!("  {}", gpu.source), "  "));
    let mut table = Table::new(&[
        "kernel",
        "FLOP",
        "bytes moved",
        "at least",
        "FLOP/B",
        "at best",
        "roof, TFLOP/s",
        "limit",
    ]);
    for kernel in placed.kernels {
        let Some(counters) = &kernel.counters else {
            table.row([kernel.name.clone(), "does not run".to_owned()]);
            continue;
        };
        let (intensity, best) = (kernel.intensity(), kernel.best_intensity());
        let (roof, limit) = if intensity == 0.0 {
            ("-".to_owned(), "memory: it only moves data")
        } else if intensity < gpu.ridge() {
            (message::quantity(gpu.roof(intensity) / 1e12), "memory")
        } else {
            (message::quantity(gpu.roof(intensity) / 1e12), "arithmetic")
        };
        table.row([
            kernel.name.clone(),
            counters.fp32_flops.to_string(),
            kernel.moved_bytes().to_string(),
            kernel.least_bytes.to_string(),
            message::quantity(intensity),
            message::quantity(best),
            roof,
            limit.to_owned(),
        ]);
    }
    let lines = table.lines();
    println!("{}", lines[0].dimmed());
    lines[1..].iter().for_each(|line| println!("{line}"));
    println!("\n{}", paragraph(message::ROOFLINE_LEGEND, ""));
}
