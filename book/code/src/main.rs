//! Makes the book's figures: tables of what warpsim counts, and pictures.
//!
//! Every number comes from a command that a reader could type (`checker run ...`, `checker 05 --json`); the tables name it.
//! `cargo run -p book` writes `book/src/generated/`; with `--check` it writes nothing and fails if a file is stale.
//! `--checker FILE` takes a checker that is already built.

mod checker;
mod experiment;
mod picture;
mod roofline;
mod svg;
mod verdict;

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::checker::Checker;

/// Draws a figure that needs no run.
type Draw = fn() -> String;

/// The drawn figures: file name and picture.
const DRAWN: [(&str, Draw); 3] =
    [("sectors.svg", picture::sectors), ("banks.svg", picture::banks), ("roofline.svg", roofline::picture)];

/// Makes a figure of what the checker says.
type Count = fn(&Checker) -> Result<String>;

/// The counted figures: file name and contents.
const COUNTED: [(&str, Count); 9] = [
    ("coalescing.md", experiment::coalescing),
    ("banks.md", experiment::banks),
    ("divergence.md", experiment::divergence),
    ("intensity.md", experiment::intensity),
    ("transpose.md", experiment::transpose),
    ("padding.md", experiment::padding),
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
    let checker = Checker::new(program)?;
    for (name, count) in COUNTED {
        output.put(name, &count(&checker).with_context(|| format!("{name} cannot be made"))?)?;
    }
    output.finish()
}

/// Where figures go: into the book, or into a comparison with what is there.
struct Output {
    check: bool,
    stale: Vec<&'static str>,
}

impl Output {
    fn put(&mut self, name: &'static str, text: &str) -> Result<()> {
        let path = Path::new(checker::ROOT).join("book/src/generated").join(name);
        let old = std::fs::read_to_string(&path).unwrap_or_default();
        if old == text {
            return Ok(());
        }
        if self.check {
            eprintln!("--- {name} as committed\n{old}\n+++ {name} as it is now\n{text}");
            self.stale.push(name);
        } else {
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
