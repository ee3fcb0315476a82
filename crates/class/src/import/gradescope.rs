//! Gradescope's export: `assignment_N_export/submission_metadata.yml` and a folder for each submission. The
//! keys are Ruby's symbols, `:submitters:`; an e-mail address can be missing.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::container::Container;
use super::{Bundle, ImportError, Sorted};
use crate::class::Person;
use crate::label::clean;

/// The list of submissions.
pub(super) const METADATA: &str = "submission_metadata.yml";
/// Far more than a class of thousands needs.
const MOST_METADATA_BYTES: u64 = 64 << 20;

#[derive(Deserialize)]
struct Submission {
    #[serde(rename = ":submitters", default)]
    submitters: Vec<Submitter>,
    #[serde(rename = ":created_at", default)]
    created_at: Option<serde_norway::Value>,
}

#[derive(Deserialize)]
struct Submitter {
    #[serde(rename = ":name", default)]
    name: Option<String>,
    #[serde(rename = ":sid", default)]
    sid: Option<serde_norway::Value>,
    #[serde(rename = ":email", default)]
    email: Option<String>,
}

pub(super) fn sort(container: &mut Container) -> Result<Sorted, ImportError> {
    let items = container.items.clone();
    let is_list = |path: &str| path == METADATA || path.ends_with(&format!("/{METADATA}"));
    // Students hand in files of that name, too: the list is the one that lies highest.
    let list =
        items.iter().filter(|item| is_list(&item.path)).min_by_key(|item| item.path.matches('/').count());
    let list = list.ok_or_else(|| ImportError::Metadata("there is none".into()))?;
    let root = &list.path[..list.path.len() - METADATA.len()];
    let text = container
        .read(list, MOST_METADATA_BYTES)
        .map_err(|error| ImportError::Metadata(error.to_string()))?;
    let submissions = read(&text)?;
    let mut bundles: BTreeMap<&str, Bundle> = submissions
        .iter()
        .map(|(folder, submission)| {
            let people: Vec<Person> =
                submission.submitters.iter().enumerate().map(|(n, s)| person(folder, n, s)).collect();
            (
                folder.as_str(),
                Bundle { people, at: submission.created_at.as_ref().and_then(time), ..Bundle::default() },
            )
        })
        .collect();
    let mut strays = Vec::new();
    for (index, item) in items.iter().enumerate().filter(|(_, item)| item.path != list.path) {
        let inside = item.path.strip_prefix(root).and_then(|path| path.split_once('/'));
        match inside.and_then(|(folder, file)| Some((bundles.get_mut(folder)?, file))) {
            Some((bundle, file)) => bundle.files.push((index, file.to_owned())),
            None => strays.push((index, format!("{METADATA} does not name its folder"))),
        }
    }
    for (folder, bundle) in &mut bundles {
        if bundle.people.is_empty() {
            let why = format!("{METADATA} names no submitter of {folder}");
            strays.extend(bundle.files.drain(..).map(|(index, _)| (index, why.clone())));
        }
    }
    Ok(Sorted { bundles: bundles.into_values().collect(), strays })
}

fn read(text: &[u8]) -> Result<BTreeMap<String, Submission>, ImportError> {
    serde_norway::from_slice(text).map_err(|error| ImportError::Metadata(error.to_string()))
}

/// A student number names a person best; then the address; then the submission.
fn person(folder: &str, index: usize, submitter: &Submitter) -> Person {
    let sid = submitter.sid.as_ref().and_then(plain);
    let email = submitter.email.as_deref().map(clean).filter(|email| !email.is_empty());
    let id = sid.or_else(|| email.clone()).unwrap_or_else(|| format!("{folder}.{index}"));
    let name = submitter.name.as_deref().map(clean).filter(|name| !name.is_empty());
    Person { name: name.unwrap_or_else(|| id.clone()), id, email }
}

/// A value that stands for itself: a student number may be written as a number.
fn plain(value: &serde_norway::Value) -> Option<String> {
    let text = match value {
        serde_norway::Value::String(text) => clean(text),
        serde_norway::Value::Number(number) => number.to_string(),
        _ => return None,
    };
    Some(text).filter(|text| !text.is_empty())
}

/// `2026-12-01 18:45:27.123456000 -07:00` as RFC 3339.
fn time(value: &serde_norway::Value) -> Option<String> {
    let text = plain(value)?;
    let joined = match text.rsplit_once(' ') {
        Some((time, zone)) if zone.starts_with(['+', '-']) || zone == "Z" || zone == "UTC" => {
            format!("{time}{}", if zone == "UTC" { "Z" } else { zone })
        }
        _ => text,
    };
    joined.parse::<jiff::Timestamp>().ok().map(|time| time.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_read_with_what_may_be_missing() {
        let text = "submission_101:\n  :submitters:\n  - :name: 이영희\n    :sid: 20260042\n    \
                    :email: lee@uni.example\n  :created_at: 2026-12-01 18:45:27.123456000 -07:00\n  \
                    :score: 1.0\nsubmission_102:\n  :submitters:\n  - :name: \"Kim, \\\"K\\\"\"\n    :sid: ''\n    :email:\n";
        let list = read(text.as_bytes()).expect("a list");
        let first = person("submission_101", 0, &list["submission_101"].submitters[0]);
        assert_eq!(first.id, "20260042");
        assert_eq!(first.email.as_deref(), Some("lee@uni.example"));
        let at = list["submission_101"].created_at.as_ref().and_then(time);
        assert_eq!(at.as_deref(), Some("2026-12-02T01:45:27.123456Z"));
        let second = person("submission_102", 0, &list["submission_102"].submitters[0]);
        assert_eq!((second.id.as_str(), second.name.as_str()), ("submission_102.0", "Kim, \"K\""));
        assert!(read(b"- 1\n- 2\n").is_err());
        assert!(read(b"a: &a [x]\nb: [*a, *a]").is_err());
    }
}
