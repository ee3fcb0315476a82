//! Everything, for programs. Names and their order are part of the interface.

use serde_json::{Value, json};

use super::Gradebook;

/// One object: exercises, and for each student an entry for each exercise.
pub fn json(gradebook: &Gradebook) -> Value {
    let students: Vec<Value> = gradebook
        .students
        .iter()
        .map(|student| {
            let entries = gradebook.exercises.iter().zip(&student.entries).map(|(exercise, entry)| {
                let mark = &entry.mark;
                json!({
                    "exercise": exercise,
                    "verdict": mark.verdict,
                    "points": mark.points,
                    "raw_score": mark.raw,
                    "late_days": mark.late_days,
                    "late_submission_penalty": mark.penalty,
                    "score": mark.score,
                    "criteria": entry.outcome.as_ref().map(|outcome| &outcome.criteria),
                    "message": entry.outcome.as_ref().and_then(|outcome| outcome.message.as_ref()),
                    "gpu": entry.outcome.as_ref().and_then(|outcome| outcome.gpu.as_ref()),
                    "source": entry.handin.as_ref().map(|handin| &handin.source),
                })
            });
            json!({
                "student": student.person.id,
                "name": student.person.name,
                "email": student.person.email,
                "listed": student.is_listed,
                "score": student.score(),
                "points": student.points(),
                "exercises": entries.collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({"exercises": gradebook.exercises, "students": students})
}
