//! Moodle's grade import takes any header; its page maps the columns. A student is found by the e-mail
//! address.

use super::{Gradebook, feedback, inert, number, table};

/// `Email address, TITLE, TITLE feedback`, and who could not be written for want of an address. What has no
/// mark yet has no row, so that an import takes nothing away.
pub fn moodle<'a>(gradebook: &'a Gradebook, title: &str) -> (String, Vec<&'a str>) {
    let header = vec!["Email address".to_owned(), inert(title), format!("{} feedback", inert(title))];
    let mut left_out = Vec::new();
    let mut rows = vec![header];
    for student in gradebook.students.iter().filter(|student| student.is_listed) {
        let (Some(email), score) = (&student.person.email, student.score()) else {
            left_out.push(student.person.id.as_str());
            continue;
        };
        let Some(score) = score else { continue };
        let lines: Vec<String> = gradebook
            .exercises
            .iter()
            .zip(&student.entries)
            .map(|(exercise, entry)| feedback(exercise, entry))
            .collect();
        rows.push(vec![email.clone(), number(score), inert(&lines.join("; "))]);
    }
    (table(rows), left_out)
}
