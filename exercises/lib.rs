//! The course: every exercise, in order.
//!
//! A folder `NN_slug` with an `exercise.rs` is an exercise; nothing else registers it. The build script lists the
//! folders, so that a new one is compiled, judged and shown without an edit anywhere.

use exercise::Exercise;

/// An exercise and where its files are.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its description, `EXERCISE` of its `exercise.rs`.
    pub exercise: Exercise,
    /// The name of its folder here, in `solutions/` and of its chapter in `book/src/exercises/`: `05_transpose_coalescing`.
    pub folder: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/entries.rs"));

/// Every exercise, by ascending number.
pub fn all() -> &'static [Entry] {
    ENTRIES
}

/// Numbers in the order in which the book teaches: the transpose and the banks come before what builds on them.
const TAUGHT: [u8; 14] = [0, 1, 5, 2, 3, 6, 9, 4, 8, 7, 10, 11, 12, 13];

/// Every exercise in the order to go through them; those that `TAUGHT` does not place come last, by number.
pub fn in_teaching_order() -> Vec<&'static Entry> {
    let place = |entry: &&Entry| TAUGHT.iter().position(|number| *number == entry.exercise.number);
    let mut entries: Vec<&'static Entry> = all().iter().collect();
    entries.sort_by_key(|entry| place(entry).unwrap_or(TAUGHT.len()));
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_ascend_and_folders_are_named_after_them() {
        assert!(all().windows(2).all(|pair| pair[0].exercise.number < pair[1].exercise.number));
        for entry in all() {
            assert_eq!(entry.folder, format!("{:02}_{}", entry.exercise.number, entry.exercise.slug));
        }
    }

    #[test]
    fn each_is_taught_once_and_what_is_not_placed_comes_last() {
        let numbers: Vec<u8> = in_teaching_order().iter().map(|entry| entry.exercise.number).collect();
        assert_eq!(numbers[..TAUGHT.len()], TAUGHT);
        assert!(numbers[TAUGHT.len()..].is_sorted());
        assert_eq!(numbers.len(), all().len());
    }

    #[test]
    fn every_folder_with_a_stub_is_an_exercise() {
        let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let with_stub = std::fs::read_dir(here)
            .expect("this folder")
            .filter(|entry| entry.as_ref().expect("an entry").path().join("stub.cu").is_file())
            .count();
        assert_eq!(all().len(), with_stub);
        assert!(with_stub > 0);
    }
}
