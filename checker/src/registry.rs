//! Finds exercises by what people call them.

pub(crate) use course::{Entry, all, in_teaching_order};

use crate::exit::{UsageError, usage};
use crate::message;

/// The exercise after `entry`, in the order of the book.
pub(crate) fn after(entry: &Entry) -> Option<&'static Entry> {
    let order = in_teaching_order();
    let place = order.iter().position(|other| other.folder == entry.folder)?;
    order.get(place + 1).copied()
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
    use exercise::Exercise;

    use super::*;

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
