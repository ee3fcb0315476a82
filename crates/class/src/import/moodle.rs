//! Moodle: `{Full name}_{id}_assignsubmission_file_/{file}`, or flat, `{Full
//! name}_{id}_assignsubmission_file_{file}`. From `mod/assign/locallib.php`. The id is the assignment's own,
//! which the grading worksheet calls `Participant {id}`; with blind marking the name is `Participant`, too.

use std::collections::BTreeMap;

use super::container::Item;
use super::{Bundle, Sorted};
use crate::class::Person;
use crate::label::clean;

/// What every name has.
pub(super) const MARK: &str = "_assignsubmission_";

pub(super) fn sort(items: &[Item]) -> Sorted {
    let mut sorted = Sorted::default();
    let mut bundles: BTreeMap<String, Bundle> = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        let Some((name, id, plugin, file)) = read(&item.path) else {
            sorted.strays.push((index, "its name is not one that Moodle gives".into()));
            continue;
        };
        let bundle = bundles.entry(id.to_owned()).or_insert_with(|| {
            let person = Person { id: id.to_owned(), name: clean(name), email: None };
            Bundle { people: vec![person], ..Bundle::default() }
        });
        if plugin == "file" {
            bundle.files.push((index, file.to_owned()));
        } else {
            bundle.note = Some("a text");
            sorted.strays.push((index, format!("{} wrote a text, and handed in no file", clean(name))));
        }
    }
    sorted.bundles = bundles.into_values().collect();
    sorted
}

/// Name, id, kind of submission, and the file as the student named it.
fn read(path: &str) -> Option<(&str, &str, &str, &str)> {
    let (who, rest) = path.split_once(MARK)?;
    // A folder of the assignment may come first.
    let who = who.rsplit('/').next().unwrap_or(who);
    let (name, id) = who.rsplit_once('_')?;
    let (plugin, file) = rest.split_once('_')?;
    let is_id = !id.is_empty() && id.bytes().all(|digit| digit.is_ascii_digit());
    let file = file.trim_start_matches('/');
    (is_id && !file.is_empty()).then_some((name, id, plugin, file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_and_flat_names_are_read() {
        for (path, want) in [
            (
                "Lee Young-Hee_88_assignsubmission_file_/05/kernel.cu",
                Some(("Lee Young-Hee", "88", "file", "05/kernel.cu")),
            ),
            ("이영희_88_assignsubmission_file_kernel.cu", Some(("이영희", "88", "file", "kernel.cu"))),
            ("Participant_12_12_assignsubmission_file_/k.cu", Some(("Participant_12", "12", "file", "k.cu"))),
            ("A_B_88_assignsubmission_file_/k.cu", Some(("A_B", "88", "file", "k.cu"))),
            (
                "Kim_3_assignsubmission_onlinetext_/onlinetext.html",
                Some(("Kim", "3", "onlinetext", "onlinetext.html")),
            ),
            ("Course-05/Kim_3_assignsubmission_file_/k.cu", Some(("Kim", "3", "file", "k.cu"))),
            ("Kim_x_assignsubmission_file_/k.cu", None),
            ("kernel.cu", None),
        ] {
            assert_eq!(read(path), want, "{path}");
        }
    }
}
