//! Hand-ins in the layout that detectors of similar programs take. There is none here: JPlag and Dolos are
//! kept well.

use std::path::{Path, PathBuf};

use crate::class::Class;
use crate::course::Course;
use crate::label::file_safe;
use crate::store::{StoreError, write_whole};

/// What was exported for one exercise.
#[derive(Debug, PartialEq, Eq)]
pub struct Exported {
    /// The exercise's folder.
    pub exercise: String,
    /// Where the hand-ins lie, `STUDENT.cpp` each.
    pub folder: PathBuf,
    /// What everybody started from, to be left out of account.
    pub base: PathBuf,
    /// How many.
    pub files: usize,
}

/// Writes `into/NN_slug/STUDENT.cpp`, and the stubs as `into/base/NN_slug/stub.cpp`. Who handed in together
/// has a file each.
///
/// # Errors
/// If a text is gone, or a file cannot be written.
pub fn export(
    folder: &Path,
    class: &Class,
    course: &Course,
    into: &Path,
) -> Result<Vec<Exported>, StoreError> {
    let mut exported = Vec::new();
    for exercise in &course.exercises {
        let name = exercise.folder();
        let mut files = 0;
        for handin in class.handins.values().filter(|handin| handin.exercise == name) {
            let Some(hash) = &handin.sha256 else { continue };
            let text = Class::text(folder, hash)?;
            write_whole(&into.join(&name).join(format!("{}.cpp", file_safe(&handin.student))), &text)?;
            files += 1;
        }
        if files > 0 {
            let base = into.join("base").join(&name);
            write_whole(&base.join("stub.cpp"), exercise.stub.as_bytes())?;
            exported.push(Exported { exercise: name.clone(), folder: into.join(&name), base, files });
        }
    }
    Ok(exported)
}
