//! `checker probe`: measures what this machine's GPU reaches at best, and remembers it.

use anyhow::Result;
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::ceiling::{self, Probed};
use crate::engine::gpu::Gpu;
use crate::exit::Exit;
use crate::report;

pub(super) fn make_command() -> Command {
    Command::new("probe")
        .about("Measure the GPU's copy bandwidth and FP32 rate, to hold kernels against")
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print one JSON object"))
}

pub(super) fn execute(matches: &ArgMatches) -> Result<Exit> {
    let gpu = Gpu::first()?;
    let ceilings = gpu.measure_ceilings()?;
    let probed = Probed { device: gpu.info.clone(), ceilings };
    let kept = ceiling::store(&probed);
    report::probed(&probed, &kept, matches.get_flag("json"));
    Ok(Exit::Passed)
}
