//! Canvas: all files side by side, everything else in their names. From `lib/content_zipper.rb` of
//! canvas-lms: `{name}[_LATE]_{user}_{attachment}_{file}`, without a name if the assignment is anonymous:
//! `[LATE_]anon_{code}_{attachment}_{file}`; `{name}[_LATE]_{user}_text.html` and `_link.html` for what is
//! not a file.

use std::collections::{BTreeMap, BTreeSet};

use super::container::Item;
use super::{Bundle, Sorted};
use crate::class::Person;
use crate::label::clean;

/// What a name says.
#[derive(Debug, PartialEq, Eq)]
struct Name<'a> {
    /// Empty if anonymous.
    name: &'a str,
    is_late: bool,
    /// Canvas' user, or `anon_CODE`.
    id: String,
    /// As the student named it; `None` for a text or link.
    file: Option<&'a str>,
}

/// Whether a name could be Canvas'.
pub(super) fn looks_like(name: &str) -> bool {
    !readings(name).is_empty()
}

pub(super) fn sort(items: &[Item], known: &BTreeSet<String>) -> Sorted {
    let mut sorted = Sorted::default();
    let mut bundles: BTreeMap<String, Bundle> = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        let name = item.path.rsplit('/').next().unwrap_or_default();
        let mut readings = readings(name);
        // `kim_7_8_9_k.cu` may be kim's or kim_7's: whoever is in the gradebook.
        let sure = readings.iter().position(|reading| known.contains(&reading.id));
        if readings.is_empty() {
            sorted.strays.push((index, "its name is not one that Canvas gives".into()));
            continue;
        }
        let Name { name, is_late, id, file } = readings.swap_remove(sure.unwrap_or(0));
        let bundle = bundles.entry(id.clone()).or_insert_with(|| {
            let name = if name.is_empty() { id.clone() } else { clean(name) };
            Bundle { people: vec![Person { id, name, email: None }], ..Bundle::default() }
        });
        bundle.is_late |= is_late;
        match file {
            Some(file) => bundle.files.push((index, file.to_owned())),
            None => {
                bundle.note = Some("a text or a link");
                let why = format!("{} wrote a text or a link, and handed in no file", bundle.people[0].name);
                sorted.strays.push((index, why));
            }
        }
    }
    sorted.bundles = bundles.into_values().collect();
    sorted
}

/// All ways to read a name, the one with the shortest student's name first.
fn readings(name: &str) -> Vec<Name<'_>> {
    // Where each part begins.
    let starts: Vec<usize> =
        std::iter::once(0).chain(name.match_indices('_').map(|(at, _)| at + 1)).collect();
    let part =
        |index: usize| starts.get(index).map(|start| name[*start..].split('_').next().unwrap_or_default());
    let is_number =
        |index| part(index).is_some_and(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    let mut readings = Vec::new();
    for index in 0..starts.len() {
        let is_anonymous =
            part(index) == Some("anon") && part(index + 1).is_some_and(|code| !code.is_empty());
        let (id, next) = if is_anonymous {
            (format!("anon_{}", part(index + 1).unwrap_or_default()), index + 2)
        } else if is_number(index) {
            (part(index).unwrap_or_default().to_owned(), index + 1)
        } else {
            continue;
        };
        let rest =
            |index: usize| starts.get(index).map(|start| &name[*start..]).filter(|rest| !rest.is_empty());
        let file = match rest(next) {
            Some("text.html" | "link.html") => None,
            Some(_) if is_number(next) && rest(next + 1).is_some() => rest(next + 1),
            _ => continue,
        };
        let before = name[..starts[index]].trim_end_matches('_');
        let is_late = before == "LATE" || before.ends_with("_LATE");
        let before = if is_late { before[..before.len() - 4].trim_end_matches('_') } else { before };
        readings.push(Name { name: before, is_late, id, file });
    }
    readings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(name: &str) -> Option<(String, bool, String, Option<String>)> {
        let mut readings = readings(name);
        if readings.is_empty() {
            return None;
        }
        let Name { name, is_late, id, file } = readings.swap_remove(0);
        Some((name.to_owned(), is_late, id, file.map(str::to_owned)))
    }

    #[test]
    fn every_form_of_name_is_read() {
        let row = |name: &str, is_late, id: &str, file: Option<&str>| {
            Some((name.into(), is_late, id.into(), file.map(str::to_owned)))
        };
        for (text, want) in [
            ("simpsonbart_123_456_kernel.cu", row("simpsonbart", false, "123", Some("kernel.cu"))),
            ("simpsonbart_LATE_123_456_kernel-1.cu", row("simpsonbart", true, "123", Some("kernel-1.cu"))),
            ("이영희_7_8_05_transpose.cu", row("이영희", false, "7", Some("05_transpose.cu"))),
            ("anon_Xy9zQ_456_kernel.cu", row("", false, "anon_Xy9zQ", Some("kernel.cu"))),
            ("LATE_anon_Xy9zQ_456_kernel.cu", row("", true, "anon_Xy9zQ", Some("kernel.cu"))),
            ("simpsonbart_123_text.html", row("simpsonbart", false, "123", None)),
            ("simpsonbart_LATE_123_link.html", row("simpsonbart", true, "123", None)),
            ("lateman_9_10_LATE_1_2_x.cu", row("lateman", false, "9", Some("LATE_1_2_x.cu"))),
            ("_5_6_x.cu", row("", false, "5", Some("x.cu"))),
            ("kernel.cu", None),
            ("kim_5_kernel.cu", None),
            ("kim_5_6_", None),
            ("", None),
        ] {
            assert_eq!(first(text), want, "{text}");
        }
    }

    #[test]
    fn who_is_in_the_gradebook_decides_between_two_readings() {
        let ids: Vec<String> = readings("kim_7_8_9_k.cu").into_iter().map(|reading| reading.id).collect();
        assert_eq!(ids, ["7", "8"]);
    }
}
