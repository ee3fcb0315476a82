//! Chores for authors: `cargo run -p xtask -- COMMAND`.

mod measure;
mod new_exercise;
mod predict;
mod template;

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Parser;

/// Chores for authors of Warplings.
#[derive(Parser)]
#[command(version)]
enum Chore {
    /// Judge and time every file of every exercise on this machine's GPU, and write the tables to docs/measurements.
    Measure {
        /// Only the exercises of these numbers.
        only: Vec<String>,
        /// Judge every file so often, to see whether verdicts change.
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
        repeat: u16,
        /// The checker to ask; without it, the one that was built beside this program.
        #[arg(long)]
        checker: Option<PathBuf>,
        /// Hold predicted times against measured ones, instead of measuring: it needs no GPU.
        #[arg(long)]
        predict: bool,
        /// The measurements to predict; without it, the newest of an H200.
        #[arg(long, requires = "predict")]
        against: Option<PathBuf>,
        /// Write here instead.
        #[arg(long)]
        out: Option<PathBuf>,
    },
    /// Make the next exercise, which passes its checks, to be filled in.
    NewExercise {
        /// Its short name in lower case, like transpose_coalescing; the number is added.
        name: String,
    },
}

fn main() -> Result<()> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let root = root.canonicalize().or_else(|_| std::env::current_dir())?;
    match Chore::parse() {
        Chore::Measure { only, repeat, checker, predict, against, out } => {
            let checker = checker.map_or_else(beside, Ok)?;
            let (date, root, checker) = (&today()?, root.as_path(), checker.as_path());
            let order = measure::Order { root, checker, out, date, repeat, only: &only };
            if predict { predict::predict(&order, against) } else { measure::measure(&order) }
        }
        Chore::NewExercise { name } => {
            tell(&new_exercise::make(&root, &name)?);
            Ok(())
        }
    }
}

/// Says what was made, and what is left to do.
fn tell(made: &new_exercise::Made) {
    println!("made exercise {}:", made.folder);
    for path in &made.written {
        println!("  {}", path.display());
    }
    println!("\nFill in whatever says FILL IN. Until then it is vector addition, and passes its checks:");
    println!("  cargo run -p checker -- verify {}", &made.folder[..2]);
}

/// The checker in the folder this program is in.
fn beside() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let checker = own.with_file_name(format!("checker{}", std::env::consts::EXE_SUFFIX));
    anyhow::ensure!(checker.is_file(), "build the checker first: cargo build --release -p checker");
    Ok(checker)
}

/// Today as YYYY-MM-DD, by the system's `date`.
fn today() -> Result<String> {
    let output = trust::program::command("date")?.arg("+%F").output().context("`date` does not run")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
