//! `checker roofline`: where your kernels stand under the roof of a GPU.

use anyhow::Result;
use clap::{Arg, ArgAction, ArgMatches, Command};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::picture_file::PictureFile;
use super::{course, toolchain};
use crate::exit::{Exit, usage};
use crate::gpu_table::{GPUS, Gpu, THIS};
use crate::message;
use crate::progress::{Progress, State};
use crate::registry::{self, Entry};
use crate::report::{self, Placed, PlacedKernel};
use crate::submission::Submission;
use crate::trial::{self, DEFAULT_SEED};
use crate::workspace::Workspace;

pub(super) fn make_command() -> Command {
    let keys = || [THIS].into_iter().chain(GPUS.iter().map(|gpu| gpu.key)).collect::<Vec<_>>();
    let command = Command::new("roofline")
        .about("Place your kernels, and the references, under the roof of a GPU")
        .arg(
            Arg::new("exercise")
                .value_name("EXERCISE")
                .num_args(0..)
                .help("Only these; otherwise all that you have begun"),
        )
        .arg(
            Arg::new("gpu")
                .long("gpu")
                .value_name("GPU")
                .value_parser(clap::builder::PossibleValuesParser::new(keys()))
                .help("Whose roof: `this`, as the command `probe` measured it, or another by its data sheet [default: this, or h200]"),
        )
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print one JSON object"));
    PictureFile::with_arguments(command)
}

pub(super) fn execute(matches: &ArgMatches) -> Result<Exit> {
    let gpu = &roof(matches.get_one::<String>("gpu").map(String::as_str))?;
    let picture = PictureFile::of(matches)?;
    let workspace = course::open()?;
    let entries = match matches.get_many::<String>("exercise") {
        Some(names) => names.map(|name| registry::find(name)).collect::<Result<Vec<_>>>()?,
        None => begun(&workspace),
    };
    if entries.is_empty() {
        return usage("there is no kernel of yours to place yet; name an exercise to see its reference");
    }
    let toolchain = toolchain::ready()?;
    let jobs: Vec<(&Entry, Submission, bool)> =
        entries.iter().flat_map(|entry| sources(&workspace, entry)).collect();
    let place = |(entry, submission, is_reference): &(&Entry, Submission, bool)| -> Result<PlacedKernel> {
        let exercise = &entry.exercise;
        let survey =
            trial::survey(&toolchain, exercise, &submission.text, &submission.name(), DEFAULT_SEED, None)?;
        let who = if *is_reference { "reference" } else { "yours" };
        Ok(PlacedKernel {
            name: format!("{:02} {}, {who}", exercise.number, exercise.slug),
            short: format!("{:02}{}", exercise.number, if *is_reference { "R" } else { "" }),
            is_reference: *is_reference,
            least_bytes: exercise.problem.bytes(exercise.counted.size),
            counters: survey.map(|survey| survey.counters).ok(),
        })
    };
    let kernels: Vec<PlacedKernel> = jobs.par_iter().map(place).collect::<Result<_>>()?;
    let placed = Placed { gpu, kernels: &kernels };
    report::placed(&placed, matches.get_flag("json"));
    if let Some(picture) = picture {
        picture.write(&report::roofline_svg(&placed))?;
    }
    Ok(Exit::Passed)
}

/// The roof by its name; without one, that of this machine's GPU if it was measured.
fn roof(key: Option<&str>) -> Result<Gpu> {
    let by_key = |key: &str| GPUS.iter().find(|gpu| gpu.key == key).cloned();
    let found = match key {
        Some(THIS) => Gpu::probed(),
        Some(key) => by_key(key),
        None => Gpu::probed().or_else(|| by_key("h200")),
    };
    found.map_or_else(
        || {
            usage(format!(
                "--gpu this: no GPU was measured here yet; `{}` does that",
                message::command("probe")
            ))
        },
        Ok,
    )
}

/// The exercises that the learner has changed the stub of.
fn begun(workspace: &Workspace) -> Vec<&'static Entry> {
    let progress = Progress::load(workspace);
    let is_begun = |entry: &&Entry| progress.state(workspace, entry) != State::Untouched;
    registry::all().iter().filter(is_begun).collect()
}

/// The learner's kernel, if there is one, and the reference.
fn sources<'a>(workspace: &Workspace, entry: &'a Entry) -> Vec<(&'a Entry, Submission, bool)> {
    let yours = Submission::read(&workspace.kernel(entry)).ok().map(|own| (entry, own, false));
    let reference = Submission { path: "solution.cu".into(), text: entry.exercise.solution.to_owned() };
    yours.into_iter().chain([(entry, reference, true)]).collect()
}
