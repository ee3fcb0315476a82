//! Chores for authors: `cargo run -p xtask -- COMMAND`.

mod new_exercise;
mod template;

use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;

/// Chores for authors of Warplings.
#[derive(Parser)]
#[command(version)]
enum Chore {
    /// Make the next exercise, registered and passing its checks, to be filled in.
    NewExercise {
        /// Its short name in lower case, like transpose_coalescing; the number is added.
        name: String,
    },
}

fn main() -> Result<()> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let root = root.canonicalize().or_else(|_| std::env::current_dir())?;
    match Chore::parse() {
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
