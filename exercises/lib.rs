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
