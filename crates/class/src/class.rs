//! A class on disk: `class.json` says who handed in what, `input/` holds the texts by their content.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::store::{Durability, StoreError, replace, sha256, write_whole};

/// The most bytes of a file that is taken.
pub(crate) const MOST_BYTES: u64 = 1 << 20;

/// Who handed something in, as the system that it was handed in to knows them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// Names them in every file: Canvas' user, Moodle's participant, Gradescope's student number, or a
    /// folder.
    pub id: String,
    /// For people to read. Two may have the same.
    pub name: String,
    /// If it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
}

/// What one person handed in for one exercise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handin {
    /// The [`Person::id`].
    pub student: String,
    /// The exercise's folder, `05_transpose_coalescing`.
    pub exercise: String,
    /// Of the text in `input/`; `None` if it could not be read.
    pub sha256: Option<String>,
    /// Where it came from: `submissions.zip: kim_LATE_7_8_kernel.cu`.
    pub source: String,
    /// The system it was handed in to calls it late.
    #[serde(default)]
    pub is_late: bool,
    /// When it was handed in (RFC 3339), if the system says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Why it could not be read, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Everybody and what they handed in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Class {
    /// By id.
    pub people: BTreeMap<String, Person>,
    /// By student and exercise.
    pub handins: BTreeMap<(String, String), Handin>,
}

/// The file's shape.
#[derive(Serialize, Deserialize)]
struct File {
    version: u32,
    people: Vec<Person>,
    handins: Vec<Handin>,
}

impl Class {
    /// Reads `class.json` in `folder`; a class without it is empty.
    ///
    /// # Errors
    /// If the file is there and cannot be read, or is of a later version.
    pub fn load(folder: &Path) -> Result<Class, StoreError> {
        let path = folder.join("class.json");
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Class::default()),
            Err(error) => return Err(StoreError::Io { path, error }),
        };
        let damaged = |reason: String| StoreError::Damaged { path: path.clone(), reason };
        let file: File = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        if file.version != 1 {
            return Err(damaged(format!("version {} is not known to this checker", file.version)));
        }
        let people = file.people.into_iter().map(|person| (person.id.clone(), person)).collect();
        let handins = file.handins.into_iter();
        Ok(Class { people, handins: handins.map(|h| ((h.student.clone(), h.exercise.clone()), h)).collect() })
    }

    /// Writes it.
    ///
    /// # Errors
    /// If that fails; what was there before is there still.
    pub fn save(&self, folder: &Path) -> Result<(), StoreError> {
        let file = File {
            version: 1,
            people: self.people.values().cloned().collect(),
            handins: self.handins.values().cloned().collect(),
        };
        let mut text = serde_json::to_vec_pretty(&file).expect("plain data");
        text.push(b'\n');
        write_whole(&folder.join("class.json"), &text)
    }

    /// Where the text with this hash is kept.
    pub fn input(folder: &Path, sha256: &str) -> PathBuf {
        folder.join("input").join(format!("{sha256}.cu"))
    }

    /// Keeps a text by its content and gives back its hash. The same text is kept once.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep(folder: &Path, text: &[u8]) -> Result<String, StoreError> {
        let hash = sha256(text);
        let path = Class::input(folder, &hash);
        if std::fs::read(&path).is_ok_and(|kept| kept == text) {
            return Ok(hash);
        }
        replace(&path, text, Durability::Later)?;
        Ok(hash)
    }

    /// Reads a kept text and makes sure that it is the one.
    ///
    /// # Errors
    /// If it cannot be read, or is another one.
    pub fn text(folder: &Path, hash: &str) -> Result<Vec<u8>, StoreError> {
        let path = Class::input(folder, hash);
        let text = std::fs::read(&path).map_err(StoreError::io(&path))?;
        if sha256(&text) != hash {
            let reason = "its text is not the one that was imported; import it again".to_owned();
            return Err(StoreError::Damaged { path, reason });
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(Class::load(folder.path()).expect("an empty class"), Class::default());
        let hash = Class::keep(folder.path(), b"text").expect("kept");
        let mut class = Class::default();
        class.people.insert("7".into(), Person { id: "7".into(), name: "이영희".into(), email: None });
        let handin = Handin {
            student: "7".into(),
            exercise: "05_x".into(),
            sha256: Some(hash.clone()),
            source: "a.zip: k.cu".into(),
            is_late: true,
            at: None,
            problem: None,
        };
        class.handins.insert(("7".into(), "05_x".into()), handin);
        class.save(folder.path()).expect("saved");
        assert_eq!(Class::load(folder.path()).expect("loaded"), class);
        assert_eq!(Class::text(folder.path(), &hash).expect("kept"), b"text");
        std::fs::write(Class::input(folder.path(), &hash), "also").expect("written");
        assert!(matches!(Class::text(folder.path(), &hash), Err(StoreError::Damaged { .. })));
        // What was damaged is mended by importing again.
        Class::keep(folder.path(), b"text").expect("kept");
        assert_eq!(Class::text(folder.path(), &hash).expect("kept"), b"text");
    }

    #[test]
    fn a_damaged_class_is_said_and_not_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        for text in ["{", "{\"version\": 2, \"people\": [], \"handins\": []}", "[]"] {
            std::fs::write(folder.path().join("class.json"), text).expect("written");
            assert!(matches!(Class::load(folder.path()), Err(StoreError::Damaged { .. })), "{text}");
        }
    }
}
