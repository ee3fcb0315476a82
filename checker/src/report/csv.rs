//! A gradebook as comma-separated values (RFC 4180), for spreadsheets.

use trust::text;

use super::Graded;
use crate::grade::MISSING;

/// A row for each student and exercise. Behind the score there is a column for each criterion of any exercise: 1 if it
/// is met, 0 if not, empty where the exercise has no such criterion.
pub(super) fn graded(graded: &Graded<'_>) {
    anstream::print!("{}", gradebook(graded));
}

fn gradebook(graded: &Graded<'_>) -> String {
    let mut keys: Vec<&str> = Vec::new();
    for criterion in graded.records.iter().flat_map(|record| &record.criteria) {
        if !keys.contains(&criterion.key.as_str()) {
            keys.push(&criterion.key);
        }
    }
    let mut text = line(["student", "exercise", "verdict", "score"].into_iter().chain(keys.iter().copied()));
    for student in &graded.class.students {
        for exercise in graded.exercises() {
            let record = graded.record(student, exercise);
            let met = |key: &&str| {
                let criteria = record.iter().flat_map(|record| &record.criteria);
                let mut met =
                    criteria.filter(|criterion| criterion.key == *key).map(|criterion| criterion.met);
                met.next_back().map_or("", |met| if met { "1" } else { "0" })
            };
            let score = record.map_or(0.0, |record| record.score);
            let (verdict, score) = (record.map_or(MISSING, |record| &record.verdict), format!("{score:.3}"));
            let cells = [student.as_str(), exercise, verdict, &score].into_iter();
            text.push_str(&line(cells.chain(keys.iter().map(met))));
        }
    }
    text
}

fn line<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    cells.map(text::cell).collect::<Vec<_>>().join(",") + "\r\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grade::{Class, Criterion, Record};

    #[test]
    fn whoever_handed_in_nothing_has_a_row_too() {
        let criterion = |key: &str, met| Criterion { key: key.into(), met, yours: None };
        let record = Record {
            student: "kim".into(),
            exercise: "05_x".into(),
            score: 0.5,
            criteria: vec![criterion("correct", true), criterion("sectors", false)],
            ..Record::unjudged("too_slow", None)
        };
        let class = Class { students: ["kim".into(), "lee".into()].into(), ..Class::default() };
        let text = gradebook(&Graded { class: &class, records: &[record] });
        assert_eq!(
            text,
            "student,exercise,verdict,score,correct,sectors\r\nkim,05_x,too_slow,0.500,1,0\r\nlee,05_x,missing,0.000,,\r\n"
        );
    }
}
