//! All exercises, in order.

use exercise::Exercise;

use crate::exit::{UsageError, usage};
use crate::message;

/// An exercise and where its files are.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    /// Its description.
    pub(crate) exercise: Exercise,
    /// The name of its folders: `05_transpose_coalescing`.
    pub(crate) folder: &'static str,
}

macro_rules! entries {
    ($($package:ident in $folder:literal),* $(,)?) => {
        &[$(Entry { exercise: $package::EXERCISE, folder: $folder }),*]
    };
}

static ENTRIES: &[Entry] = entries![
    ex00_vector_add in "00_vector_add",
    ex01_matmul_naive in "01_matmul_naive",
    ex02_matmul_tiled in "02_matmul_tiled",
    ex03_ghost_elements in "03_ghost_elements",
    ex04_coarsening in "04_coarsening",
    ex05_transpose_coalescing in "05_transpose_coalescing",
    ex06_bank_padding in "06_bank_padding",
    ex07_reduction_divergence in "07_reduction_divergence",
    ex08_vectorized in "08_vectorized",
    ex09_occupancy in "09_occupancy",
    ex10_constant_halo in "10_constant_halo",
    ex11_latency_hiding in "11_latency_hiding",
    ex12_sgemm in "12_sgemm",
    ex13_tensor_cores in "13_tensor_cores",
];

/// Every exercise, by number.
pub(crate) fn all() -> &'static [Entry] {
    ENTRIES
}

/// The exercise after `entry`.
pub(crate) fn after(entry: &Entry) -> Option<&'static Entry> {
    all().iter().find(|other| other.exercise.number > entry.exercise.number)
}

/// The exercise that `name` means: its number (`5`, `05`) or any part of its folder's name.
///
/// # Errors
/// A usage error that says which exercises there are, or which ones fit.
pub(crate) fn find(name: &str) -> anyhow::Result<&'static Entry> {
    if let Ok(number) = name.parse::<u64>() {
        let entry = all().iter().find(|entry| u64::from(entry.exercise.number) == number);
        return entry.ok_or_else(|| {
            UsageError(format!("there is no exercise {name}; there are {}", numbers())).into()
        });
    }
    let wanted =
        name.trim_end_matches('/').rsplit('/').next().unwrap_or(name).to_lowercase().replace([' ', '-'], "_");
    if let Some(exact) = all().iter().find(|entry| entry.folder == wanted || entry.exercise.slug == wanted) {
        return Ok(exact);
    }
    let fitting: Vec<&Entry> = all().iter().filter(|entry| entry.folder.contains(&wanted)).collect();
    match fitting.as_slice() {
        [entry] if !wanted.is_empty() => Ok(entry),
        [_, _, ..] if !wanted.is_empty() => {
            let names: Vec<&str> = fitting.iter().map(|entry| entry.folder).collect();
            usage(format!("`{name}` fits {}; give the number", names.join(", ")))
        }
        _ => usage(format!(
            "`{name}` is neither a command nor an exercise; `{}` shows the commands, `{}` the exercises",
            message::command("--help"),
            message::command("list")
        )),
    }
}

fn numbers() -> String {
    let numbers: Vec<String> = all().iter().map(|entry| format!("{:02}", entry.exercise.number)).collect();
    numbers.join(", ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_exercise_folder_is_registered() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../exercises");
        let folders: BTreeSet<String> = std::fs::read_dir(root)
            .expect("the exercises")
            .map(|entry| entry.expect("an entry"))
            .filter(|entry| entry.path().join("Cargo.toml").is_file())
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        let registered: BTreeSet<String> = all().iter().map(|entry| entry.folder.to_owned()).collect();
        assert_eq!(registered, folders, "add the exercise to checker/Cargo.toml and to `entries!`");
    }

    #[test]
    fn numbers_ascend_and_folders_are_named_after_them() {
        assert!(all().windows(2).all(|pair| pair[0].exercise.number < pair[1].exercise.number));
        for entry in all() {
            assert_eq!(entry.folder, format!("{:02}_{}", entry.exercise.number, entry.exercise.slug));
        }
    }

    #[test]
    fn commands_in_texts_can_be_typed() {
        for entry in all() {
            let Exercise { number, stub, hints, .. } = &entry.exercise;
            assert!(
                stub.contains(&format!("`cargo run -p checker -- hint {number:02}`")),
                "{}",
                entry.folder
            );
            for text in hints.iter().chain([stub]) {
                assert!(!text.contains("`checker "), "{}: {text}", entry.folder);
            }
        }
    }

    #[test]
    fn exercises_are_found_by_number_and_by_any_part_of_the_name() {
        for name in
            ["5", "05", "005", "05_transpose_coalescing", "transpose", "exercises/05_transpose_coalescing/"]
        {
            assert_eq!(find(name).expect(name).exercise.number, 5, "{name}");
        }
    }

    #[test]
    fn what_fits_nothing_is_a_usage_error() {
        for name in ["99", "99999999999999999999999", "", "/", "nothing_like_it", "커널"] {
            let error = find(name).map(|_| ()).expect_err(name);
            assert!(error.is::<UsageError>(), "{name}: {error}");
        }
        let error = find("99").map(|_| ()).expect_err("none").to_string();
        assert!(error.contains("there is no exercise 99; there are 00, "), "{error}");
    }
}
