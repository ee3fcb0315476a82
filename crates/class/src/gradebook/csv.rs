//! A row for each student and exercise, for spreadsheets and scripts. The columns of points are named as
//! nbgrader's.

use super::{Gradebook, inert, number, table};

/// The table, with a header. After the points there is a column for each criterion of any exercise: 1 if it
/// is met, 0 if not, empty where the exercise has no such criterion. It holds nothing that depends on time or
/// machine, so that the same marks are the same bytes.
pub fn csv(gradebook: &Gradebook) -> String {
    let mut keys: Vec<&str> = Vec::new();
    let criteria =
        gradebook.students.iter().flat_map(|student| &student.entries).flat_map(|entry| &entry.outcome);
    for criterion in criteria.flat_map(|outcome| &outcome.criteria) {
        if !keys.contains(&criterion.key.as_str()) {
            keys.push(&criterion.key);
        }
    }
    keys.sort_unstable_by_key(|key| (*key != "correct", *key));
    let header = [
        "student",
        "name",
        "exercise",
        "verdict",
        "points",
        "raw_score",
        "late_days",
        "late_submission_penalty",
        "score",
    ];
    let header = header.into_iter().chain(keys.iter().copied()).map(inert).collect();
    let rows = gradebook.students.iter().flat_map(|student| {
        let keys = &keys;
        gradebook.exercises.iter().zip(&student.entries).map(move |(exercise, entry)| {
            let mark = &entry.mark;
            let points = |points: Option<f64>| points.map(number).unwrap_or_default();
            let mut row = vec![
                inert(&student.person.id),
                inert(&student.person.name),
                exercise.clone(),
                mark.verdict.clone(),
                number(mark.points),
                points(mark.raw),
                mark.late_days.to_string(),
                number(mark.penalty),
                points(mark.score),
            ];
            let criteria = || entry.outcome.iter().flat_map(|outcome| &outcome.criteria);
            let met = |key: &&str| {
                criteria().rfind(|criterion| criterion.key == *key).map(|criterion| criterion.met)
            };
            row.extend(
                keys.iter().map(|key| met(key).map_or("", |met| if met { "1" } else { "0" }).to_owned()),
            );
            row
        })
    });
    table(std::iter::once(header).chain(rows))
}
