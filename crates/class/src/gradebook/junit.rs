//! JUnit XML, as GitLab's documentation describes it: `classname` is shown as the suite, `name` tells cases
//! apart, the text is inside `<failure>`.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite, XmlString};

use super::{Gradebook, feedback};
use crate::mark::Standing;

/// A suite for each exercise, a case for each student: a failure if anything is not met, an error where there
/// is no mark yet, skipped where nothing was handed in.
pub fn junit(gradebook: &Gradebook) -> String {
    let mut report = Report::new("warplings");
    for (index, exercise) in gradebook.exercises.iter().enumerate() {
        let mut suite = TestSuite::new(exercise.as_str());
        for student in &gradebook.students {
            let entry = &student.entries[index];
            let failed = |kind, text: &str| {
                let mut status = TestCaseStatus::non_success(kind);
                status.set_message(entry.mark.verdict.as_str()).set_description(text);
                status
            };
            let told = entry.outcome.as_ref().and_then(|outcome| outcome.message.clone());
            let text = format!("{}\n{}", feedback(exercise, entry), told.unwrap_or_default());
            let status = match entry.mark.standing {
                Standing::Missing => TestCaseStatus::skipped(),
                Standing::Open => failed(NonSuccessKind::Error, &text),
                Standing::Judged if entry.mark.verdict == "passed" => TestCaseStatus::success(),
                Standing::Judged | Standing::Unreadable => failed(NonSuccessKind::Failure, &text),
            };
            let name = format!("{} ({})", student.person.name, student.person.id);
            let mut case = TestCase::new(XmlString::new(name), status);
            case.set_classname(exercise.as_str());
            suite.add_test_case(case);
        }
        report.add_test_suite(suite);
    }
    report.to_string().expect("memory takes all")
}
