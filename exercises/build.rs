//! Lists the folders `NN_slug` that have an `exercise.rs`, as modules and as the table `ENTRIES`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let folders = folders(&here);
    // Cargo looks for changes anywhere below a folder that is named here. `exercises` would build the course again
    // whenever a learner saves a kernel; `solutions` gains a folder with each exercise, and learners don't write there.
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../solutions");
    let mut modules = String::new();
    let mut entries = String::from("static ENTRIES: &[Entry] = &[\n");
    for folder in &folders {
        let path = here.join(folder).join("exercise.rs");
        let module = format!("ex{folder}");
        writeln!(modules, "#[path = {path:?}]\nmod {module};").expect("a string takes it");
        writeln!(entries, "    Entry {{ exercise: {module}::EXERCISE, folder: {folder:?} }},")
            .expect("a string takes it");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("entries.rs");
    fs::write(out, format!("{modules}\n{entries}];\n")).expect("the output folder can be written to");
}

/// The names of the exercises' folders, sorted.
fn folders(here: &Path) -> Vec<String> {
    let mut folders: Vec<String> = fs::read_dir(here)
        .expect("the package's folder can be read")
        .map(|entry| entry.expect("an entry of the package's folder").path())
        .filter(|path| path.join("exercise.rs").is_file())
        .filter_map(|path| path.file_name()?.to_str().map(str::to_owned))
        .collect();
    folders.sort();
    for folder in &folders {
        let (number, slug) = folder.split_once('_').unwrap_or((folder, ""));
        let is_number = number.len() == 2 && number.bytes().all(|byte| byte.is_ascii_digit());
        let is_slug = !slug.is_empty()
            && slug.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        assert!(
            is_number && is_slug,
            "exercises/{folder} has an exercise.rs, but its name is not like 05_transpose_coalescing"
        );
    }
    folders
}
