//! Makes the book's figures: tables of what warpsim counts, and pictures.
//!
//! Every number comes from a command that a reader could type (`checker run ...`, `checker 05 --json`); the tables name it.
//! `cargo run -p book` writes `book/src/generated/`; with `--check` it writes nothing and fails if a file is stale.
//! `--checker FILE` takes a checker that is already built.

mod checker;
mod experiment;
mod measurement;
mod occupancy;
mod picture;
mod requirement;
mod roofline;
mod svg;
mod verdict;

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::checker::Checker;
use crate::measurement::Measurements;

/// Makes a figure that needs no run.
type Draw = fn() -> String;

/// The figures that need no run: file name and contents.
const DRAWN: [(&str, Draw); 7] = [
    ("sectors.svg", picture::sectors),
    ("banks.svg", picture::padded_column),
    ("banks_row_column.svg", picture::row_and_column),
    ("banks_strides.svg", picture::strides),
    ("occupancy_budgets.md", occupancy::budgets),
    ("occupancy_registers.md", occupancy::registers),
    ("occupancy_tiles.md", occupancy::tiles),
];

/// Makes a figure of what the checker says.
type Count = fn(&Checker) -> Result<String>;

/// The counted figures: file name and contents.
const COUNTED: [(&str, Count); 11] = [
    ("coalescing.md", experiment::coalescing),
    ("banks.md", experiment::banks),
    ("divergence.md", experiment::divergence),
    ("intensity.md", experiment::intensity),
    ("transpose.md", experiment::transpose),
    ("padding.md", experiment::padding),
    ("occupancy.md", occupancy::exercise),
    ("vectorized.md", experiment::vectorized),
    ("verdict.md", verdict::sample),
    ("race.md", verdict::race),
    ("look.md", verdict::close_up),
];

fn main() -> Result<()> {
    let mut output = Output { check: false, stale: Vec::new() };
    let mut program = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--check" => output.check = true,
            "--checker" => program = Some(arguments.next().context("--checker needs a file")?.into()),
            other => bail!("unknown argument `{other}`: there are --check and --checker FILE"),
        }
    }
    for (name, draw) in DRAWN {
        output.put(name, &draw())?;
    }
    let measurements = Measurements::read()?;
    output.put("roofline.svg", &roofline::picture(&measurements)?)?;
    let checker = Checker::new(program)?;
    for (name, count) in COUNTED {
        output.put(name, &count(&checker).with_context(|| format!("{name} cannot be made"))?)?;
    }
    for course::Entry { exercise, folder } in course::all() {
        let number = u32::from(exercise.number);
        let name = format!("needed/{folder}.md");
        let table = requirement::table(&checker, number, folder);
        if let Some(table) = table.with_context(|| format!("{name} cannot be made"))? {
            output.put(&name, &table)?;
        }
        if Measurements::has_table(number) {
            let name = format!("measured/{folder}.md");
            let table = measurements.table(number);
            output.put(&name, &table.with_context(|| format!("{name} cannot be made"))?)?;
        }
    }
    output.finish()
}

/// Where figures go: into the book, or into a comparison with what is there.
struct Output {
    check: bool,
    stale: Vec<String>,
}

impl Output {
    fn put(&mut self, name: &str, text: &str) -> Result<()> {
        let path = Path::new(checker::ROOT).join("book/src/generated").join(name);
        let old = std::fs::read_to_string(&path).unwrap_or_default();
        if old == text {
            return Ok(());
        }
        if self.check {
            eprintln!("--- {name} as committed\n{old}\n+++ {name} as it is now\n{text}");
            self.stale.push(name.to_owned());
        } else {
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            std::fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))?;
            println!("wrote {name}");
        }
        Ok(())
    }

    fn finish(self) -> Result<()> {
        if !self.stale.is_empty() {
            bail!("stale: {}; run `cargo run -p book` and commit what it writes", self.stale.join(", "));
        }
        Ok(())
    }
}
